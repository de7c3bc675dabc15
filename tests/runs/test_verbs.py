"""The verbs of the Makefile on runs: each in its folder, planned before, stopped, resumed."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from attnlimit.cli.run import given_cores
from attnlimit.workflow.holder import RECORD
from support.processes import cut_power
from support.workflow import SMOKE, clone, environment, make

HARDMAX = "results/synthetic/hardmax.zarr.zip"


def snakemake(folder: Path, run: str, *arguments: str) -> subprocess.CompletedProcess:
    """As a user may call it, in the folder of a run."""
    command = [sys.executable, "-m", "snakemake", "--cores", "2", "--directory", run, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Path:
    """A clone with an environment, and one simulation in runs/my, by Snakemake itself."""
    folder = clone(tmp_path_factory.mktemp("project"))
    environment(folder)
    shutil.copy(folder / SMOKE, folder / "my.yaml")
    run = snakemake(folder, "runs/my", HARDMAX, "--configfile", "my.yaml")
    assert run.returncode == 0, run.stderr
    return folder


@pytest.fixture
def my(project) -> Path:
    """The config of the run; as it was afterwards."""
    yield project / "my.yaml"
    shutil.copy(project / SMOKE, project / "my.yaml")


def change(path: Path, section: str, **keys: object) -> None:
    config = yaml.safe_load(path.read_text())
    config[section] |= keys
    path.write_text(yaml.safe_dump(config))


def row(lines: list[str], rule: str) -> str:
    return next(line for line in lines if line.split()[:1] == [rule])


def test_a_run_is_in_its_folder_and_nothing_beside(project):
    assert (project / "runs/my" / HARDMAX).is_file()
    assert (project / "runs/my/.snakemake/metadata").is_dir()
    resolved = yaml.safe_load((project / "runs/my/config.resolved.yaml").read_text())
    base = yaml.safe_load((project / "config.yaml").read_text())
    assert resolved["simulate_hardmax"]["plane_replicates"] == 20 and resolved.keys() == base.keys()
    assert not (project / "results").exists() and not (project / ".snakemake").exists()


def test_the_page_of_a_run_that_has_hardly_begun_says_what_is_absent(project):
    code, lines = make(project, "page", "CONFIG=my.yaml")
    assert code == 0, lines
    page = (project / "runs/my/results/index.html").read_text()
    assert lines[-1].split() == ["page", "runs/my/results/index.html"]
    assert "This run is not finished." in page and "<code>results/claims.json</code>" in page
    assert "No claim was tested yet." in page and "vegaEmbed" not in page
    (project / "runs/my/results/index.html").unlink()


def test_the_plan_names_the_key_that_changed(project, my):
    code, lines = make(project, "plan", "CONFIG=my.yaml")
    assert code == 0, lines
    assert not [line for line in lines if line.startswith("simulate_hardmax ")], "it is there"
    assert row(lines, "measure_errors").split()[1] == "4"
    assert re.fullmatch(r"\d+ jobs, about .* on \d+ cores? \(an estimate, good to a factor of two\)", lines[-1])
    change(my, "simulate_hardmax", plane_replicates=30)
    lines = make(project, "plan", "RUN=my")[1]
    assert row(lines, "simulate_hardmax").endswith("simulate_hardmax.plane_replicates: 20 -> 30")


def test_the_plan_tells_of_changed_code(project):
    path = project / "scripts/attnlimit/questions/hardmax/measure.py"
    text = path.read_text()
    try:
        path.write_text(f"{text}\nprint()\n")
        lines = make(project, "plan", "RUN=my")[1]
    finally:
        path.write_text(text)
    assert row(lines, "simulate_hardmax").endswith("code: its script, library code that it uses, or its env file")


def test_planning_a_new_run_leaves_no_trace(project):
    code, lines = make(project, "plan", "CONFIG=my.yaml", "RUN=new")
    assert code == 0 and row(lines, "simulate_hardmax").endswith("not made yet")
    assert [path.name for path in (project / "runs").iterdir()] == ["my"]


def test_runs_are_listed(project):
    code, lines = make(project, "runs")
    assert code == 0 and len(lines) == 2
    assert lines[0].split() == ["run", "state", "date", "model", "text", "population"]
    assert lines[1].startswith("runs/my  unfinished  20") and lines[1].endswith("Wikipedia excerpt  1500")


def test_tidy_removes_stores_of_other_layers_alone(project):
    kept = project / "runs/my/results/errors/layer_0.zarr.zip"
    left = project / "runs/my/results/errors/layer_4.zarr.zip"
    for path in (kept, left):
        path.parent.mkdir(exist_ok=True)
        path.touch()
    try:
        lines = make(project, "plan", "RUN=my")[1]
        assert "  runs/my/results/errors/layer_4.zarr.zip" in lines and any("`make tidy`" in line for line in lines)
        code, lines = make(project, "tidy", "RUN=my")
        assert code == 0 and lines[0] == "runs/my/results/errors/layer_4.zarr.zip"
        assert kept.exists() and not left.exists() and (project / "runs/my" / HARDMAX).exists()
        assert "no stores of other layers than 0, 5" in make(project, "tidy", "RUN=my")[1][0]
    finally:
        shutil.rmtree(kept.parent)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("fit_rates: {boot: 3}\n", r"config: fit_rates: .*'boot'.* \(in faulty\.yaml\)"),
        (
            "measure_errors: {sizes: [9, 3, 1]}\n",
            r"config: measure_errors\.sizes: .* must increase; .*\(in faulty\.yaml\)",
        ),
        ("layers: [0\nseed: 1\n", r"faulty\.yaml, line 2, column 5: broken YAML .*"),
        (
            "fetch_corpus: {source: text, location: no/such}\n",
            r"config: fetch_corpus\.location: no .*Snakefile \(in faulty\.yaml\)",
        ),
    ],
)
def test_a_config_error_is_the_last_line_and_names_its_file(project, text, line):
    (project / "faulty.yaml").write_text(text)
    code, lines = make(project, "reproduce", "CONFIG=faulty.yaml")
    assert code != 0
    assert lines[-1].startswith("make: ***") and re.fullmatch(line, lines[-2]), lines
    assert not (project / "runs/faulty/results").exists()
    shutil.rmtree(project / "runs/faulty", ignore_errors=True)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["CONFIG=none.yaml"], "CONFIG: no file 'none.yaml' here"),
        (["RUN=../my"], "RUN: '../my' is not a plain name"),
        (["RUN=.my"], "RUN: '.my' is not a plain name"),
        (["CONFIG=config.yaml", "RUN=my"], "runs/my: holds a run of my.yaml, not of config.yaml; name another"),
    ],
)
def test_what_is_no_run_is_refused(project, arguments, line):
    code, lines = make(project, "reproduce", *arguments)
    assert code != 0 and line in "\n".join(lines)


def test_files_of_ones_own_are_found_from_the_projects_folder_wherever_it_is(project, tmp_path):
    """A relative name in the config; the project moved with its run has nothing to do again."""
    here = tmp_path / "here"
    shutil.copytree(project, here, symlinks=True, ignore=shutil.ignore_patterns("runs"))
    (here / "texts").mkdir()
    (here / "texts/a.txt").write_text("Words of my own. " * 50)
    own = {"fetch_corpus": {"source": "text", "location": "texts"}, "tokenize_corpus": {"population": 100}}
    (here / "own.yaml").write_text(yaml.safe_dump(own | {"extract_embeddings": {"shards": 1}}))
    target = "results/corpus/articles.parquet"
    run = snakemake(here, "runs/own", target, "--configfile", "own.yaml")
    assert run.returncode == 0, run.stderr
    assert (here / "runs/own" / target).is_file()
    there = here.rename(tmp_path / "there")
    run = snakemake(there, "runs/own", "-n", target, "--configfile", "own.yaml")
    assert "Nothing to be done" in run.stdout + run.stderr
    time.sleep(1.1)  # Snakemake compares dates by the second
    (there / "texts/a.txt").write_text("Other words. " * 50)
    lines = make(there, "plan", "RUN=own", "CONFIG=own.yaml")[1]
    assert row(lines, "fetch_corpus").endswith("changed: ../../texts/a.txt")


def begin(project: Path, config: str) -> subprocess.Popen:
    """A run in a folder of its own, once one of its jobs is at work."""
    logs = project / "runs" / Path(config).stem / "results/logs"
    shutil.rmtree(logs, ignore_errors=True)
    with (project / "shown").open("wb") as out:
        begun = subprocess.Popen(
            ["make", "reproduce", f"CONFIG={config}", "CORES=1"],
            cwd=project,
            stdout=out,
            stderr=out,
            start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509  ignored in the background
        )
    while not list(logs.glob("*/*.txt")):
        assert begun.poll() is None, (project / "shown").read_text()
        time.sleep(0.1)
    return begun


def test_after_a_power_cut_the_same_command_goes_on_and_ctrl_c_ends_with_one_line(project):
    """On a terminal: test_process.py."""
    shutil.copy(project / SMOKE, project / "stopped.yaml")
    begun = begin(project, "stopped.yaml")
    code, lines = make(project, "reproduce", "CONFIG=stopped.yaml")
    assert code != 0 and re.fullmatch(r"runs/stopped: a run is at work there: process \d+ on .*", lines[0]), lines
    cut_power(begun)
    assert list((project / "runs/stopped/.snakemake/locks").glob("*"))
    holder = project / "runs/stopped" / RECORD
    record = holder.read_text()
    holder.write_text(json.dumps(json.loads(record) | {"host": "elsewhere"}))
    code, lines = make(project, "reproduce", "CONFIG=stopped.yaml")
    assert code != 0 and lines[0].endswith("if it is surely gone, `make unlock RUN=stopped`"), lines
    holder.write_text(record)
    left = make(project, "plan", "CONFIG=stopped.yaml")[1][-1]  # without what was finished before the cut
    begun = begin(project, "stopped.yaml")
    first = (project / "shown").read_text().splitlines()[0]
    assert re.fullmatch(r"runs/stopped/results: unlocked, process \d+ on .* was killed; finished jobs are kept", first)
    os.killpg(begun.pid, signal.SIGINT)
    assert begun.wait() != 0
    shown = (project / "shown").read_text()
    lines = shown.splitlines()[1:]
    jobs = re.fullmatch(r"(\d+ jobs) to do, about \d+ min on 1 core", lines[0])[1]
    assert left.startswith(f"{jobs}, about "), "the same count"
    again = " ".join(["make reproduce", *given_cores(1), "CONFIG=stopped.yaml"])
    end = lines.index(f"stopped: finished jobs are kept in runs/stopped/results/; resume with `{again}`")
    assert all(re.match(r"[a-z_ 0-9]+: |\d+ of \d+ jobs, ", line) for line in lines[1:end]), shown
    assert all(line.startswith("make: ***") for line in lines[end + 1 :]), shown
    assert all(character.isprintable() or character == "\n" for character in shown), "no control characters in a file"
    state = json.loads((project / "runs/stopped/results/logs/run.json").read_text())
    assert state["state"] == "unfinished"
    assert make(project, "plan", "CONFIG=stopped.yaml")[0] == 0
    assert not list((project / "runs/stopped/.snakemake/locks").glob("*"))
    assert make(project, "unlock", "RUN=stopped") == (0, ["runs/stopped/results: not locked"])


REPRODUCE = """
from pathlib import Path
from attnlimit.cli.run import Request, snakemake
request = Request(folder=Path("runs/found"), overlays=[Path("my.yaml").resolve()], cores=2)
snakemake(request, "results/corpus/articles.parquet", "--forcerun", "fetch_corpus")
"""


def test_the_result_of_a_job_is_shown(project):
    command = [sys.executable, "-c", REPRODUCE]
    where = {"cwd": project, "env": os.environ | {"PYTHONPATH": "scripts"}}
    lines = subprocess.run(command, stdout=-1, stderr=subprocess.STDOUT, text=True, **where).stdout.splitlines()
    shutil.rmtree(project / "runs/found")
    assert re.fullmatch(r"1 job to do, about \d+ s on 2 cores", lines[0])
    assert re.fullmatch(r"fetch_corpus: 106 articles, [\d,]+ characters, \d+ s", lines[1]) and len(lines) == 2
