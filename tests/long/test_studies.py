"""Several studies with one command: one that fails stops no other, none that is finished runs again; the comparison."""

import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pandas as pd
import pytest
import yaml

from attnlimit.cli.run import given_cores
from support.workflow import clone, environment, make

SIZES = {
    "chapters": ["heads", "tails"],
    "layers": [0, 5],
    "tokenize_corpus": {"population": 300, "block": 64},
    "extract_embeddings": {"shards": 1},
    "compute_limits": {"block": 256},
    "measure_errors": {"sizes": [16, 32, 64, 128], "replicates": 8, "group": 2, "groups_per_job": 4},
    "fit_rates": {"bootstrap": 200},
    "archive_results": {"embeddings": False},
    "bench_attention": {"rounds": 2, "scale": 0.02, "guests": False},
}
TEXTS = {"birds": "Birds sing in the trees of the old garden. " * 100, "short": "Few words. " + " " * 500}


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Path:
    """A clone with an environment, small sizes, and studies of own texts: one whole, one too short, one not there."""
    folder = clone(tmp_path_factory.mktemp("project"))
    environment(folder)
    (folder / "configs/study-sizes.yaml").write_text(yaml.safe_dump(SIZES))
    for name, text in TEXTS.items():
        (folder / f"{name}.txt").write_text(text)
        study(folder / f"configs/studies/{name}.yaml", f"{name}.txt")
    study(folder / "gone.yaml", "gone.txt")
    return folder


def study(path: Path, location: str) -> None:
    path.write_text(yaml.safe_dump({"fetch_corpus": {"source": "text", "location": location}}))


def state(project: Path, name: str) -> str:
    return json.loads((project / f"runs/{name}/results/logs/run.json").read_text())["state"]


@pytest.fixture(scope="module")
def first(project) -> list[str]:
    """What is said when one of three studies can be finished."""
    code, lines = make(project, "studies", "STUDIES=gone.yaml short birds", "CORES=2")
    assert code != 0
    return lines


SHORT = "ValueError: tokenize_corpus.population is 300, but the corpus holds "
GONE = "config: fetch_corpus.location: no file or folder 'gone.txt' here"


def test_a_study_that_fails_stops_no_other(project, first):
    heads = [line for line in first if line.startswith("study ")]
    assert heads[0].startswith(f"study 1 of 3: gone cannot run: {GONE}")
    assert heads[1].startswith("study 2 of 3: short, sentence-transformers/all-MiniLM-L6-v2 on short.txt; about ")
    assert heads[2].startswith(f"study 2 of 3: short failed: {SHORT}") and heads[2].endswith(" left for all")
    assert heads[3].startswith("study 3 of 3: birds, ") and heads[4].startswith("study 3 of 3: birds took ")
    assert state(project, "birds") == "finished" and state(project, "short") == "failed"
    assert (project / "runs/birds/results/report.html").is_file()


def test_the_last_lines_say_what_failed_and_how_to_go_on(first):
    assert any(line.startswith("not compared: 1 of these studies can be") for line in first)
    gone, short, again = first[-4:-1]
    assert gone.startswith(f"failed: gone: {GONE}") and short.startswith(f"failed: short: {SHORT}")
    assert again == "resume with `make studies STUDIES='gone.yaml short birds'`: finished jobs do not run again"


def test_what_is_finished_does_not_run_again_and_is_compared(project, first):
    """A second study of the same text, from the results of the first: only what names the run is made."""
    shutil.copytree(project / "runs/birds", project / "runs/again")
    (project / "runs/again/config.resolved.yaml").unlink()
    study(project / "again.yaml", "birds.txt")
    before = (project / "runs/birds/results/attnlimit.tar.zst").stat().st_mtime_ns
    code, lines = make(project, "studies", "STUDIES=birds gone.yaml again.yaml", "CORES=2")
    assert code != 0 and lines[-3].startswith("failed: gone: "), lines
    assert "study 1 of 3: birds is finished" in lines
    assert (project / "runs/birds/results/attnlimit.tar.zst").stat().st_mtime_ns == before
    assert state(project, "again") == "finished"
    compared = yaml.safe_load((project / "runs/studies.yaml").read_text())["compare_studies"]
    assert compared["studies"] == {"birds": "runs/birds", "again": "runs/again"}
    assert list(compared["missing"]) == ["gone"] and compared["missing"]["gone"].startswith(GONE)
    assert state(project, "studies") == "finished"
    table = pd.read_csv(project / "runs/studies/results/studies.csv")
    assert set(table["study"]) == {"birds", "again"}
    code, lines = make(project, "compare", "RUNS=birds again", "CORES=2")
    assert code == 0, lines
    compared = yaml.safe_load((project / "runs/studies.yaml").read_text())["compare_studies"]
    assert list(compared["studies"]) == ["birds", "again"] and not compared.get("missing")
    assert state(project, "studies") == "finished"


@pytest.mark.parametrize(
    ("verb", "path"),
    [("report", "report.html"), ("archive", "attnlimit.tar.zst"), ("bench", "bench/attention.json")],
)
def test_verbs_write_again_what_a_study_lacks(project, first, verb, path):
    target = project / "runs/birds/results" / path
    target.unlink(missing_ok=True)
    code, lines = make(project, verb, "RUN=birds", "CORES=2")
    assert code == 0 and target.stat().st_size > 0, lines


def test_a_study_is_a_run_like_any_other(project, first):
    assert make(project, "plan", "RUN=birds") == (0, ["runs/birds: finished; nothing would run"])
    code, lines = make(project, "plan", "RUN=code")
    assert code == 0 and lines[-1].endswith("(an estimate, good to a factor of two)"), "also before it has begun"
    assert not (project / "runs/code").exists()
    assert "did you mean 'birds'?" in make(project, "plan", "RUN=brids")[1][-2]
    assert "did you mean 'birds'?" in make(project, "studies", "STUDIES=brids")[1][-2]
    named = [line.split()[0] for line in make(project, "runs")[1]]
    assert {"runs/birds", "runs/short"} <= set(named)


def test_ctrl_c_stops_all_with_one_line(project):
    study(project / "stopped.yaml", "birds.txt")
    begun = subprocess.Popen(
        ["make", "studies", "STUDIES=stopped.yaml birds", "CORES=1"],
        cwd=project,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509  ignored in the background
    )
    while not list((project / "runs/stopped/results/logs").glob("*/*.txt")):
        assert begun.poll() is None
        time.sleep(0.1)
    os.killpg(begun.pid, signal.SIGINT)
    lines = begun.communicate()[0].splitlines()
    again = " ".join(["make studies", *given_cores(1), "STUDIES='stopped.yaml birds'"])
    told = f"stopped: finished jobs are kept in runs/; resume with `{again}`"
    assert begun.returncode != 0 and lines.count(told) == 1
    assert all(line.startswith("make: ***") for line in lines[lines.index(told) + 1 :])
    assert "Traceback" not in "\n".join(lines)
    assert state(project, "stopped") == "unfinished"
