"""The whole workflow on a small config: it runs, gives the same bytes again, and reruns just what a change reaches."""

import json
import os
import re
import shutil
from pathlib import Path

import pandas as pd
import pytest
import xarray as xr
import yaml

from attnlimit.archive.bag import files_below
from attnlimit.archive.bundle import restore, verified
from attnlimit.base.files import sha256_of
from attnlimit.base.store import read
from attnlimit.base.words import words_of
from attnlimit.page.formulas import LOWERED, RAISED
from attnlimit.workflow.folders import ARCHIVE as ARCHIVED
from attnlimit.workflow.leftovers import files_of
from attnlimit.workflow.registry import declared, store_files
from attnlimit.workflow.workflow_files import files_in_place
from support import fresh_snakemake
from support.bags import TIMED, entries
from support.browser import visit
from support.page_visit import CARDS, CONTRASTS, PAPER, SIDEWAYS, TALL, drawn, numbers, opened
from support.workflow import ROOT, SMOKE, Job, all_jobs, clone, dependents, hashes, overlay, planned, snakemake

CHAPTERS = yaml.safe_load((ROOT / "config.yaml").read_text())["chapters"]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
# An edit of a file, and the rules whose scripts reach it; the archive holds the sources themselves.
EDITS = [
    ("scripts/attnlimit/theory/sphere.py", "TAIL", ["simulate_constants", "simulate_sphere"]),
    ("scripts/attnlimit/attention/streaming.py", "BLOCKS_AT_ONCE", ["compute_limits", "measure_interventions"]),
    ("scripts/attnlimit/attention/patterns.py", "STRIP", ["measure_patterns"]),
    (
        "scripts/attnlimit/stats/power_law.py",
        "LATE_FACTOR",
        ["fit_contexts", "fit_interventions", "fit_patterns", "fit_rates"],
    ),
    ("scripts/attnlimit/drawing/style.py", "WIDTH", [r"plot_\w+"]),
    ("scripts/attnlimit/page/explorer.py", "DIGITS", ["compose_page"]),
    ("rules/page/style.css", "", ["compose_page"]),
    ("rules/report/tails.rst", "", ["compose_page"]),
]
EVERY_FIT = [
    "fit_rates",
    "fit_first_order",
    "fit_contexts",
    "fit_interventions",
    "fit_patterns",
    "fit_propagation",
    "fit_uniform",
]
THRESHOLDS = {"weakest_horizon": 0.2, "slope_tolerance": 0.06, "quadrature_tolerance": 0.2}
# A change of the config, and what runs again: a rule, or some of its jobs by what they make.
CHANGES = [
    pytest.param({"fit_rates": {"bootstrap": 300}}, EVERY_FIT, id="a parameter"),
    pytest.param({"assess_claims": THRESHOLDS}, ["assess_claims", "state_answer", "plot_propagation"], id="thresholds"),
    pytest.param(  # Snakemake compares the values of params without their names
        {"simulate_hardmax": {"line_replicates": 20, "plane_replicates": 200}}, ["simulate_hardmax"], id="two swapped"
    ),
    pytest.param({"measure_errors": {"sizes": [16, 32, 64, 128, 256]}}, ["measure_errors"], id="a size, no limit"),
    pytest.param({"measure_errors": {"replicates": 12}}, [r"measure_errors .*_part_2\..*"], id="only new replicates"),
    pytest.param({"simulate_uniform": {"radii": [0.25, 0.5, 1, 1.5]}}, ["simulate_uniform"], id="a radius"),
    pytest.param({"layers": [0, 3, 5]}, [r".* results/\w+/(parts/)?layer_3[_.].*"], id="only the new layer"),
]


@pytest.fixture(scope="session")
def finished(tmp_path_factory) -> Path:
    """A folder in which the small run has finished."""
    folder = clone(tmp_path_factory.mktemp("finished"))
    run = snakemake(folder)
    assert run.returncode == 0, run.stdout + run.stderr
    return folder


@pytest.fixture(scope="session")
def jobs(finished) -> list[Job]:
    return all_jobs(finished)


@pytest.fixture
def restored(finished):
    """The finished folder, its sources put back afterwards."""
    yield finished
    clone(finished)


def test_every_store_of_the_run_can_be_read(finished):
    stores = sorted((finished / "results").rglob("*.zarr.zip"))
    assert {str(store.relative_to(finished)) for store in stores} >= set(store_files(CHAPTERS, [0, 5]))
    for store in stores:
        data = read(store)
        assert data.attrs["code"]
        assert data.attrs["versions"]["zarr"]
        (words,) = [words for name, words in declared().items() if store in files_of(finished, name)]
        assert data.variables.keys() == {
            name for name, array in data.variables.items() if array.attrs["long_name"] == words_of(str(name), words)[0]
        }, store
        hidden = {name for name in data.variables if hasattr(xr.Dataset, name)}  # data.name would be a method
        assert hidden <= {"head"}, store


