"""What set-up installs: checked hashes, one build of torch; the real pip, on small wheels in a folder."""

import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from importlib.metadata import distributions
from pathlib import Path

import pytest

from support.conda_stand_in import PYTHON
from support.workflow import ROOT

NEEDS_CUDA = ["nvidia-lib==1; platform_system == 'Linux'"]
BUILDS = {"2.0+cpu": [], "2.0": NEEDS_CUDA, "2.0+cu1": NEEDS_CUDA, "3.0": []}  # of torch, and what each requires
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="builds differ on Linux only")


def wheel(folder: Path, name: str, version: str, requires: list[str]) -> str:
    """An empty package; the line of a lock that names it."""
    info = f"{name.replace('-', '_')}-{version}.dist-info"
    path = folder / f"{name.replace('-', '_')}-{version}-py3-none-any.whl"
    needs = "".join(f"Requires-Dist: {each}\n" for each in requires)
    with zipfile.ZipFile(path, "w") as file:
        file.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}")
        file.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr(f"{info}/RECORD", "")
    return f"{name}=={version} --hash=sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}\n"


@pytest.fixture(scope="module")
def python(tmp_path_factory) -> Path:
    """Of an environment that has pip and nothing else."""
    prefix = tmp_path_factory.mktemp("python") / ".venv"
    subprocess.run([sys.executable, "-m", "venv", prefix], check=True)
    return prefix / "bin/python"


@pytest.fixture
def project(tmp_path, python) -> Path:
    for name in ("envs", "wheels"):
        (tmp_path / name).mkdir()
    shutil.copy(ROOT / "envs/install.py", tmp_path / "envs")
    (tmp_path / ".venv").symlink_to(python.parents[1])
    (tmp_path / "requirements.lock").write_text(wheel(tmp_path / "wheels", "plain", "1", ["torch"]))
    (tmp_path / "envs/cuda.lock").write_text(wheel(tmp_path / "wheels", "nvidia-lib", "1", []))
    (tmp_path / "envs/torch.lock").write_text("torch==2.0\n")
    return tmp_path


def offer(project: Path, *versions: str) -> None:
    """Builds of torch that an index has."""
    for version in versions:
        wheel(project / "wheels", "torch", version, BUILDS[version])


def install(project: Path, *arguments: str, **variables: str) -> tuple[int, str]:
    given = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")} | variables
    given |= {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(project / "wheels"), "PIP_CONFIG_FILE": os.devnull}
    command = [project / ".venv/bin/python", "envs/install.py", *arguments]
    done = subprocess.run(command, cwd=project, env=given, stdout=-1, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def held(project: Path) -> set[str]:
    site = project / f".venv/lib/python{PYTHON}/site-packages"
    return {f"{each.name}=={each.version}" for each in distributions(path=[str(site)])}


@LINUX
def test_builds_change_and_leave_nothing_behind(project):
    """CUDA with its libraries, then CPU without them; what is there already is not looked up again."""
    offer(project, "2.0", "2.0+cpu", "3.0")
    code, said = install(project, TORCH="cuda")
    assert code == 0 and said.startswith("torch 2.0, the CUDA build: 2.7 GB to download"), said
    assert {"plain==1", "torch==2.0", "nvidia-lib==1"} <= held(project)
    assert install(project) == (0, "No broken requirements found.\n"), "none was asked for: it stays"
    code, said = install(project, TORCH="cpu")
    assert code == 0 and said.startswith("torch 2.0+cpu, the CPU build: 0.2 GB to download"), said
    assert "torch==2.0+cpu" in held(project) and "nvidia-lib==1" not in held(project)
    subprocess.run([project / ".venv/bin/python", "-m", "pip", "uninstall", "-qy", "torch", "plain"], check=True)


@LINUX
@pytest.mark.parametrize(
    ("offered", "choice", "said"),
    [
        (["2.0", "3.0"], "", "torch 2.0, the CUDA build"),
        (["2.0", "2.0+cpu"], "", "torch 2.0+cpu, the CPU build"),
        (["2.0+cpu", "2.0+cu1"], "cuda", "torch 2.0+cu1, the CUDA build"),
        (["2.0"], "cpu", "TORCH=cpu: pip finds no such build of torch==2.0"),
        (["2.0+cpu"], "cuda", "TORCH=cuda: pip finds no such build of torch==2.0"),
        (["3.0"], "", "pip finds no torch==2.0 for Python"),
        (["2.0"], "gpu", "TORCH=gpu: no such build; give TORCH=cpu or TORCH=cuda"),
    ],
)
def test_which_build_is_taken_is_said_first(project, offered, choice, said):
    offer(project, *offered)
    code, told = install(project, "--look-up", TORCH=choice)
    assert told.startswith(said) and len(told.splitlines()) == 1
    assert (code == 0) == said.startswith("torch")


def test_a_file_with_another_hash_is_refused(project):
    offer(project, "2.0+cpu")
    lock = project / "requirements.lock"
    lock.write_text(lock.read_text()[:-65] + "0" * 64 + "\n")
    code, said = install(project)
    assert code != 0 and "DO NOT MATCH THE HASHES" in said
    assert not {"plain==1", "torch==2.0+cpu"} & held(project)
