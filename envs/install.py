"""Install what the locks name into the Python that runs this: `make setup` calls it. Standard library only.

requirements.lock has all packages but torch, with the hashes of their files. torch comes in builds of one version with
different files: it is pinned in envs/torch.lock and installed by itself, after a line that says which build, how large.
What only its CUDA build needs is in envs/cuda.lock, again with hashes.
TORCH=cpu or TORCH=cuda asks for a build; without it, the one that pip prefers among the indexes it is configured with.
`--look-up` only says which build it would be.
"""

import json
import os
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

LOCK, TORCH, CUDA = Path("requirements.lock"), Path("envs/torch.lock"), Path("envs/cuda.lock")
# Of torch 2.13.0 and what only it needs, on Linux, x86_64: GB to download, GB of disk for the whole environment.
SIZES = {"cpu": (0.2, 2.7), "cuda": (2.7, 6.2)}
HASHED = ("--no-deps", "--require-hashes")


def main() -> None:
    choice = os.environ.get("TORCH", "")
    if choice not in ("", *SIZES):
        sys.exit(f"TORCH={choice}: no such build; give TORCH=cpu or TORCH=cuda, or leave it out for what pip finds")
    pin = TORCH.read_text(encoding="utf-8").strip()
    version, build = installed(pin)
    requirement = ""
    if not build or choice not in ("", build):
        requirement, build = look_up(pin, choice)
        version = requirement
        download, disk = SIZES[build]
        name = requirement.replace("===", " ")
        print(
            f"{name}, the {build.upper()} build: {download} GB to download; .venv takes {disk} GB; this takes minutes",
            flush=True,
        )
    if "--look-up" in sys.argv:
        return
    pip("install", *HASHED, "-r", LOCK)
    if build == "cpu":
        pip("uninstall", "--yes", "-r", CUDA)  # a CUDA build was here before
    elif "+" not in version:  # one with a label, such as +cu126, needs other libraries than PyPI's: no lock has them
        pip("install", *HASHED, "-r", CUDA)
    if requirement:
        pip("install", *([] if "+cu" in version else ["--no-deps"]), requirement)
    pip("check", quiet=False)
    Path(".venv/torch").write_text(f"{build}\n", encoding="utf-8")


def pip(*arguments: object, quiet: bool = True) -> None:
    """Run it; where it fails, its own words are the message."""
    quietly = ["--quiet", "--quiet"] if arguments[0] == "uninstall" else ["--quiet"] if quiet else []
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", *map(str, arguments), *quietly]
    code = subprocess.run(command).returncode  # noqa: S603  # ours
    if code:
        sys.exit(code)


def installed(pin: str) -> tuple[str, str]:
    """Version and build of the torch that is here; no build if it is not of the pinned version."""
    try:
        held = distribution("torch")
    except PackageNotFoundError:
        return "", ""
    return held.version, build_of(held.requires or []) if f"torch=={held.version.split('+')[0]}" == pin else ""


def build_of(requirements: list[str]) -> str:
    """By what a torch requires: that of CUDA needs NVIDIA's libraries, on Linux."""
    return "cuda" if sys.platform == "linux" and any(each.startswith("nvidia-") for each in requirements) else "cpu"


def look_up(pin: str, choice: str) -> tuple[str, str]:
    """The requirement for pip, and the build that it gives."""
    candidates = {"cpu": (f"{pin}+cpu", pin), "cuda": (f"{pin},!={pin.removeprefix('torch==')}+cpu",), "": (pin,)}
    said = ""
    for requirement in candidates[choice]:
        command = [sys.executable, "-m", "pip", "install", "--dry-run", "--no-deps", "--ignore-installed", "--quiet"]
        command += ["--disable-pip-version-check", "--report", "-", requirement]
        done = subprocess.run(command, capture_output=True, text=True)  # noqa: S603  # ours
        if done.returncode:
            said = done.stderr.strip().splitlines()[-1]
            continue
        metadata = json.loads(done.stdout)["install"][0]["metadata"]
        if choice in ("", build := build_of(metadata.get("requires_dist", []))):
            return f"torch==={metadata['version']}", build
    python = "{}.{}".format(*sys.version_info)
    if not choice:
        sys.exit(f"pip finds no {pin} for Python {python}: {said}")
    sys.exit(
        f"TORCH={choice}: pip finds no such build of {pin} for Python {python}; name an index that has it in "
        "PIP_EXTRA_INDEX_URL (pytorch.org says which), or a folder with its wheel in PIP_FIND_LINKS"
    )


if __name__ == "__main__":
    main()
