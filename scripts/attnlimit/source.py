"""The workflow's own files: which they are, and one hash of them all.

Standard library only: the host that plans the jobs may have nothing else.
"""

import hashlib
import subprocess
from pathlib import Path

FOLDERS = (".ci", "configs", "docs", "envs", "profiles", "rules", "scripts", "tests")
FILES = ("CHANGELOG.md", "CITATION.cff", "LICENSE", "Makefile", "README.md", "Snakefile", "THIRD_PARTY.md")
FILES += (".gitignore", "config.yaml", "pyproject.toml", "requirements.lock")
MADE = {"__pycache__", ".snakemake", ".pytest_cache", ".hypothesis"}  # by running, beside the sources


def source_files(root: Path) -> list[str]:
    """Names of the files that make up the workflow, relative to its folder, in order; it needs no git."""
    found = [path for path in map(root.joinpath, FILES) if path.is_file()]
    for folder in FOLDERS:
        found += [path for path in (root / folder).rglob("*") if path.is_file()]
    names = [path.relative_to(root) for path in found]
    return sorted(name.as_posix() for name in names if not MADE & set(name.parts))


def source_sha256(root: Path) -> str:
    """One hash of the names and contents of all source files; dates do not enter."""
    digest = hashlib.sha256()
    for name in source_files(root):
        digest.update(f"{hashlib.sha256((root / name).read_bytes()).hexdigest()}  {name}\n".encode())
    return digest.hexdigest()


def commit(root: Path) -> str:
    """The commit that is checked out, with -dirty if its files were changed; "" if this is no clone."""
    if not (root / ".git").exists():
        return ""
    command = ["git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):  # no git here, or a clone of another user
        return ""
