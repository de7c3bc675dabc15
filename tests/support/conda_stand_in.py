"""A stand-in for the `conda` command: an environment is a venv that holds the pins of its env file, from PyPI.

It checks pins and completeness, not the conda solver: nothing comes from a channel. It answers the calls by which
Snakemake builds environments, and refuses every other call and every env file of another shape.
"""

import json
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

import yaml

PYTHON = "3.11"
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
    """A venv of these packages and what they ask for, which notes what its jobs load.

    It has no pip of its own, as a conda environment would: no script needs one.
    """
    if sys.version_info[:2] != (3, 11):
        raise ValueError(f"{sys.executable}: not Python {PYTHON}, which the env files ask for; run `make setup`")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(prefix)], check=True)
    pip = [sys.executable, "-m", "pip", "--python", str(prefix / "bin/python"), "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "--quiet", "--no-compile", *requirements], check=True)
    shutil.copy(WITNESS, packages(prefix))
    (packages(prefix) / "witness.pth").write_text("import witness\n")


def packages(prefix: Path) -> Path:
    """Where a venv keeps its packages."""
    return prefix / f"lib/python{PYTHON}/site-packages"


if __name__ == "__main__":
    try:
        answer(sys.argv[1], sys.argv[2:])
    except (ValueError, subprocess.CalledProcessError) as error:
        sys.exit(f"conda: {error}")