def test_another_cut_into_jobs_gives_the_same_bytes(finished, tmp_path):
    """A limit once more, in three parts instead of one, errors in one instead of two, a task in two: the same bytes."""
    again = shutil.copytree(finished, tmp_path / "again", symlinks=True)
    merged = ["results/limits/layer_5.zarr.zip", "results/errors/layer_5.zarr.zip"]
    merged += ["results/downstream/answers.zarr.zip"]
    for name in merged:
        (again / name).unlink()
    for part in again.glob("results/*/parts/layer_5_*"):
        part.unlink()
    overlay(again, compute_limits={"parts": 3}, measure_errors={"groups_per_job": 4}, measure_downstream={"parts": 2})
    run = snakemake(again, *merged)
    assert run.returncode == 0, run.stdout + run.stderr
    assert len(list(again.glob("results/limits/parts/layer_5_*"))) == 3
    assert len(list(again.glob("results/errors/parts/layer_5_*"))) == 1
    for name in merged:
        assert sha256_of(again / name) == sha256_of(finished / name)


def test_labelled_texts_take_the_place_of_blocks(finished, tmp_path):
    again = shutil.copytree(finished, tmp_path / "again", symlinks=True)
    rows = [{"text": "words of my own " * 10, "label": label} for label in ("good", "bad") * 10]
    (again / "mine.jsonl").write_text("\n".join(map(json.dumps, rows)))
    own = {"task": "labels", "location": "mine.jsonl", "texts": 6, "training": 12}
    overlay(again, measure_downstream=own)
    run = snakemake(again, "results/downstream/texts.zarr.zip")
    assert run.returncode == 0, run.stdout + run.stderr
    texts = read(again / "results/downstream/texts.zarr.zip")
    assert texts.sizes["text"] == 18 and int(texts["training"].sum()) == 12
    assert texts.attrs["classes"] == ["bad", "good"] and texts.attrs["corpus"]["name"] == "mine.jsonl"


def test_no_padding_enters_the_population(finished):
    blocks = read(finished / "results/corpus/blocks.zarr.zip")
    assert blocks.sizes["token"] >= 1500
    assert (blocks["token_id"].values > 0).all()  # [PAD] is 0


def test_the_archive_holds_every_result_but_the_weights_and_what_was_merged(finished):
    results = {name for name in hashes(finished) if not name.endswith((".safetensors", ".tar.zst"))}
    with verified(finished / ARCHIVED) as contents:
        held = set(files_below(contents.payload))
    assert {name for name in held if name.startswith("results/")} == results
    assert set(files_in_place(ROOT)) <= held


def test_a_restored_run_has_nothing_to_do_and_reruns_what_a_change_reaches(finished, jobs, tmp_path):
    folder = tmp_path / "restored"
    parts = {str(path.relative_to(finished)) for path in (finished / "results").rglob("parts/*")}
    assert set(restore(finished / ARCHIVED, folder)) == {"results/models/model.safetensors", *parts}
    assert planned(folder, "config.yaml") == {}
    changes = [({"simulate_hardmax": {"plane_replicates": 30}}, ["simulate_hardmax"])]
    changes += [({"fit_rates": {"bootstrap": 300}}, EVERY_FIT)]  # of stores whose parts are not there
    for changed, starts in changes:
        (folder / "my.yaml").write_text(yaml.safe_dump(changed))
        assert planned(folder, "my.yaml") == dependents(jobs, *starts)


def test_a_run_in_a_folder_of_its_own_differs_by_its_name_alone(finished, tmp_path):
    """Table and settings name the run; nothing else that a job depends on knows the folder.

    Its page and its archive come out the same twice, but for times; restored it keeps its name and has nothing to do.
    """
    folder, made_again = finished / "runs/again", {"compose_page", "archive_results", "all"}
    for name in ("results", ".snakemake"):
        shutil.copytree(finished / name, folder / name)
    archives = []
    for expected in (made_again | {"tabulate_rates"}, made_again):
        for name in (ARCHIVED, "results/index.html"):
            (folder / name).unlink()
        run = snakemake(finished, "--directory", str(folder))
        assert run.returncode == 0, run.stderr
        assert set(re.findall(r"^localrule (\w+):$", run.stderr, re.M)) == expected
        archives.append({name: text for name, text in entries(folder / ARCHIVED).items() if not name.endswith(TIMED)})
    assert archives[0] == archives[1]
    here, there = hashes(finished), hashes(folder)
    assert here.keys() == there.keys()
    assert {name for name in here if here[name] != there[name]} == {
        "results/rates.csv",
        "results/index.html",
        str(ARCHIVED),
    }
    tables = [pd.read_csv(where / "results/rates.csv") for where in (finished, folder)]
    assert [set(table["run"]) for table in tables] == [{"default"}, {"again"}]
    pd.testing.assert_frame_equal(*(table.drop(columns="run") for table in tables))
    restore(folder / ARCHIVED, tmp_path / "restored")
    assert planned(tmp_path / "restored", "config.yaml") == {}
    shutil.rmtree(finished / "runs")


