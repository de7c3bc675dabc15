"""The small run on a host that has only Snakemake, each rule in its own environment: an incomplete env file fails.

Environments are venvs here, built by a stand-in for conda: this checks pins and completeness, not the conda solver.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import distributions
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from attnlimit.base.store import read
from support.conda_stand_in import PYTHON, answer, build, install, packages, pins_of
from support.envs import RULES, imports, locked, normal
from support.workflow import ROOT, SMOKE, clone, hashes

# Not the plugin for Slurm, which brings numpy and pandas along: an env that lacks them would not be missed.
HOST = ("snakemake", "snakemake-logger-plugin-rich")
SHARED = {"pyyaml", "requests"}  # Snakemake itself needs these, so the host has them
TARGETS = ("all", "results/bench/attention.json")  # every rule; the benchmark runs on request only
REMOVED = {"tabulate_rates": "xarray", "plot_claims": "seaborn"}  # no other pin of theirs brings these along
MADE = ("results/rates.csv", "results/figures/claims.")  # by the rules in REMOVED


class Run(NamedTuple):
    """A copy of the repo, a host that works in it, and the variables that the host sees."""

    folder: Path
    host: Path
    variables: dict[str, str]

    def snakemake(self, *arguments: str) -> subprocess.CompletedProcess:
        command = [self.host / "bin/python", "-m", "snakemake", *arguments, "--cores", "2", "--sdm", "conda"]
        command += ["--configfile", SMOKE]
        return subprocess.run(command, cwd=self.folder, env=self.variables, capture_output=True, text=True)

    def environments(self) -> list[Path]:
        return sorted((self.folder / ".snakemake/conda").glob("*_"))


class Job(NamedTuple):
    """A job that ran: its rule, the environment whose Python ran it, and where its modules came from."""

    rule: str
    environment: Path
    modules: dict[str, Path]


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Run:
    """The small run has ended well. Its environments take 7 GB, and go when the tests end."""
    scratch = tmp_path_factory.mktemp("environments")
    pins = [f"{name}=={locked()[name]}" for name in HOST]
    build(scratch / "host", [*pins, "--constraint", str(ROOT / "requirements.lock")])
    # Neither PYTHONPATH nor an active venv may lend a package.
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    variables["PATH"] = f"{install(scratch / 'conda')}:{variables['PATH']}"
    run = Run(clone(scratch / "repo"), scratch / "host", variables)
    try:
        done = run.snakemake(*TARGETS)
        assert done.returncode == 0, done.stdout + done.stderr
        yield run
    finally:
        for environment in run.environments():
            shutil.rmtree(environment)


@pytest.fixture(scope="module")
def jobs(finished) -> list[Job]:
    """The jobs of the small run, as witness.py noted them in the environment that each ran in."""
    noted = [path for prefix in (finished.host, *finished.environments()) for path in prefix.glob("loaded/*.json")]
    return [
        Job(path.name.split(".")[0], path.parents[1], {k: Path(v) for k, v in json.loads(path.read_text()).items()})
        for path in noted
    ]


def test_the_host_lends_no_package_that_an_env_pins(finished):
    pinned = {pin.split("==")[0] for rule in RULES for pin in pins_of(ROOT / f"envs/{rule}.yaml")}
    held = {normal(found.name) for found in distributions(path=[str(packages(finished.host))])}
    assert set(HOST) <= held
    assert pinned & held <= SHARED


def test_every_rule_ran_in_the_environment_of_its_env_file(finished, jobs):
    assert {job.rule for job in jobs} == set(RULES)
    for job in jobs:
        assert Path(f"{job.environment}.yaml").read_text() == (ROOT / f"envs/{job.rule}.yaml").read_text(), job.rule
    assert len(finished.environments()) == len({(ROOT / f"envs/{rule}.yaml").read_text() for rule in RULES})


def test_environments_hold_the_versions_that_were_pinned(finished):
    for environment in finished.environments():
        held = distributions(path=[str(packages(environment))])
        versions = {normal(found.name): found.version.split("+")[0] for found in held}  # torch 2.13.0+cpu is 2.13.0
        for pin in pins_of(Path(f"{environment}.yaml")):
            name, version = pin.split("==")
            assert versions[name] == version, environment


def test_what_a_script_imports_came_from_its_environment(finished, jobs):
    """Also where the host has the package too, which Snakemake puts last on the path of a job."""
    for job in jobs:
        wanted = imports(ROOT / f"scripts/{job.rule}.py")
        found = {name: path for name, path in job.modules.items() if name in wanted}
        assert found, job.rule
        for name, path in found.items():
            assert path.is_relative_to(packages(job.environment)), f"{job.rule}: {name} is {path}"


def test_jobs_loaded_nothing_from_outside(finished, jobs):
    """Only from their environment, the host, the repo, and Python itself."""
    library = Path(sys.base_prefix, "lib", f"python{PYTHON}")
    for job in jobs:
        for name, path in job.modules.items():
            known = (packages(job.environment), packages(finished.host), finished.folder)
            own = path.is_relative_to(library) and not path.is_relative_to(library / "site-packages")
            assert own or any(map(path.is_relative_to, known)), f"{job.rule}: {name} is {path}"


def test_an_import_that_the_small_run_does_without_is_there_too(jobs):
    """Such as datasets, which only a corpus from the hub needs. Without the host, and not only found but loaded."""
    left = {(job.environment, name) for job in jobs for name in imports(ROOT / f"scripts/{job.rule}.py")}
    left -= {(job.environment, name) for job in jobs for name in job.modules}
    assert "datasets" in {name for _, name in left}
    for environment, name in sorted(left):
        done = subprocess.run(
            [environment / "bin/python", "-I", "-c", f"import {name}"], capture_output=True, text=True
        )
        assert done.returncode == 0, f"{environment}: {done.stderr}"


def test_the_run_left_what_it_promises(finished):
    results = finished.folder / "results"
    for name in ("claims.json", "rates.csv", "answer.txt", "index.html", "figures/beta_vs_horizon.pdf"):
        assert (results / name).stat().st_size > 0
    stores = sorted(results.rglob("*.zarr.zip"))
    assert stores
    for store in stores:
        assert read(store).attrs["code"]


def test_a_second_run_has_nothing_to_do(finished):
    done = finished.snakemake(*TARGETS, "--dry-run")
    assert "Nothing to be done" in done.stdout + done.stderr, done.stdout + done.stderr


def test_a_missing_package_stops_its_rule_and_no_other(finished):
    """Without a pin the rule fails and names the package; all other results stay; with it the same bytes come back."""
    before = hashes(finished.folder)
    for rule, package in REMOVED.items():
        path = finished.folder / f"envs/{rule}.yaml"
        path.write_text(re.sub(rf" +- {package}==.*\n", "", path.read_text()))
    failed = finished.snakemake(*TARGETS)
    said = failed.stdout + failed.stderr
    assert failed.returncode != 0
    assert set(re.findall(r"^Error in rule (\w+)", said, re.M)) == set(REMOVED), said
    for package in REMOVED.values():
        assert f"ModuleNotFoundError: No module named '{package}'" in said
    assert hashes(finished.folder) == {name: value for name, value in before.items() if not name.startswith(MADE)}
    clone(finished.folder)
    again = finished.snakemake(*TARGETS)
    assert again.returncode == 0, again.stdout + again.stderr
    assert hashes(finished.folder) == before


def test_the_stand_in_refuses_what_it_does_not_know(tmp_path):
    with pytest.raises(ValueError, match="list --explicit: not a call that this stand-in knows"):
        answer(str(tmp_path), ["list", "--explicit"])


@pytest.mark.parametrize(
    ("key", "value", "complaint"),
    [
        ("channels", ["conda-forge", "defaults"], "not of the shape"),
        ("dependencies", ["python=3.12", "pip", {"pip": ["numpy==2.4.6"]}], "not of the shape"),
        ("dependencies", ["python=3.11", "pip", "numpy", {"pip": []}], "not of the shape"),
        ("dependencies", ["python=3.11", "pip", {"pip": ["numpy>=2"]}], "numpy>=2 is no exact pin"),
        ("variables", {"PYTHONPATH": "/"}, "not of the shape"),
    ],
)
def test_the_stand_in_refuses_env_files_of_another_shape(tmp_path, key, value, complaint):
    env = yaml.safe_load((ROOT / "envs/plot_claims.yaml").read_text())
    path = tmp_path / "env.yaml"
    path.write_text(yaml.safe_dump(env | {key: value}))
    with pytest.raises(ValueError, match=complaint):
        pins_of(path)
