"""`make lock`: what uv resolves, put into three files; the committed ones agree with pyproject.toml."""

import re
import tomllib

import pytest
from packaging.markers import Marker
from packaging.requirements import Requirement

from attnlimit.cli.envs import LOCKS, normal
from attnlimit.cli.lock import GROUP, split
from support.envs import ROOT, locked

# As uv writes it: torch's CUDA build needs cuda-a, which needs nvidia-b; sympy is needed by it and by others.
RESOLVED = f"""\
colorama==0.4.6 ; sys_platform == 'win32' \\
    --hash=sha256:00
    # via tqdm
cuda-a[x]==13.0 ; sys_platform == 'linux' \\
    --hash=sha256:01 \\
    --hash=sha256:02
    # via torch
nvidia-b==1 ; sys_platform == 'linux' \\
    --hash=sha256:03
    # via
    #   cuda-a
    #   torch
numpy==2.4.6 \\
    --hash=sha256:04
    # via
    #   attnlimit ({GROUP})
    #   nvidia-b
plain-c==3 \\
    --hash=sha256:05
    # via nvidia-b
sympy==1.14.0 \\
    --hash=sha256:06
    # via torch
torch==2.13.0 \\
    --hash=sha256:07
    # via attnlimit ({GROUP})
"""


def names(text: str) -> list[str]:
    return re.findall(r"^([\w-]+)", text, re.M)


def test_torch_stands_alone_and_what_only_its_cuda_build_needs_apart():
    plain, torch, cuda = split(RESOLVED).values()
    assert torch == "torch==2.13.0\n"
    assert names(cuda) == ["cuda-a", "nvidia-b", "plain-c"]
    assert names(plain) == ["numpy", "sympy"], "and nothing that no supported machine would install"
    assert "--hash=sha256:02\n" in cuda and "#   pyproject.toml\n" in plain and str(ROOT) not in plain


@pytest.mark.parametrize("name", [LOCKS[0], LOCKS[2]])
def test_every_package_of_a_lock_is_exact_and_hashed(name):
    text = (ROOT / name).read_text()
    packages = re.findall(
        r"^[a-z0-9-]+==[\w.]+(?: ; .*?)? \\\n(?: {4}--hash=sha256:[0-9a-f]{64}(?: \\)?\n)+(?: {4}#.*\n)*", text, re.M
    )
    assert packages and "".join(packages) == text


def test_what_pyproject_names_is_locked():
    group = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]["workflow"]
    for requirement in map(Requirement, group):
        assert locked()[normal(requirement.name)] in requirement.specifier, f"{requirement}: run `make lock`"


def test_a_supported_machine_gets_all_of_the_main_lock():
    """Markers are for others: Windows, PyPy, browsers."""
    for line in re.findall(r"^\S+ ; (.*?) \\$", (ROOT / LOCKS[0]).read_text(), re.M):
        for system, machine in (("linux", "x86_64"), ("linux", "aarch64"), ("darwin", "arm64")):
            place = {"sys_platform": system, "platform_machine": machine, "python_full_version": "3.13.0"}
            assert Marker(line).evaluate(place), line
