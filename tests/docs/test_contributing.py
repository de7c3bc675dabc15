"""The worked example of CONTRIBUTING.md, followed step by step in a copy of the project; the table of the rooms."""

import os
import re
import subprocess
import sys
import tomllib

import pytest
import yaml

from attnlimit.base.store import read
from support.workflow import ROOT, clone

TEXT = (ROOT / "CONTRIBUTING.md").read_text()
EXPERIMENT, SCRIPT = "scripts/attnlimit/experiments/interval.py", "scripts/simulate_interval.py"
TEST = "tests/experiments/test_interval.py"
NEW = (EXPERIMENT, SCRIPT, TEST)
RATES = "results/rates/interval.zarr.zip"


def block(after: str) -> str:
    """The first code block after these words."""
    return re.search(rf"{re.escape(after)}.*?\n```\w+\n(.*?)```", TEXT, re.S)[1]


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A copy of the project in which the five steps were taken."""
    folder = clone(tmp_path_factory.mktemp("project"))
    for name in NEW:
        (folder / name).write_text(block(f"`{name}`:"))
    assert run(folder, "attnlimit.cli.envs").returncode == 0
    for name, words in (
        ("rules/synthetic.smk", "At the end of `rules/synthetic.smk`:"),
        ("config.yaml", "At the end of `config.yaml`:"),
    ):
        with (folder / name).open("a") as file:
            file.write("\n\n" + block(words))
    about = folder / "scripts/attnlimit/questions/interval/about.py"
    about.parent.mkdir()
    about.write_text(block("`scripts/attnlimit/questions/interval/about.py`"))
    replace(folder / "scripts/attnlimit/workflow/chapters.py", r"^(SIMULATIONS = \(.*?)\)$", r'\1, "interval")')
    return folder


def replace(path, pattern: str, by: str) -> None:
    text, count = re.subn(pattern, by, path.read_text(), count=1, flags=re.M)
    assert count == 1
    path.write_text(text)


def run(folder, *arguments: str) -> subprocess.CompletedProcess:
    environment = os.environ | {"PYTHONPATH": str(folder / "scripts")}
    command = [sys.executable, "-m", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment)


def test_the_tests_of_the_example_pass(project):
    done = run(project, "pytest", "-n", "0", "-p", "no:cacheprovider", TEST)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_example_keeps_the_style(project):
    for command in (["ruff", "check"], ["ruff", "format", "--check"]):
        done = run(project, *command, *NEW)
        assert done.returncode == 0, done.stdout + done.stderr
    done = run(project, "snakefmt", "--check", "rules/synthetic.smk")
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_workflow_makes_rates_of_the_new_experiment(project):
    done = run(project, "snakemake", RATES, "--cores", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    rates = read(project / RATES)
    wanted = yaml.safe_load(block("At the end of `config.yaml`:"))["simulate_interval"]
    assert rates["setting"].values.tolist() == [f"H={horizon}" for horizon in wanted["horizons"]]
    assert rates["horizon"].values.tolist() == pytest.approx(wanted["horizons"])
    assert rates["beta"].sel(statistic=["mean", "cov"], part="error").notnull().all()


def test_the_table_of_rooms_is_that_of_the_contracts():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    rooms = re.search(r"<!-- rooms -->\n(.*?)<!-- /rooms -->", TEXT, re.S)[1].splitlines()[2:]
    assert [re.findall(r"`(\w+)`", row.split(" | ")[0]) for row in rooms] == [layer.split(" | ") for layer in layers]
