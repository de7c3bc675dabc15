"""A whole small run, killed at random moments and resumed; its archive and a validator; Snakemake's report of it."""

import json
import os
import random
import re
import subprocess
import sys
import time
from base64 import urlsafe_b64decode
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from attnlimit.archive.bundle import verified
from attnlimit.archive.crate import METADATA
from attnlimit.workflow.folders import ARCHIVE
from attnlimit.workflow.holder import at_work
from attnlimit.workflow.snakemake_records import FOLDER, lock_date
from support.bags import TIMED, entries
from support.processes import cut_power
from support.workflow import ROOT, clone, environment, hashes, make

SMALL = {
    "chapters": ["tails"],
    "layers": [0],
    "tokenize_corpus": {"population": 300, "block": 64},
    "extract_embeddings": {"shards": 1},
    "compute_limits": {"block": 256},
}
CUTS = 10
VALIDATOR = "roc-validator==0.13.0"  # in an environment of its own: it wants an older rich than the lock
CONTEXT = "rocrate==0.13.0"  # the last that carries the context of RO-Crate 1.1
PROFILE = "provenance-run-crate"
# A reporter of Snakemake, which tells what its interface gives.
REPORTER = """
import json, os, pathlib
from snakemake_interface_report_plugins.reporter import ReporterBase
from snakemake_interface_report_plugins.settings import ReportSettingsBase as ReportSettings

class Reporter(ReporterBase):
    def render(self):
        jobs = [[job.rule, sorted(job.output), job.starttime, job.endtime] for job in self.jobs]
        pathlib.Path(os.environ["TOLD"]).write_text(json.dumps(sorted(jobs)))
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Path:
    folder = clone(tmp_path_factory.mktemp("project"))
    environment(folder)
    (folder / "small.yaml").write_text(yaml.safe_dump(SMALL))
    return folder


class Undisturbed(NamedTuple):
    folder: Path
    seconds: float


@pytest.fixture(scope="module")
def undisturbed(project) -> Undisturbed:
    """The run in one piece, put aside."""
    start = time.monotonic()
    code, lines = make(project, "reproduce", "CONFIG=small.yaml")
    assert code == 0, lines
    return Undisturbed((project / "runs/small").rename(project / "undisturbed"), time.monotonic() - start)


def finished_files(folder: Path) -> dict[str, tuple[int, int]]:
    """What Snakemake recorded as made, and did not mark as unfinished: by name, the file's number and date."""
    marks = {path.name for path in (folder / ".snakemake/incomplete").glob("*")}
    records = [path for path in (folder / FOLDER).glob("*") if path.name not in marks and path.stat().st_size]
    files = [folder / urlsafe_b64decode(path.name).decode() for path in records]
    return {str(path): (path.stat().st_ino, path.stat().st_mtime_ns) for path in files}


class Disturbed(NamedTuple):
    folder: Path
    locks: int  # that power cuts left
    finished: dict[str, tuple[int, int]]  # files at the time of a cut
    lines: list[str]  # of the last resumption


@pytest.fixture(scope="module")
def disturbed(project, undisturbed) -> Disturbed:
    """The same run again, cut at random moments, and resumed by the same command."""
    folder, moments = project / "runs/small", random.Random(1)  # noqa: S311  no secret
    command = ["make", "reproduce", "CONFIG=small.yaml"]
    locks, finished = 0, {}
    for _ in range(CUTS):
        was_locked = folder.is_dir() and lock_date(folder) is not None
        with (project / "shown").open("w") as shown:
            process = subprocess.Popen(command, cwd=project, stdout=shown, stderr=shown, start_new_session=True)
        time.sleep(moments.uniform(0, undisturbed.seconds / 3))
        cut_power(process)
        assert not at_work(folder)
        lines = (project / "shown").read_text().splitlines()
        assert not [line for line in lines if "rror" in line], lines
        assert not (was_locked and lines) or re.match(r"runs/small/results: unlocked, process \d+ on ", lines[0]), lines
        locks += folder.is_dir() and lock_date(folder) is not None
        finished |= {name: facts for name, facts in finished_files(folder).items() if name not in finished}
    code, lines = make(project, "reproduce", "CONFIG=small.yaml")
    assert code == 0, lines
    return Disturbed(folder, locks, finished, lines)


