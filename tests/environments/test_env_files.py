"""Every rule in its own environment, on a host that has only Snakemake: an incomplete env file fails.

Environments are links into the one that runs the tests: see support/conda_stand_in.py for what that does not test. One,
the smallest, is built by pip as well.
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
from support.envs import RULES, imports, locked
from support.language import small_run
from support.workflow import ROOT, SMOKE, clone, hashes

HOST = "snakemake"  # not the plugin for Slurm, which would lend numpy and pandas
# Together every rule: the small run and the benchmark; a run of drawn queries; a comparison of these two; a
# language model; one model of the atlas, and the atlas.
WHOLE = {"layers": [0], "measure_errors": {"groups_per_job": 4}}
DRAWN = WHOLE | {"chapters": ["heads", "tails"], "compute_limits": {"queries": 256, "surrogate": "quadratic"}}
COMPARED = {"chapters": ["studies"], "compare_studies": {"studies": {"whole": "runs/whole", "drawn": "runs/drawn"}}}
KEYS = {"contexts": [64], "context": 64, "queries": 8, "last": 4, "sizes": [4, 16, 32, 64, 256], "parts": 1}
KEYS |= {"protocols": ["uniform", "sink", "recent", "sink_recent", "window", "top"]}
ENTRY = {"chapters": ["entry"], "prepare_windows": {"windows": 3, "window": 64}, "measure_keys": KEYS}
ATLAS = {"chapters": ["atlas"], "compare_atlas": {"models": {"llama": "runs/entry"}, "missing": {}}}
BENCH = "results/bench/attention.json"  # runs on request only
REMOVED = {"tabulate_rates": "xarray", "plot_uniform": "seaborn"}  # no other pin of theirs brings these along


class Host(NamedTuple):
    """A copy of the repo, a Snakemake that works in it, and the variables that it sees."""

    folder: Path
    prefix: Path
    variables: dict[str, str]

    def snakemake(self, *arguments: str) -> subprocess.CompletedProcess:
        command = [self.prefix / "bin/python", "-m", "snakemake", *arguments, "--cores", "2"]
        return subprocess.run(command, cwd=self.folder, env=self.variables, capture_output=True, text=True)

    def run(self, name: str, *arguments: str) -> subprocess.CompletedProcess:
        """The run of a name, in its folder; environments are shared by all."""
        parts = ["--directory", f"runs/{name}", "--configfile", SMOKE, f"{name}.yaml"]
        return self.snakemake(*arguments, *parts, "--sdm", "conda", "--conda-prefix", self.folder / "conda")

    def environments(self) -> list[Path]:
        return sorted((self.folder / "conda").glob("*_"))


class Job(NamedTuple):
    """A job that ran: its rule, the environment whose Python ran it, and where its modules came from."""

    rule: str
    environment: Path
    modules: dict[str, Path]


@pytest.fixture(scope="module")
def host(tmp_path_factory) -> Host:
    scratch = tmp_path_factory.mktemp("environments")
    build(scratch / "host", [f"{HOST}=={locked()[HOST]}"])
    # Neither PYTHONPATH nor an active venv may lend a package.
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    variables["PATH"] = f"{install(scratch / 'conda')}:{variables['PATH']}"
    return Host(clone(scratch / "repo"), scratch / "host", variables)


@pytest.fixture(scope="module")
def finished(host) -> Host:
    """All runs have ended well; the second takes from the first what both have in common."""
    (host.folder / "small").mkdir()
    language = small_run(host.folder / "small")
    sources = {key: language[key] for key in ("layers", "fetch_corpus", "fetch_model")}
    runs = {"whole": WHOLE, "drawn": DRAWN, "compared": COMPARED, "language": language}
    runs |= {"entry": sources | ENTRY, "atlas": ATLAS}
    for name, changes in runs.items():
        (host.folder / f"{name}.yaml").write_text(yaml.safe_dump(changes))
    done = host.run("whole", "all", BENCH)
    assert done.returncode == 0, done.stdout + done.stderr
    for part in ("results", ".snakemake/metadata"):
        shutil.copytree(host.folder / "runs/whole" / part, host.folder / "runs/drawn" / part)
    for name in [name for name in runs if name != "whole"]:
        done = host.run(name)
        assert done.returncode == 0, done.stdout + done.stderr
    return host


@pytest.fixture(scope="module")
def jobs(finished) -> list[Job]:
    """Those of all runs, as witness.py noted them in the environment that each ran in."""
    noted = [path for prefix in (finished.prefix, *finished.environments()) for path in prefix.glob("loaded/*.json")]
    return [
        Job(path.name.split(".")[0], path.parents[1], {k: Path(v) for k, v in json.loads(path.read_text()).items()})
        for path in noted
    ]


def test_every_rule_ran_in_the_environment_of_its_env_file(finished, jobs):
    listed = finished.snakemake("--list-rules").stdout.split()
    assert {job.rule for job in jobs} == set(RULES) == set(listed) - {"all"}
    for job in jobs:
        assert Path(f"{job.environment}.yaml").read_text() == (ROOT / f"envs/{job.rule}.yaml").read_text(), job.rule


def test_environments_of_equal_content_are_one(finished):
    assert len(finished.environments()) == len({path.read_text() for path in ROOT.glob("envs/*.yaml")})


def test_what_a_script_imports_came_from_its_environment(jobs):
    """Also where the host has the package too, which Snakemake puts last on the path of a job."""
    for job in jobs:
        wanted = imports(ROOT / f"scripts/{job.rule}.py")
        found = {name: path for name, path in job.modules.items() if name in wanted}
        assert found, job.rule
        for name, path in found.items():
            assert path.is_relative_to(packages(job.environment)), f"{job.rule}: {name} is {path}"


def test_the_host_lends_nothing_that_any_env_file_pins(finished, jobs):
    """Such as jinja2 and docutils, which Snakemake's reports need: what one rule pins, no other takes from the host."""
    pinned = set().union(*(imports(ROOT / f"scripts/{rule}.py") for rule in RULES))
    for job in jobs:
        lent = {name for name, path in job.modules.items() if path.is_relative_to(packages(finished.prefix))}
        assert "snakemake" in lent and not lent & pinned, job.rule


