"""A stand-in for the `conda` command: an environment is a venv that holds the pins of its env file and what they need.

Packages are links into the environment that runs the tests, which has the locked versions: a missing pin is a failing
import, and nothing is downloaded or unpacked. Tested is that each env file is complete; not tested are conda's solver,
pip's download, and Python 3.11 where the tests run on another. It answers the calls by which Snakemake builds
environments, and refuses every other call and every env file of another shape.
"""

import csv
import json
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution, distributions
from itertools import accumulate
from pathlib import Path

import yaml
from packaging.requirements import Requirement

PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
INSTALLED = Path(sysconfig.get_path("purelib"))
PIN = re.compile(r"[a-z0-9.-]+==[\w.]+")
WITNESS = Path(__file__).with_name("witness.py")
# What Snakemake sources before a job, with the environment as argument.
ACTIVATE = 'export CONDA_PREFIX="$1" PATH="$1/bin:$PATH"\n'


def install(folder: Path) -> Path:
    """Put the command where a conda would be; returns what belongs on PATH."""
    commands = folder / "bin"
    commands.mkdir(parents=True)
    (commands / "activate").write_text(ACTIVATE)
    (commands / "conda").write_text(f'#!/bin/sh\nexec "{sys.executable}" "{__file__}" "{folder}" "$@"\n')
    (commands / "conda").chmod(0o755)
    return commands


def answer(folder: str, arguments: list[str]) -> None:
    match arguments:
        case ["--version"]:
            print("conda 24.7.1")  # the oldest that Snakemake takes
        case ["info", "--json"]:
            print(json.dumps({"conda_prefix": folder, "platform": subdir()}))
        case ["config", "--get", "channel_priority", "--json"]:
            print(json.dumps({"get": {}}))  # not set: there are no channels here
        case ["env", "create", "--quiet", "--no-default-packages", "--file", file, "--prefix", prefix]:
            build(Path(prefix), pins_of(Path(file)))
        case ["clean", "-y", "--tarballs"]:
            pass  # none were kept
        case _:
            raise ValueError(f"{' '.join(arguments)}: not a call that this stand-in knows; see {__file__}")


def subdir() -> str:
    """This platform as conda calls it."""
    machine = platform.machine()
    return f"{'osx' if sys.platform == 'darwin' else 'linux'}-{'64' if machine == 'x86_64' else machine}"


def pins_of(file: Path) -> list[str]:
    """The pins of an env file, if it holds our channels, our Python, pip, exact pins and nothing else."""
    match yaml.safe_load(file.read_text()):
        case {
            "channels": ["conda-forge", "nodefaults"],
            "dependencies": ["python=3.11", "pip", {"pip": [*pins], **beside}],
            **other,
        } if not beside and not other:
            inexact = [pin for pin in pins if not PIN.fullmatch(str(pin))]
        case _:
            raise ValueError(f"{file}: not of the shape of our env files; write channels and dependencies as they do")
    if inexact:
        raise ValueError(f"{file}: {inexact[0]} is no exact pin; write name==version")
    return pins


def build(prefix: Path, requirements: list[str]) -> None:
    """A venv of these packages and of what they declare to need, which notes what its jobs load.

    It has no pip of its own, as a conda environment would: no script needs one.
    """
    venv.create(prefix, with_pip=False, symlinks=True)
    for name in closure(requirements):
        for place in places(name):
            (packages(prefix) / place).parent.mkdir(parents=True, exist_ok=True)
            (packages(prefix) / place).symlink_to(INSTALLED / place)
    shutil.copy(WITNESS, packages(prefix))
    (packages(prefix) / "witness.pth").write_text("import witness\n")


def closure(requirements: list[str]) -> set[str]:
    """The distributions that pip would install for these; raise ValueError where one is not installed as required."""
    found, queue = set(), [(Requirement(each), "") for each in requirements]
    seen = set()
    while queue:
        wanted, of = queue.pop()
        for extra in ("", *wanted.extras):
            if (wanted.name, extra) in seen:
                continue
            seen.add((wanted.name, extra))
            try:
                held = distribution(wanted.name)
            except PackageNotFoundError:
                raise ValueError(f"{wanted}{of} is not in {INSTALLED}; run `make setup`") from None
            if held.version not in wanted.specifier:
                raise ValueError(f"{wanted}{of}: {INSTALLED} holds {held.version}; run `make setup`")
            found.add(held.name)
            needs = map(Requirement, held.requires or [])
            queue += [(each, f", for {held.name},") for each in needs if applies(each, extra)]
    return found


def applies(requirement: Requirement, extra: str) -> bool:
    """Whether it holds on this platform; those of a package itself are asked for by extra ""."""
    return requirement.marker is None or requirement.marker.evaluate({"extra": extra})


@cache
def files() -> dict[str, list[str]]:
    """Files of each installed distribution, relative to where it is installed, as its RECORD lists them."""
    records = {each.name: csv.reader((each.read_text("RECORD") or "").splitlines()) for each in distributions()}
    return {name: [row[0] for row in rows if not row[0].startswith("..")] for name, rows in records.items()}


@cache
def owners() -> dict[str, set[str]]:
    """Distributions that have files in a folder, or one of this name: several in a namespace such as `google`."""
    found: dict[str, set[str]] = {}
    for name, paths in files().items():
        for path in paths:
            for place in accumulate(path.split("/"), "{}/{}".format):
                found.setdefault(place, set()).add(name)
    return found


def places(name: str) -> set[str]:
    """The fewest links that hold all files of a distribution and none of another."""
    steps = (list(accumulate(path.split("/"), "{}/{}".format)) for path in files()[name])
    return {next((place for place in each if owners()[place] == {name}), each[-1]) for each in steps}


def packages(prefix: Path) -> Path:
    """Where a venv keeps its packages."""
    return prefix / f"lib/python{PYTHON}/site-packages"


if __name__ == "__main__":
    try:
        answer(sys.argv[1], sys.argv[2:])
    except (ValueError, subprocess.CalledProcessError) as error:
        sys.exit(f"conda: {error}")
