"""The worked example of CONTRIBUTING.md, followed step by step in a copy of the project."""

import os
import re
import subprocess
import sys

import pytest
import yaml

from attnlimit.base.store import read
from support.workflow import ROOT, clone, environment

TEXT = (ROOT / "CONTRIBUTING.md").read_text()
QUESTION, TEST = "scripts/attnlimit/questions/interval", "tests/questions/interval/test_measure.py"
NEW = (f"{QUESTION}/about.py", f"{QUESTION}/measure.py", "scripts/simulate_interval.py", "rules/interval.smk", TEST)
RATES = "results/rates/interval.zarr.zip"
# Suites of the rooms that a new question reaches.
TOUCHED = ("tests/base", "tests/workflow", "tests/runs/test_rules.py", "tests/docs/test_generated.py")


def block(after: str) -> str:
    """The first code block after these words."""
    return re.search(rf"{re.escape(after)}.*?\n```\w+\n(.*?)```", TEXT, re.S)[1]


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A copy of the project in which the steps were taken."""
    folder = clone(tmp_path_factory.mktemp("project"))
    environment(folder)
    for name in NEW:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(block(f"`{name}`"))
    (folder / QUESTION / "__init__.py").touch()
    with (folder / "config.yaml").open("a") as file:
        file.write("\n" + block("At the end of `config.yaml`:"))
    done = subprocess.run(["make", "envs", "docs"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def run(folder, *arguments: str) -> subprocess.CompletedProcess:
    variables = os.environ | {"PYTHONPATH": str(folder / "scripts")}
    command = [sys.executable, "-m", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, env=variables)


def test_the_example_keeps_the_style(project):
    done = subprocess.run(["make", "lint"], cwd=project, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_its_tests_and_those_of_the_touched_rooms_pass(project):
    done = run(project, "pytest", "-n", "0", "-p", "no:cacheprovider", TEST, *TOUCHED)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_workflow_makes_rates_of_the_new_question(project):
    done = run(project, "snakemake", RATES, "--cores", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    rates = read(project / RATES)
    wanted = yaml.safe_load(block("At the end of `config.yaml`:"))["simulate_interval"]
    assert rates["setting"].values.tolist() == [f"H={horizon}" for horizon in wanted["horizons"]]
    assert rates["horizon"].values.tolist() == pytest.approx(wanted["horizons"])
    assert rates["beta"].sel(statistic=["mean", "cov"], part="error").notnull().all()