def test_jobs_loaded_nothing_from_outside(finished, jobs):
    """Only from their environment, the host, the repo, and Python itself."""
    library = Path(sys.base_prefix, "lib", f"python{PYTHON}")
    for job in jobs:
        for name, path in job.modules.items():
            known = (packages(job.environment), packages(finished.prefix), finished.folder)
            own = path.is_relative_to(library) and not path.is_relative_to(library / "site-packages")
            assert own or any(map(path.is_relative_to, known)), f"{job.rule}: {name} is {path}"


def test_an_import_that_these_runs_do_without_is_there_too(jobs):
    """Such as datasets, which only a corpus from the hub needs. Without the host, and not only found but loaded."""
    left = {(job.environment, name) for job in jobs for name in imports(ROOT / f"scripts/{job.rule}.py")}
    left -= {(job.environment, name) for job in jobs for name in job.modules}
    assert "datasets" in {name for _, name in left}
    for environment in {environment for environment, _ in left}:
        code = "\n".join(f"import {name}" for other, name in sorted(left) if other == environment)
        done = subprocess.run([environment / "bin/python", "-I", "-c", code], capture_output=True, text=True)
        assert done.returncode == 0, f"{environment}: {done.stderr}"


def test_the_runs_left_what_they_promise(finished):
    for name in ("whole", "drawn", "compared", "language", "entry", "atlas"):
        results = finished.folder / "runs" / name / "results"
        assert json.loads((results / "logs/run.json").read_text())["state"] == "finished"
        stores = sorted(results.rglob("*.zarr.zip"))
        assert stores
        for store in stores:
            assert read(store).attrs["code"]


def test_a_missing_package_stops_its_rule_and_no_other(finished):
    """Without a pin the rule fails and names the package; all other results stay; with it the same bytes come back.

    But for the archive, which says when its jobs ran.
    """
    run = finished.folder / "runs/whole"
    before = hashes(run)
    for rule, package in REMOVED.items():
        path = finished.folder / f"envs/{rule}.yaml"
        path.write_text(re.sub(rf" +- {package}==.*\n", "", path.read_text()))
    failed = finished.run("whole")
    said = failed.stdout + failed.stderr
    assert failed.returncode != 0
    assert set(re.findall(r"^Error in rule (\w+)", said, re.M)) == set(REMOVED), said
    for package in REMOVED.values():
        assert f"ModuleNotFoundError: No module named '{package}'" in said
    kept = hashes(run)
    assert kept.items() <= before.items() and any(name.startswith("results/rates/") for name in kept)
    clone(finished.folder)
    again = finished.run("whole")
    assert again.returncode == 0, again.stdout + again.stderr
    archive = {"results/attnlimit.tar.zst"}
    now = hashes(run)
    assert set(now) == set(before) and {name for name in now if now[name] != before[name]} <= archive
    third = finished.run("whole", "--dry-run")
    assert "Nothing to be done" in third.stdout + third.stderr


def test_pip_builds_the_same_environment(tmp_path):
    """The smallest one, from the index: the packages that pip takes for its pins are those that the stand-in links."""
    pins = min((pins_of(path) for path in ROOT.glob("envs/*.yaml")), key=len)
    build(tmp_path / "linked", pins)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "built"], check=True)
    pip = [sys.executable, "-m", "pip", "--python", tmp_path / "built/bin/python", "--disable-pip-version-check"]
    (tmp_path / "versions.txt").write_text("".join(f"{name}=={version}\n" for name, version in locked().items()))
    versions = ["--constraint", tmp_path / "versions.txt"]
    subprocess.run([*pip, "install", "--quiet", "--no-compile", *pins, *versions], check=True)
    built, linked = (
        {(each.name, each.version) for each in distributions(path=[str(packages(tmp_path / name))])}
        for name in ("built", "linked")
    )
    assert built == linked


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
