"""The page from few parts: what it says of a run that lacks some, and that words of others stay words."""

import re
from pathlib import Path

import pytest
import yaml
from docutils.utils import SystemMessage
from markupsafe import escape

from attnlimit.page.figures import caption, figures_of, first_sentence
from attnlimit.page.page import (
    NO_ANSWER,
    claims_on_page,
    computed_on,
    limits,
    limits_of_keys,
    placed,
    render,
    settings_of,
    studies_of,
)
from attnlimit.stats.claim import Record
from attnlimit.stats.verdicts import FAILS, HOLDS, LOOKS, UNDECIDED
from attnlimit.workflow.registry import all_chapters, exclusive_chapters, figures, page_sections
from attnlimit.workflow.study_files import command_of

ROOT = Path(__file__).parents[2]
CONFIG = yaml.safe_load((ROOT / "config.yaml").read_text()) | {"run": "default"}
SVG = '<svg viewBox="0 0 504 300"><g id="a"/></svg>'
ATTRS = {"population": 50000, "model": {"name": "owner/small"}, "corpus": {"name": "a text"}}


def record(name: str, verdict: str | None, left_out: str = "", **fields) -> dict:
    words, shown = f"claim {name}: 1/(2(1+H²)) & more", ["convergence", "tails"]
    fields = {"headline": "It falls", "question": "tails", "number": "0.5"} | fields
    return Record(name, words, verdict=verdict, figures=shown, left_out=left_out, **fields)._asdict()


RECORDS = [record("one", HOLDS), record("two", UNDECIDED), record("three", None, "theory")]


def page(folder: Path, chapters=("heads", "tails"), config=CONFIG, drawn=("tails",), records=None, **changes) -> str:
    """A page of these chapters, of which these figures are there."""
    for name in drawn:
        (folder / f"{name}.svg").write_text(SVG)
    shown = figures_of(figures(chapters), folder, ROOT / "rules/report", config)
    content = settings_of(config, command_of(config, ROOT)) | claims_on_page(
        RECORDS if records is None else records, shown
    )
    content |= {"leading": None, "explorer": None, "tables": {}, "answer": NO_ANSWER}
    content |= placed(page_sections(chapters), content["claims"], shown, "")
    content |= {name: [] for name in ("limits", "absent", "identities", "versions", "stores", "settings")}
    content |= {"commit": "abc", "figures": shown, "sections": page_sections(chapters)}
    return render(ROOT / "rules/page", content | {"studies": studies_of(config, {}), "models": []} | changes)


def ids(html: str) -> list[str]:
    return re.findall(r'\bid="([^"]+)"', html)


def test_every_link_within_the_page_is_met_and_no_name_is_given_twice(tmp_path):
    html = page(tmp_path)
    targets = set(re.findall(r'href="#([^"]+)"', html))
    assert targets and targets <= set(ids(html))
    assert len(ids(html)) == len(set(ids(html)))


def test_a_figure_is_drawn_once_and_those_that_no_claim_names_are_folded(tmp_path):
    html = page(tmp_path, drawn=list(figures(["heads", "tails"])))
    assert html.count('<svg id="figure-tails"') == 1 and html.count('<a href="#tails">') == 2  # from two cards
    shown = figures_of(figures(["heads", "tails"]), tmp_path, ROOT / "rules/report", CONFIG)
    where = placed(
        page_sections(["heads", "tails"]), claims_on_page(RECORDS, shown)["claims"], shown, "beta_vs_horizon"
    )
    assert where["shown"]["heads"] == [] and where["shown"]["tails"] == ["tails"], "the leading one stands at the top"
    assert "convergence" in where["folded"]["heads"] and "beta_vs_horizon" not in where["folded"]["heads"]


def test_claims_that_share_a_headline_are_rows_of_one_theme_and_ours_are_apart(tmp_path):
    records = [record("one", HOLDS, experiment="a"), record("two", FAILS, experiment="b", able="hardly")]
    records += [record("three", HOLDS, headline="Other", ours=True)]
    paper, ours = claims_on_page(records, {})["verdicts"]
    assert [(theme, [each["id"] for each in rows]) for theme, rows in paper["themes"]] == [("It falls", ["one", "two"])]
    assert paper["counts"] == {HOLDS: 1, FAILS: 1} and ours["counts"] == {HOLDS: 1}
    assert paper["hardly"] == 1 and ours["hardly"] == 0
    assert page(tmp_path, records=records).count('rowspan="2"') == 1