@pytest.fixture(scope="session")
def report(finished) -> Path:
    run = snakemake(finished, "--report", "results/report.html")
    assert run.returncode == 0, run.stderr
    return finished / "results/report.html"


def test_report_is_made_and_holds_the_captions(report):
    page = report.read_text()
    assert "lower bound" in page or "lower\\nbound" in page
    assert "beta_vs_horizon.png" in page


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine to open the report in")
def test_report_reads_in_a_browser_and_asks_the_network_for_nothing(report):
    seen = visit(report, CHROMIUM, "rate against horizon, per head")
    assert seen["complaints"] == []
    assert seen["requests"] == []
    order = ["Claims", "Answer", "Figures", "Rates"]
    assert [name.split()[1] for name in seen["categories"]] == order
    assert seen["width"] == 1400
    assert "n from 16 to 128" in seen["description"]
    names = ("claims.json", "answer.txt", "rates.csv")
    assert seen["files"] == {name: report.with_name(name).read_bytes() for name in names}


@pytest.fixture(scope="session")
def page(finished) -> Path:
    return finished / "results/index.html"


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine to open the page in")
def test_the_page_answers_shows_every_claim_and_asks_the_network_for_nothing(page):
    records = json.loads(page.with_name("claims.json").read_text())
    with opened(page, CHROMIUM) as (window, complaints):
        drawn(window)
        cards = {card["id"]: card for card in window.evaluate(CARDS)}
        lead = window.locator(".lead").all_text_contents()
        low = window.evaluate(CONTRASTS)
        window.emulate_media(media="print")
        window.set_viewport_size(PAPER)
        tall = window.evaluate(TALL, PAPER["height"])
    assert complaints == [] and low == [] and tall == []
    answer = json.loads(page.with_name("answer.json").read_text())
    said = [f"{each['says']} {each['detail']}".rstrip() for each in answer["conclusion"]]
    assert lead == [each.translate(RAISED | LOWERED) for each in said] and len(answer["answers"]) == 3
    assert set(cards) == {record["id"] for record in records}
    for record in records:
        card = cards[record["id"]]
        assert card["verdict"].endswith(record["verdict"]) and card["figures"] == record["figures"]
        for name in ("rule", "function", "test_file"):
            assert record[name] in card["text"]
    assert page.stat().st_size < 6e6


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine to open the page in")
def test_a_head_is_chosen_by_click_or_by_keyboard_and_its_numbers_are_those_of_the_table(page):
    table = pd.read_csv(page.with_name("rates.csv"), dtype={"head": str})
    table = table[(table["source"] == "heads") & (table["part"] == "error")]
    table = table.set_index(["layer", "head", "statistic"]).sort_index()
    seen = []
    with opened(page, CHROMIUM) as (window, complaints):
        drawn(window)
        seen.append(numbers(window))
        for _ in range(40):  # by keyboard alone, from the top of the page
            window.keyboard.press("Tab")
            if window.evaluate("document.activeElement.id") == "layer":
                break
            if window.evaluate("document.activeElement.href ?? ''").endswith("#chapter-heads"):
                window.keyboard.press("Enter")
        for key in ("End", "Tab", "Home", "ArrowDown", "ArrowDown"):
            window.keyboard.press(key)
        seen.append(numbers(window))
        points = window.locator("[data-chart=horizon] .mark-symbol path")
        points.nth(points.count() // 3).click(force=True)
        seen.append(numbers(window))
        with window.expect_download() as download:
            window.locator("[data-csv=heads]").click()
        heads = pd.read_csv(download.value.path())
    assert complaints == []
    assert seen[1]["of"] == "Layer 5, head 2"
    assert len({shown["of"] for shown in seen}) == 3
    for shown in seen:
        layer, head = re.fullmatch(r"Layer (\d+), head (\d+)", shown["of"]).groups()
        for statistic in ("mean", "cov"):
            fit = table.loc[(int(layer), head, statistic)]
            interval = f"{fit['beta']:.2f} [{fit['beta_low']:.2f}, {fit['beta_high']:.2f}]"
            assert shown[f"beta_{statistic}"] == interval.replace("-", "−")
            assert shown["horizon"] == f"{fit['horizon']:.2g}"
            assert (shown[f"tokens_5_{statistic}"] == "> 1,280") == (fit["tokens_5"] == float("inf"))
    assert len(heads) == 2 * 2 * 12 and set(heads["statistic"]) == {"mean", "cov"}


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine to open the page in")
def test_the_page_reads_on_a_phone_in_the_dark(page):
    with opened(page, CHROMIUM, 390, "dark") as (window, complaints):
        drawn(window)
        wide, low = window.evaluate(SIDEWAYS), window.evaluate(CONTRASTS)
        width = window.evaluate("document.documentElement.scrollWidth")
        window.locator("nav.top summary").click()
        window.locator("nav.top a", has_text="Limits").click()
        place = window.locator("#limits").evaluate("section => section.getBoundingClientRect().top")
    assert complaints == [] and wide == [] and low == [] and width == 390
    assert -10 < place < 400


def test_nothing_runs_again_for_a_date_or_an_edit_that_was_undone(finished):
    path = finished / "scripts/attnlimit/base/store.py"
    path.write_text(path.read_text().replace("CHUNK_BYTES = 32", "CHUNK_BYTES = 16"))
    clone(finished)
    for path in [*(finished / "scripts").rglob("*.py"), *(finished / "rules").glob("*.smk")]:
        os.utime(path)
    assert planned(finished) == {}


@pytest.mark.parametrize(("name", "constant", "rules"), EDITS)
def test_an_edit_reruns_what_reaches_it_and_its_dependents(restored, jobs, name, constant, rules):
    """Of a constant of a module; of a text at its end."""
    pattern, new = (rf"^{constant} = .*$", f"{constant} = 'edited'") if constant else (r"\Z", "\n")
    text, count = re.subn(pattern, new, (restored / name).read_text(), flags=re.M)
    (restored / name).write_text(text)
    assert count == 1 and planned(restored) == dependents(jobs, *rules, "archive_results")


def test_what_changes_no_result_only_archives_again(restored, jobs):
    """Other comments and docstrings in every script and module, a new function, log intervals, README, key order."""
    for path in (restored / "scripts").rglob("*.py"):
        text = path.read_text()
        assert not text or text.startswith('"""'), path
        path.write_text(text.replace('"""', '"""Other words. ', 1) + "\n\n# A reason.\n")
    with (restored / "scripts/attnlimit/stats/power_law.py").open("a") as module:
        module.write("def added():\n    return 1\n")
    log = restored / "scripts/attnlimit/base/log.py"
    log.write_text(log.read_text().replace("SECONDS_BETWEEN_LOG_LINES = 5", "SECONDS_BETWEEN_LOG_LINES = 6"))
    (restored / "README.md").write_text("Another.\n")
    for name in ("config.yaml", SMOKE):  # Snakemake compares params as text, in which a dict has an order
        config = yaml.safe_load((restored / name).read_text())
        turned = {key: dict(reversed(keys.items())) if isinstance(keys, dict) else keys for key, keys in config.items()}
        (restored / name).write_text(yaml.safe_dump(turned, sort_keys=False))
    assert planned(restored) == dependents(jobs, "archive_results")


@pytest.mark.parametrize(("changes", "starts"), CHANGES)
def test_a_changed_config_reruns_its_dependents(restored, jobs, changes, starts):
    overlay(restored, **changes)
    new_files = {"layers", "replicates"} & {*changes, *changes.get("measure_errors", {})}
    assert planned(restored) == dependents(all_jobs(restored) if new_files else jobs, *starts)


def test_a_deleted_store_is_made_again_with_its_dependents(finished, jobs):
    store = finished / "results/synthetic/hardmax.zarr.zip"
    aside = store.rename(finished / "aside")
    assert planned(finished) == dependents(jobs, "simulate_hardmax")
    aside.rename(store)


def test_a_wrong_config_is_refused_before_any_job(restored):
    overlay(restored, measure_errors={"size": [16, 32, 64]})
    run = fresh_snakemake.run(restored, "-n", "--configfile", SMOKE)
    assert run.returncode != 0 and "Job stats" not in run.stderr
    assert "config: measure_errors: " in run.stderr and "no key 'size'; did you mean 'sizes'?" in run.stderr


def test_a_failed_rule_leaves_its_traceback_and_its_last_line(tmp_path):
    folder = clone(tmp_path)
    overlay(folder, fetch_model={"weights_sha256": "0" * 64})
    run = snakemake(folder, "results/models/model.safetensors")
    assert run.returncode != 0
    last = re.search(r"^ValueError: .*model\.safetensors.*$", run.stdout + run.stderr, re.M)
    assert last, run.stderr
    log = (folder / "results/logs/fetch_model/log.txt").read_text()
    assert "Traceback" in log and last.group() in log
    assert not (folder / "results/models/model.safetensors").exists()
