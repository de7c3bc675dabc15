"""Which Python a set-up takes, and when it builds at all: with interpreters that say a version and note their use.

What pip does with real wheels: tests/long/test_builds.py.
"""

import hashlib
import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from attnlimit.cli.envs import LOCKS
from support.workflow import ROOT

# Says its version, knows the wanted line of `ready`, makes a .venv of itself, and fails to install once if told so.
FAKE = """#!/bin/sh
case "$*" in
*sha256*) echo "$(cat requirements.lock envs/*.lock | sha256sum | cut -d' ' -f1) {version}" ;;
-c*) echo {version} ;;
"-m venv"*) echo "venv {version} $*" >>used; mkdir -p .venv/bin; cp "$0" .venv/bin/python ;;
*install*) echo "install {version}" >>used; if [ -e broken ]; then rm broken; exit 1; fi
  echo "${{TORCH:-cpu}}" >.venv/torch ;;
esac
"""


@pytest.fixture
def project(tmp_path) -> Path:
    (tmp_path / "envs").mkdir()
    shutil.copy(ROOT / "envs/setup.sh", tmp_path / "envs")
    shutil.copy(ROOT / "Makefile", tmp_path)
    for name in LOCKS:
        (tmp_path / name).write_text("numpy==1\n")
    (tmp_path / "bin").mkdir()
    for name in ("sh", "cat", "cut", "cp", "rm", "mkdir", "sha256sum", "make", "nproc"):
        (tmp_path / "bin" / name).symlink_to(shutil.which(name))
    return tmp_path


def interpreter(project: Path, name: str, version: str) -> None:
    path = project / "bin" / name
    path.write_text(FAKE.format(version=version))
    path.chmod(0o755)


def setup(project: Path, **variables: str) -> tuple[int, str]:
    """The return code and what was said, with no other programs than those of the project's bin/."""
    environment = {"PATH": str(project / "bin")} | variables
    command = ["make", "setup"]
    done = subprocess.run(command, cwd=project, env=environment, stdout=-1, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def used(project: Path) -> list[str]:
    """What interpreters were used for since the last time."""
    path = project / "used"
    lines = path.read_text().splitlines() if path.exists() else []
    path.unlink(missing_ok=True)
    return lines


@pytest.mark.parametrize(
    ("present", "taken"),
    [
        ({"python3.11": "3.11", "python3.13": "3.13", "python3.12": "3.12"}, "3.13"),
        ({"python3.11": "3.11", "python3": "3.14"}, "3.11"),
        ({"python3": "3.12"}, "3.12"),
        ({"python3.13": "", "python3.12": "3.12"}, "3.12"),  # a stub that says nothing
    ],
)
def test_the_newest_supported_python_is_taken(project, present, taken):
    for name, version in present.items():
        interpreter(project, name, version)
    code, said = setup(project)
    assert code == 0, said
    assert used(project) == [f"venv {taken} -m venv --clear .venv", f"install {taken}"]
    locks = hashlib.sha256(b"numpy==1\n" * len(LOCKS)).hexdigest()
    assert (project / ".venv/ready").read_text() == f"{locks} {taken}\n"


def test_without_any_one_line_says_what_to_do(project):
    interpreter(project, "python3", "3.9")
    code, said = setup(project)
    assert code != 0
    told = said.splitlines()[0]
    assert told.startswith("no Python of 3.13 3.12 3.11 found; install one") and "PYTHON=" in told
    assert not (project / ".venv").exists()
    code, said = setup(project, PYTHON="python3")
    assert code != 0
    assert said.splitlines()[0].startswith("PYTHON=python3: no Python of 3.13 3.12 3.11")


def test_only_another_lock_or_another_python_builds_again(project):
    interpreter(project, "python3.11", "3.11")
    setup(project)
    used(project)
    os.utime(project / "requirements.lock")
    interpreter(project, "python3.13", "3.13")
    assert setup(project) == (0, ""), "neither a date nor a newer Python on the machine"
    assert used(project) == []
    (project / "requirements.lock").write_text("numpy==2\n")
    assert setup(project)[0] == 0
    assert used(project) == ["install 3.11"]
    assert setup(project, PYTHON="python3.13")[0] == 0
    assert used(project) == ["venv 3.13 -m venv --clear .venv", "install 3.13"]
    (project / ".venv/bin/python").unlink()
    assert setup(project)[0] == 0
    assert used(project) == ["venv 3.13 -m venv --clear .venv", "install 3.13"]


def test_only_another_build_of_torch_than_the_one_here_is_installed(project):
    interpreter(project, "python3.11", "3.11")
    setup(project)
    used(project)
    assert setup(project, TORCH="cpu") == (0, ""), "it is that one"
    assert setup(project, TORCH="cuda")[0] == 0
    assert used(project) == ["install 3.11"]
    assert setup(project) == (0, ""), "none was asked for"


def test_a_set_up_that_broke_is_finished_by_running_again(project):
    interpreter(project, "python3.12", "3.12")
    (project / "broken").touch()
    assert setup(project)[0] != 0
    assert not (project / ".venv/ready").exists()
    used(project)
    assert setup(project)[0] == 0
    assert used(project) == ["install 3.12"], "what is there is kept"
    assert setup(project) == (0, "")


def test_a_dry_run_of_make_builds_nothing(project):
    interpreter(project, "python3.12", "3.12")
    for verb in ("setup", "reproduce", "plan", "tidy", "clean"):
        subprocess.run(["make", "-n", verb], cwd=project, env={"PATH": str(project / "bin")}, check=True)
    assert used(project) == [] and not (project / ".venv").exists()


@pytest.mark.parametrize(("version", "of_pypi"), [("2.0", True), ("2.0+cu1", False)])
def test_a_build_of_torch_with_a_label_keeps_its_own_libraries(version, of_pypi, tmp_path, monkeypatch):
    """When other locks change: those in cuda.lock are of the build on PyPI, and would replace them."""
    installer = runpy.run_path(str(ROOT / "envs/install.py"))
    main, calls = installer["main"], []
    held = SimpleNamespace(version=version, requires=["nvidia-lib==1"])
    monkeypatch.setitem(main.__globals__, "distribution", lambda name: held)
    monkeypatch.setitem(main.__globals__, "pip", lambda *arguments, **options: calls.append(arguments))
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(sys, "argv", ["install.py"])
    monkeypatch.delenv("TORCH", raising=False)
    monkeypatch.chdir(tmp_path)
    for folder in ("envs", ".venv"):
        Path(folder).mkdir()
    Path("envs/torch.lock").write_text("torch==2.0\n")
    main()
    assert any(installer["LOCK"] in call for call in calls) and not any(version in str(call) for call in calls)
    assert any(installer["CUDA"] in call for call in calls) == of_pypi
    assert Path(".venv/torch").read_text() == "cuda\n"
