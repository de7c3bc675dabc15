"""Write requirements.lock, envs/torch.lock and envs/cuda.lock again from pyproject.toml: `make lock`.

uv resolves its group `workflow` for all supported Pythons and platforms, with the hashes of every file of a package,
from the index that pip is configured with. Versions that still fit are kept; names given here, or `all`, are raised.
"""

import os
import re
import subprocess
import sys
import tempfile
import venv
from itertools import product
from pathlib import Path

from packaging.markers import Marker

from attnlimit.base.log import one_line_errors
from attnlimit.cli.envs import LOCKS, ROOT

PYTHONS, PLATFORMS = ("3.11", "3.12", "3.13"), ("linux", "darwin")  # that set-up takes
GROUP = f"{ROOT / 'pyproject.toml'}:workflow"
OF_CUDA = re.compile(r"(nvidia|cuda|triton)\b")  # what a CUDA build of torch names, beside plain packages
Blocks = dict[str, str]  # by package: its lines in the lock


def main() -> None:
    upgraded = sys.argv[1:]
    with tempfile.TemporaryDirectory() as scratch:
        before = "".join((ROOT / name).read_text(encoding="utf-8") for name in LOCKS)
        resolved = resolve(Path(scratch), before, upgraded)
    for name, text in split(resolved).items():
        (ROOT / name).write_text(text, encoding="utf-8")
    print(f"wrote {', '.join(LOCKS)}; next: `make envs`, then `make test`")


def resolve(scratch: Path, before: str, upgraded: list[str]) -> str:
    """What uv makes of the group, in an environment of its own that is thrown away."""
    venv.create(scratch / "uv", with_pip=True)
    programs, lock = scratch / "uv/bin", scratch / "all.lock"
    lock.write_text(before, encoding="utf-8")
    install = [str(programs / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "uv"]
    pins = [str(programs / "uv"), "pip", "compile", "--quiet", "--no-header", "--universal", "--generate-hashes"]
    pins += ["--python-version", PYTHONS[0], "--group", GROUP, "--output-file", str(lock)]
    pins += ["--upgrade"] if upgraded == ["all"] else [f"--upgrade-package={name}" for name in upgraded]
    for command in (install, pins):
        code = subprocess.run(command, cwd=scratch, env=os.environ | index()).returncode  # noqa: S603  # ours
        if code:
            sys.exit(code)
    return lock.read_text(encoding="utf-8")


def index() -> dict[str, str]:
    """Where pip is told to look, as uv is told it; not its further indexes, which may lack some files of a package."""
    command = [sys.executable, "-m", "pip", "config", "list"]
    told = subprocess.run(command, capture_output=True, text=True).stdout  # noqa: S603  # ours
    names = {"index-url": "UV_DEFAULT_INDEX", "cert": "SSL_CERT_FILE"}
    options = re.findall(r"^\S+\.([\w-]+)='(.*)'$", told, re.M)
    return {names[option]: value for option, value in options if option in names}


def split(resolved: str) -> dict[str, str]:
    """By file: torch by itself; what only its CUDA build needs; all others."""
    packages = blocks(resolved.replace(f"attnlimit ({GROUP})", "pyproject.toml"))
    cuda: set[str] = set()
    while more := {name for name in packages.keys() - cuda if only_for_cuda(name, needed_by(packages[name]), cuda)}:
        cuda |= more
    torch = re.match(r"torch==[\w.]+", packages.pop("torch"))
    if torch is None:
        raise ValueError("pyproject.toml: torch has no exact pin in the group `workflow`")
    plain = (text for name, text in packages.items() if name not in cuda)
    texts = ("".join(plain), f"{torch[0]}\n", "".join(packages[name] for name in sorted(cuda)))
    return dict(zip(LOCKS, texts, strict=True))


def blocks(resolved: str) -> Blocks:
    found = re.findall(r"^[a-z0-9].*\n(?:[ #].*\n)*", resolved, re.M)
    return {re.split(r"[=\[ ]", block)[0]: block for block in found if is_for_us(block)}


def is_for_us(block: str) -> bool:
    """Whether its marker holds anywhere that set-up supports."""
    _, semicolon, marker = block.partition("\n")[0].rstrip("\\ ").partition(";")
    places = ({"python_full_version": f"{x}.0", "sys_platform": y} for x, y in product(PYTHONS, PLATFORMS))
    return not semicolon or any(Marker(marker).evaluate(place) for place in places)


def needed_by(block: str) -> set[str]:
    """The packages that uv names as the reason."""
    via = block.partition("# via")[2].replace("#", " ").split()
    return {re.split(r"[\[(]", name)[0] for name in via}


def only_for_cuda(name: str, reasons: set[str], cuda: set[str]) -> bool:
    return reasons <= cuda or (bool(OF_CUDA.match(name)) and reasons <= cuda | {"torch"})


if __name__ == "__main__":
    with one_line_errors():
        main()
