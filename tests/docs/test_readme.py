"""README.md and docs/: short, no broken links, verbs that exist, findings that come from results."""

import json
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import xarray as xr
import yaml

from attnlimit.attention.key_protocols import SAMPLED
from attnlimit.base.coordinates import STATISTICS, with_whole_layer
from attnlimit.questions.keys import power as keys_power
from attnlimit.questions.next_token import power as next_power
from attnlimit.stats.fits import fit_errors
from attnlimit.stats.power_law import Bootstrap
from attnlimit.stats.table import COLUMNS
from attnlimit.workflow.registry import all_chapters, figures
from support.envs import ROOT
from support.pages import PAGES, anchors, code_of, links, program, prose_of
from support.stores import write

README = (ROOT / "README.md").read_text()
FILLED = {"finding", "tokens", "headlines", "time", "claims", "answer", "details", "intervals", "costs", "bench"}
FILLED |= {"limits", "studies", "studied", "elsewhere", "perturbed", "atlas", "atlas_models"}
FILLED |= {"measured", "precision", "one_layer", "growth", "moves", "verdicts"}  # by docs/published.py
FILLED |= {"language_keys", "language_next_token", "language_claims", "language_cost"}
FILLED |= {"requested"}  # by make cluster-test
LAYERS, HEADS, SIZES = 4, 6, 2 ** np.arange(5, 11)
readme = program("readme")


def test_the_readme_is_a_door():
    assert len(README.splitlines()) <= 110


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_links_lead_somewhere(page):
    for target in links(page.read_text()):
        name, _, anchor = target.partition("#")
        path = (page.parent / name).resolve() if name else page
        assert path.is_file(), target
        assert not anchor or anchor in anchors(path), target


def test_every_page_of_docs_can_be_reached_from_the_readme():
    assert {path.name for path in (ROOT / "docs").glob("*.md")} <= {target.split("/")[-1] for target in links(README)}


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_verbs_exist(page):
    verbs = set(re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text(), re.M))
    assert set(re.findall(r"^\s*make ([a-z-]+)", code_of(page.read_text()), re.M)) <= verbs


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_files_that_are_named_exist(page):
    """Those of the project itself, but for the worked example, which a reader is to write."""
    named = re.findall(r"`((?:scripts|rules|tests|configs|envs|profiles)/[\w./-]+\.\w+)`", page.read_text())
    room = re.findall(r"`((?:theory|attention|experiments|rates|claims|plan|model)/[\w/]+\.py)`", page.read_text())
    places = [ROOT / name for name in named if "interval" not in name]
    for name in room:
        assert (ROOT / "scripts/attnlimit" / name).is_file() or (ROOT / "tests" / name).is_file(), name
    for path in places:
        assert path.is_file(), path


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_formulas_are_typeset(page):
    assert not re.search(r"\w\^|\^\(|sqrt|\bPsi\b|>=|<=", prose_of(page.read_text()))


def test_every_place_is_filled_and_known():
    names = [name for page in readme.pages(ROOT) for name in readme.marks(page.read_text())]
    assert sorted(names) == sorted(FILLED)
    for page in readme.pages(ROOT):
        for name in readme.marks(page.read_text()):
            assert not re.search(rf"<!-- {name} -->\n<!-- /{name} -->", page.read_text()), f"{name} is empty"


def test_a_language_model_is_told_by_protocol():
    """Simulated fits whose errors fall like n^-1/2 and whose keys grow with the context to the power 1."""
    fits = keys_power.fitted(np.random.default_rng(3), noise=1e-9)["keys"].assign_attrs(context=1024)
    rows = readme.keys_by_protocol(fits).splitlines()[2:]
    assert len(rows) == len(SAMPLED) and all("0.50 / 0.50 / 0.50" in row and "1.00 [1.00, 1.00]" in row for row in rows)
    answers = next_power.fitted(np.random.default_rng(3), noise=1e-9)["next_token"]
    table = readme.next_tokens(answers)
    assert len(table.splitlines()) == 2 + answers.sizes["protocol"] * answers.sizes["n"]
    assert "| `sink_window` | 193 | " in table