def test_what_a_run_leaves_out_or_lacks_is_said(tmp_path):
    absent, left_out = ["results/figures/convergence.svg"], {"left_out": "left out: theory (simulated tokens)"}
    html = page(tmp_path, absent=absent, answer=NO_ANSWER | {"lines": left_out})
    assert "This run is not finished." in html and "<code>results/figures/convergence.svg</code>" in html
    assert html.count("was not there when this page was made") == len(figures(["heads"]))
    assert html.count("Left out of this run. To add it") == len(
        set(all_chapters()) - {"heads", "tails"} - exclusive_chapters()
    )
    assert "Left out: theory (simulated tokens)." in html
    assert "Left out of this run: 1 more claim<" in html and "Chapter theory tests it." in html
    two = page(tmp_path, records=[*RECORDS, record("four", None, "theory")])
    assert "Left out of this run: 2 more claims<" in two and "This run is not finished." not in two


def test_a_run_without_claims_and_figures_has_a_page(tmp_path):
    html = page(tmp_path, drawn=(), records=[], absent=["results/claims.json"])
    assert "No claim was tested yet." in html and "This run has no answer yet." in html


def test_words_of_others_stay_words(tmp_path):
    """Of a text's name, of a model's, of a study's."""
    given = []

    def evil() -> str:
        given.append(f"<script>alert({len(given)})</script>")
        return given[-1]

    config = CONFIG | {"compare_studies": {"studies": {"a": "runs/a"}, "missing": {"b": evil()}}}
    answer = {"conclusion": [{key: evil() for key in ("says", "detail")}]}
    answer["answers"] = [{"numbers": {evil(): evil()}} | {key: evil() for key in ("case", "words")}]
    answer["lines"] = {key: evil() for key in ("about", "horizons", "rates")}
    changes = {
        "identities": [("corpus.name", evil())],
        "limits": [evil()],
        "tables": {"heads": (evil(), [evil()], [(evil(), evil())])},
    }
    html = page(tmp_path, ("heads",), config, answer=answer, **changes)
    html += page(tmp_path, ("studies",), config, drawn=(), studies=[("a", "a.html", evil())])
    for words in given:
        assert words not in html and str(escape(words)) in html


@pytest.mark.parametrize(
    ("chapter", "table"), [("heads", "rates"), ("language", "keys"), ("atlas", "atlas"), ("entry", None)]
)
def test_the_table_that_the_side_bar_links_is_that_of_the_chapter(tmp_path, chapter, table):
    linked = re.findall(r'href="([^"]*\.csv)"', page(tmp_path, (chapter,), CONFIG | {"chapters": [chapter]}, drawn=()))
    assert linked[:1] == ([f"{table}.csv"] if table else [])


@pytest.mark.parametrize(
    ("run", "changes", "expected"),
    [
        ("default", {}, "make reproduce"),
        ("quick", {}, "make reproduce CONFIG=configs/quick.yaml"),
        ("my", {}, "make reproduce CONFIG=my.yaml"),
        ("code", {}, "make reproduce RUN=code"),  # two files below configs/: known by its name
        ("atlas-smollm2-135m", {"chapters": ["entry"]}, "make reproduce RUN=atlas-smollm2-135m"),
        ("atlas", {"chapters": ["atlas"], "compare_atlas": {"models": {"a": "runs/atlas-a"}}}, "make atlas"),
        ("two", {"chapters": ["studies"], "compare_studies": {"studies": {"a": "", "b": ""}}}, 'RUNS="a b" RUN=two'),
    ],
)
def test_the_command_that_makes_such_a_run_names_files_and_runs_that_are_there(run, changes, expected):
    assert command_of(CONFIG | {"run": run} | changes, ROOT).endswith(expected)


