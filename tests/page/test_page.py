"""The page from few parts: what it says of a run that lacks some, and that words of others stay words."""

import re
from pathlib import Path

import pytest
import yaml
from docutils.utils import SystemMessage

from attnlimit.page.captions import caption, first_sentence
from attnlimit.page.cards import cards, counts, looks, not_tested, undecided
from attnlimit.page.page import (
    SECTIONS,
    computed_on,
    figures_of,
    limits,
    render,
    sections_of,
    settings_of,
    studies_of,
)
from attnlimit.stats.verdicts import HOLDS, UNDECIDED, Record
from attnlimit.workflow.registry import all_chapters, chapter_titles
from attnlimit.workflow.registry import figures as figures_of_chapters

ROOT = Path(__file__).parents[2]
CONFIG = yaml.safe_load((ROOT / "config.yaml").read_text()) | {"run": "default"}
SVG = '<svg viewBox="0 0 504 300"><g id="a"/></svg>'
ATTRS = {"population": 50000, "model": {"name": "owner/small"}, "corpus": {"name": "a text"}}


def record(name: str, verdict: str | None, left_out: str = "") -> dict:
    return Record(
        name, f"claim {name}", verdict, "in short", {}, "a test", {}, ["figure tails"], "why", "yes", left_out
    )._asdict()


def page(folder: Path, chapters=("heads", "tails"), config=CONFIG, drawn=("tails",), **changes) -> str:
    """A page of these chapters, of which these figures are there."""
    for name in drawn:
        (folder / f"{name}.svg").write_text(SVG)
    of_chapters = {name: list(figures_of_chapters([name])) for name in chapters}
    names = [name for figures in of_chapters.values() for name in figures]
    figures = figures_of(names, dict.fromkeys(names, "heads: a title"), folder, ROOT / "rules/report", config)
    records = changes.pop("records", [record("one", HOLDS), record("two", UNDECIDED), record("three", None, "theory")])
    tested = cards(records, [name for name in names if figures[name].svg])
    content = settings_of(config) | {
        "quick_look": "",
        "sentences": [],
        "lines": [],
        "leading": None,
        "explorer": None,
        "limits": [],
        "left_out": "",
        "absent": [],
        "commit": "abc",
        "identities": [],
        "versions": [],
        "figures": figures,
        "sections": sections_of(of_chapters, figures),
        "abouts": chapter_titles(),
        "cards": tested,
        "counts": counts(tested),
        "looks": looks(),
        "undecided": undecided(tested),
        "not_tested": not_tested(records),
        "studies": studies_of(config),
    }
    return render(ROOT / "rules/page", content | changes)


def ids(html: str) -> list[str]:
    return re.findall(r'\bid="([^"]+)"', html)


def test_every_link_within_the_page_is_met_and_no_name_is_given_twice(tmp_path):
    html = page(tmp_path)
    targets = set(re.findall(r'href="#([^"]+)"', html))
    assert targets and targets <= set(ids(html))
    assert len(ids(html)) == len(set(ids(html)))


def test_a_figure_is_drawn_once_and_shown_again_by_name(tmp_path):
    html = page(tmp_path)
    assert html.count('<svg id="figure-tails"') == 1 and html.count('<use href="#figure-tails"/>') == 2  # two cards


def test_what_a_run_leaves_out_or_lacks_is_said(tmp_path):
    html = page(tmp_path, absent=["results/figures/convergence.svg"], left_out="left out: theory (simulated tokens)")
    assert "This run is not finished." in html and "<code>results/figures/convergence.svg</code>" in html
    assert html.count("was not there when this page was made") == 6  # figures of heads
    for name in ("ablation", "contexts", "whole_model", "theory"):
        assert f"Left out of this run: chapter <code>{name}</code>, {chapter_titles()[name]}" in html
    assert "Left out: theory (simulated tokens)." in html
    assert "Left out of this run: 1 more claims" in html and "Chapter theory tests it." in html
    assert "<code>make studies</code>" in html
    assert "This run is not finished." not in page(tmp_path)


def test_a_run_without_claims_and_figures_has_a_page(tmp_path):
    html = page(tmp_path, drawn=(), records=[], absent=["results/claims.json"])
    assert "No claim was tested yet." in html and "This run has no answer yet." in html


def test_words_of_others_stay_words(tmp_path):
    """Of a text's name, of a model's, of a study's."""
    evil = "<script>alert(1)</script>"
    compared = {"studies": {"a": "runs/a"}, "missing": {"b": evil}}
    config = CONFIG | {"compare_studies": compared}
    html = page(tmp_path, config=config, identities=[("corpus.name", evil)], limits=[evil], lines=[evil, evil, evil])
    assert evil not in html and html.count("&lt;script&gt;alert(1)&lt;/script&gt;") == 9


def test_a_comparison_links_its_studies_and_has_no_other_chapter(tmp_path):
    config = CONFIG | {
        "run": "studies",
        "compare_studies": {"studies": {"code": "runs/code"}, "missing": {"x": "failed"}},
    }
    assert studies_of(config) == [("code", "../../code/results/index.html")]
    assert studies_of(CONFIG | {"compare_studies": {"studies": {"code": "runs/code"}}}) == [
        ("code", "../runs/code/results/index.html")
    ]
    alone = sections_of({"studies": []}, {})
    assert [section["id"] for section in alone] == ["studies"] and alone[0]["missing"] == []
    html = page(tmp_path, ("heads",), config)
    assert '<a href="../../code/results/index.html">code</a>' in html and "x: missing, failed" in html
    assert "sha256sum runs/studies/results/attnlimit.tar.zst" in html and "make verify RUN=studies" in html


def test_every_chapter_has_its_place():
    placed = [name for section in SECTIONS for name in section.chapters]
    assert set(all_chapters()) <= set(placed) and len(placed) == len(set(placed))


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