def test_the_bound_is_told_of_other_models_too(tmp_path, monkeypatch):
    monkeypatch.setattr(readme, "ROOT", tmp_path)
    monkeypatch.setattr(readme, "resolved", lambda _: {"measure_errors": {"sizes": [64, 2048]}})
    verdicts, measured = {"a": "holds", "b": "does not hold"}, {"below": 3, "fits": 20, "below_with_large_tilt": 1}
    for name, verdict in verdicts.items():
        record = {"id": "heads_above", "experiment": f"heads of {name}1", "verdict": verdict, "measured": measured}
        (tmp_path / f"runs/{name}/results").mkdir(parents=True)
        (tmp_path / f"runs/{name}/results/claims.json").write_text(json.dumps([record]))
    compared = tmp_path / "runs/studies.yaml"
    compared.write_text(yaml.safe_dump({"compare_studies": {"studies": {name: f"runs/{name}" for name in verdicts}}}))
    said = readme.elsewhere(compared)
    assert "In 1 of 2 [studies]" in said and "b1 in `b` 3 of 20 (1 of them with" in said and "a1" not in said
    (tmp_path / "runs/b/results/claims.json").write_text((tmp_path / "runs/a/results/claims.json").read_text())
    assert "significantly below the paper's bound in 2 of 2 [studies]" in readme.elsewhere(compared)


def test_filling_again_changes_nothing_and_spares_the_rest():
    parts = {"claims": "| a |\n", "other": "x\n"}
    text = "a\n<!-- claims -->\nold\n<!-- /claims -->\nb\n<!-- costs -->\nkept\n<!-- /costs -->\n"
    once = readme.fill(text, parts)
    assert once == "a\n<!-- claims -->\n| a |\n<!-- /claims -->\nb\n<!-- costs -->\nkept\n<!-- /costs -->\n"
    assert readme.fill(once, parts) == once


def test_the_claims_are_told_with_their_verdicts_and_bars_break_no_table(tmp_path):
    record = {"claim": "E|mean_n| falls.", "verdict": "holds", "in_short": "slope 0.5", "left_out": "", "marks": []}
    record |= {
        "p_family": 0.0012,
        "headline": "It falls",
        "experiment": "normal tokens",
        "number": "0.5",
        "ours": False,
    }
    ours = record | {"claim": "So it does.", "ours": True}
    again = record | {"experiment": "real tokens", "verdict": "undecided", "marks": ["too few data"], "number": "none"}
    absent = record | {"claim": "Left out.", "verdict": None, "in_short": "", "left_out": "theory"}
    (tmp_path / "claims.json").write_text(json.dumps([ours, record, again, absent]))
    rows = readme.claims_table(tmp_path).splitlines()
    assert rows[2] == "| E∣mean_n∣ falls. | **holds** | slope 0.5 | 0.001 |"
    assert rows[3] == "| E∣mean_n∣ falls. | **undecided** (too few data) | slope 0.5 | 0.001 |"
    assert rows[4] == "| So it does. *(our question)* | **holds** | slope 0.5 | 0.001 |" and len(rows) == 5
    assert readme.headlines_table(tmp_path).splitlines()[2:] == [
        "| It falls | **holds** | normal tokens: 0.5 |",
        "|  | **undecided** (too few data) | real tokens: none |",
    ], "claims with one headline stand below it, and ours are not among the paper's"


def test_the_benchmark_is_told_by_medians_and_quartiles():
    """Of our kernel, where there is something to compare it with."""
    speeds = {"speedup_over_published": 6.12, "speedup_over_published_quartiles": [5.93, 6.4]}
    speeds |= {"speedup_over_fused": 2.0, "speedup_over_fused_quartiles": [1.96, 2.26], "error_mean": 2e-7}
    record = {"case": "n 1000-3000", "contender": "ours", **speeds, "error_cov": 6e-7}
    alone = record | {"speedup_over_published": None, "speedup_over_published_quartiles": None, "error_mean": None}
    records = [record, alone, record | {"contender": "fused"}, record | {"speedup_over_fused": None}]
    assert readme.bench_table(records).splitlines()[2:] == [
        "| n 1000-3000 | 6.1 (5.9–6.4) | 2.0 (2.0–2.3) | 2e-07, 6e-07 |",
        "| n 1000-3000 | – | 2.0 (2.0–2.3) | –, 6e-07 |",
    ]