def test_what_was_finished_did_not_run_again_and_every_result_is_that_of_an_undisturbed_run(undisturbed, disturbed):
    assert disturbed.locks >= CUTS // 3, "cuts while it held the lock"
    assert len(disturbed.finished) >= 3, "something was finished at a cut"
    now = finished_files(disturbed.folder)
    assert {name: now[name] for name in disturbed.finished} == disturbed.finished
    here, there = hashes(disturbed.folder), hashes(undisturbed.folder)
    assert here.keys() == there.keys()
    assert {name for name in here if here[name] != there[name]} == {str(ARCHIVE)}


def test_archives_of_two_runs_differ_by_times_alone(undisturbed, disturbed):
    here, there = (entries(folder / ARCHIVE) for folder in (disturbed.folder, undisturbed.folder))
    assert here.keys() == there.keys()
    assert {name for name in here if here[name] != there[name]} <= {f"attnlimit/{name}" for name in TIMED}


def test_our_reading_of_the_records_agrees_with_the_interface_for_reports(disturbed, project, tmp_path):
    """Which does not tell inputs, parameters and logs, and only from outside of a run."""
    (tmp_path / "snakemake_report_plugin_told").mkdir()
    (tmp_path / "snakemake_report_plugin_told/__init__.py").write_text(REPORTER)
    command = [sys.executable, "-m", "snakemake", "--reporter", "told", "--directory", "runs/small", "--quiet", "all"]
    command += ["--cores", "1", "--configfile", "small.yaml"]
    variables = os.environ | {"PYTHONPATH": str(tmp_path), "TOLD": str(tmp_path / "told.json")}
    done = subprocess.run(command, cwd=project, env=variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with verified(disturbed.folder / ARCHIVE) as contents:
        read = sorted([job.rule, sorted(job.output), job.start, job.end] for job in contents.jobs)
    told = [job for job in json.loads((tmp_path / "told.json").read_text()) if job[0] != "archive_results"]
    assert read == told


@pytest.fixture(scope="module")
def validate(tmp_path_factory):
    """roc-validator on a folder, without network: whether it is a valid Provenance Run Crate, and what was said."""
    folder = tmp_path_factory.mktemp("validator")
    subprocess.run([sys.executable, "-m", "venv", folder / "env"], check=True)
    pip = [folder / "env/bin/python", "-m", "pip", "--disable-pip-version-check", "--quiet"]
    for arguments in ([VALIDATOR], ["--no-deps", CONTEXT]):
        done = subprocess.run([*pip, "install", *arguments], capture_output=True, text=True)
        if done.returncode and subprocess.run([*pip, "download", "--no-deps", "pip"], cwd=folder).returncode:
            pytest.skip(f"no package index to be reached: {done.stderr.strip().splitlines()[-1]}")
        assert done.returncode == 0, done.stderr
    cache = str(folder / "cache")
    subprocess.run([folder / "env/bin/python", ROOT / "tests/support/crate_context.py", cache], check=True)

    def call(payload: Path) -> tuple[bool, str]:
        command = [folder / "env/bin/rocrate-validator", "--disable-color", "-y", "validate", "--offline"]
        command += ["--cache-path", cache, "-p", PROFILE, "-l", "required", "--no-paging", "-v", payload]
        done = subprocess.run(command, capture_output=True, text=True)
        return done.returncode == 0, done.stdout + done.stderr

    return call


def test_a_validator_signs_the_crate_and_refuses_one_with_a_job_of_no_step(disturbed, validate):
    with verified(disturbed.folder / ARCHIVE) as contents:
        valid, said = validate(contents.payload)
        assert valid and f"RO-Crate is a valid {PROFILE}-0.5" in said, said
        print("\n".join(line for line in said.splitlines() if line.strip())[-600:])
        crate = json.loads((contents.payload / METADATA).read_text())
        control = next(entity for entity in crate["@graph"] if entity["@type"] == "ControlAction")
        control["instrument"] = {"@id": "README.md"}
        (contents.payload / METADATA).write_text(json.dumps(crate))
        valid, said = validate(contents.payload)
        assert not valid and "ControlAction" in said, said