def test_a_sentence_of_the_answer_ends_with_one_full_stop(tmp_path):
    for sentence in ("many keys", "many keys."):
        answer = {"conclusion": [], "answers": [], "lines": {"keys_uniform": sentence}}
        assert '<p class="lead">Many keys.</p>' in page(tmp_path, ("entry",), answer=answer, drawn=())


def test_a_comparison_links_its_studies_and_has_no_other_chapter(tmp_path):
    compared = {"studies": {"code": "runs/code"}, "missing": {"x": "failed"}}
    config = CONFIG | {"run": "studies", "compare_studies": compared}
    assert studies_of(config, {"code": "m on t"}) == [("code", "../../code/results/index.html", "m on t")]
    assert [section["id"] for section in page_sections(["studies"])] == ["studies"]
    html = page(tmp_path, ("studies",), config, drawn=())
    assert '<a href="../../code/results/index.html">code</a>' in html and "x: missing, failed" in html
    assert "sha256sum runs/studies/results/attnlimit.tar.zst" in html and "make verify RUN=studies" in html


def test_a_claim_is_shown_with_figures_that_are_there_and_counted_by_its_verdict(tmp_path):
    (tmp_path / "tails.svg").write_text(SVG)
    drawn = figures_of(figures(["heads", "tails"]), tmp_path, ROOT / "rules/report", CONFIG)
    shown = claims_on_page([*RECORDS, record("four", FAILS)], drawn)
    assert [claim["id"] for claim in shown["claims"]] == ["one", "two", "four"]
    assert {tuple(claim["figures"]) for claim in shown["claims"]} == {("tails",)}
    assert shown["verdicts"][0]["counts"] == {HOLDS: 1, FAILS: 1, UNDECIDED: 1} and len(shown["not_tested"]) == 1
    assert {verdict: (look["symbol"], look["colour"]) for verdict, look in shown["looks"].items()} == LOOKS
    html = page(tmp_path)
    assert "1/(2(1+<i>H</i><sup>2</sup>))" in html and "&amp; more" in html


def test_limits_of_keys_name_windows_and_rounded_weights():
    attrs = ATTRS | {"windows": 6, "context": 1024}
    (whole,) = limits_of_keys(attrs)
    assert "small" in whole and "a text" in whole and "6 windows of 1,024 tokens" in whole
    _, rounded = limits_of_keys(attrs | {"model": ATTRS["model"] | {"quantised": "Q4_1, Q8_0"}})
    assert "(Q4_1, Q8_0)" in rounded


def test_limits_name_the_population_and_the_layers_not_studied():
    again, model, *rest = limits(ATTRS, [64, 4096], [0, 5], [0, 1, 4, 5], True)
    assert "50,000 tokens" in again and "n from 64 to 4,096" in again and "small" in model and "a text" in model
    assert rest == ["Of 4 layers, 1 and 4 are not studied."]
    assert limits(ATTRS, [64, 4096], [0, 1], [0, 1, 2], True)[2:] == ["Of 3 layers, 2 is not studied."]
    assert "without replacement" in limits(ATTRS, [64, 4096], [0], [0], False)[0]
    assert len(limits(ATTRS, [64, 4096], [0], [0], True)) == 2
    assert "no GPU was used" in computed_on([{"device": "cpu", "dtype": "float64"}, {}])
    assert computed_on([{"device": "cuda", "dtype": "float32"}]) == "Computed on CUDA, in float32."
    assert computed_on([{}]) == ""


def test_a_caption_gives_its_first_sentence_to_those_who_do_not_see_the_figure():
    told = caption("Error of *heads*, n = {{ snakemake.config['seed'] }}. Then\nmore: x\\ :sup:`2`.", {"seed": 7})
    assert told.first == "Error of heads, n = 7."
    assert "<em>heads</em>" in told.html and "x<sup>2</sup>" in told.html
    assert first_sentence("Is it so? Yes. No.") == "Is it so?"
    assert first_sentence("Up to 0.5 of it, e.g. that.") == "Up to 0.5 of it, e.g. that."


def test_a_caption_reads_no_file(tmp_path):
    (tmp_path / "secret").write_text("secret")
    with pytest.raises(SystemMessage, match="disabled"):
        caption(f".. include:: {tmp_path / 'secret'}\n", {})