def exponent(layer: int, head: int) -> float:
    return 0.5 - 0.02 * head + 0.01 * layer


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A folder with the rates of a model, of errors that fall by known powers of n but for noise of 1 %."""
    folder, rng, fits = tmp_path_factory.mktemp("finished"), np.random.default_rng(0), []
    for layer in range(LAYERS):
        betas = np.array([exponent(layer, head) for head in range(HEADS + 1)])  # last the whole layer
        shape = (len(STATISTICS), HEADS + 1, 30, len(SIZES))
        errors = xr.Dataset(
            {
                "error": (
                    ("statistic", "head", "replicate", "n"),
                    SIZES ** -betas[:, None, None] * rng.normal(1, 0.01, shape),
                ),
                "limit_scale": (("statistic", "head"), np.ones(shape[:2])),
            },
            coords={"statistic": list(STATISTICS), "head": with_whole_layer(HEADS), "n": SIZES, "layer": layer},
        )
        bootstraps = [Bootstrap(100, True, rng)] * len(STATISTICS)
        fit = fit_errors(errors, bootstraps, misfit=3, saturated=0.5)
        fits.append(fit)
    (folder / "results/rates").mkdir(parents=True)
    write(xr.concat(fits, "layer"), folder / "results/rates/heads.zarr.zip", source="heads")
    return folder


def test_the_lines_that_open_the_rates_answer_a_question(finished):
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs/reading.md").read_text(), re.M | re.S)
    (lines,) = [block for block in blocks if "ZipStore" in block]
    ask = "\nprint(float(rates['beta'].sel(layer=3, head=5, statistic='mean', part='error')))"
    done = subprocess.run([sys.executable, "-c", lines + ask], cwd=finished, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert [float(line) for line in done.stdout.split()] == pytest.approx(
        [exponent(3, 5)] * len(done.stdout.split()), abs=0.02
    )


def test_every_column_figure_and_chapter_is_explained():
    reading, own = ((ROOT / "docs" / name).read_text() for name in ("reading.md", "your-own.md"))
    explained = set(re.findall(r"`(\w+)`", reading))
    assert {re.sub("_(low|high|extrapolated)$", "", column) for column in COLUMNS} <= explained
    assert {*figures(all_chapters()), "claims"} <= explained
    assert set(all_chapters()) <= set(re.findall(r"^\| `(\w+)` \|", own, re.M))


def test_a_perturbed_text_is_compared_head_by_head_with_the_text_as_it_is():
    def fits(factor: float) -> pd.DataFrame:
        rows = [
            {"source": "heads", "layer": 0, "head": head, "statistic": statistic, "horizon": 2.0 * factor}
            | {"beta": 0.5, "beta_low": 0.45, "beta_high": 0.55, "relative_error": 0.1 * factor}
            | {"tokens_5": 400 * factor, "tokens_5_low": 390 * factor, "tokens_5_high": 410 * factor}
            for head in ("0", "1", "all")
            for statistic in readme.STATISTICS
        ]
        return pd.DataFrame(rows)

    tables = {readme.UNPERTURBED: fits(1.0)} | dict.fromkeys(readme.PERTURBED, fits(1.5))
    cells = readme.perturbed_table(tables).splitlines()[2].split(" | ")
    assert cells[1].startswith("+0.000") and cells[1].endswith("0 disjoint")
    assert cells[2].startswith("×1.50") and cells[2].endswith("2 disjoint")  # of two heads
    assert cells[3].startswith("×1.50") and cells[4].startswith("×1.50")
