"""The worked example of CONTRIBUTING.md, followed step by step in a copy of the project; the table of the rooms."""

import os
import re
import subprocess
import sys
import tomllib

import pytest
import yaml

from attnlimit.base.store import read
from support.workflow import ROOT, clone, environment

TEXT = (ROOT / "CONTRIBUTING.md").read_text()
QUESTION, TEST = "scripts/attnlimit/questions/interval", "tests/questions/interval/test_measure.py"
NEW = (f"{QUESTION}/about.py", f"{QUESTION}/measure.py", "scripts/simulate_interval.py", "rules/interval.smk", TEST)
RATES = "results/rates/interval.zarr.zip"
# Suites of the rooms that a new question reaches.
TOUCHED = (
    "tests/base",
    "tests/workflow",
    "tests/runs/test_rules.py",
    "tests/runs/test_envs.py",
    "tests/docs/test_generated.py",
)


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


def test_files_that_a_number_leads_to_are_there():
    table = re.search(r"## From a number to its code\n(.*?)\n## ", TEXT, re.S)[1]
    for row in re.findall(r"^\| .+ \| `.+ \|$", table, re.M):
        names = re.findall(r"`([\w/]+\.(?:py|smk))`", row)
        assert 0 < len(names) <= 5
        for name in names:
            places = [ROOT / name, ROOT / "rules" / name, ROOT / "scripts/attnlimit" / name]
            assert any(place.is_file() for place in places), name


def test_the_table_of_rooms_is_that_of_the_contracts():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    rooms = re.search(r"<!-- rooms -->\n(.*?)<!-- /rooms -->", TEXT, re.S)[1].splitlines()[2:]
    assert [re.findall(r"`(\w+)`", row.split(" | ")[0]) for row in rooms] == [layer.split(" | ") for layer in layers]
