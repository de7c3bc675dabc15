"""The workflow's own files: which they are, and one hash of them all.

Standard library only: the host that plans the jobs may have nothing else.
"""

import hashlib
import json
import subprocess
from pathlib import Path

FOLDERS = (".ci", ".github", "configs", "docs", "envs", "profiles", "rules", "scripts", "tests")
FILES: tuple[str, ...] = ("CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "LICENSE", "Makefile", "README.md")
FILES += ("Snakefile", "THIRD_PARTY.md", ".gitignore", "config.yaml", "pyproject.toml", "requirements.lock")
FILES += (".pre-commit-config.yaml", ".snakemake-workflow-catalog.yml")
RESULTS = "results/"  # of which git has one file, which says what will be there: no source
RESTORED = "restored from "  # before the commit of an archive
ENVIRONMENT = "provenance/environment.json"  # in an archive, and so in a folder restored from one
MADE = {"__pycache__", ".snakemake", ".pytest_cache", ".hypothesis"}  # by running, beside the sources
MADE |= {"attnlimit.egg-info"}  # by pip install


def source_files(root: Path) -> list[str]:
    """Names of the files that make up the workflow, relative to its folder, in order.

    In a clone these are git's, so that whatever else lies about stays out; elsewhere, those in the same folders.
    """
    listed = git(root, "ls-files", "-z")
    if listed is None:
        return files_in_place(root)
    names = (name for name in listed.split("\0") if name and not name.startswith(RESULTS))
    return sorted(name for name in names if (root / name).is_file())


def files_in_place(root: Path) -> list[str]:
    """Names of the files in the workflow's folders, but for what running leaves there."""
    present = [path for path in map(root.joinpath, FILES) if path.is_file()]
    for folder in FOLDERS:
        present += [path for path in (root / folder).rglob("*") if path.is_file()]
    names = [path.relative_to(root) for path in present]
    return sorted(name.as_posix() for name in names if not MADE & set(name.parts))


def source_sha256(root: Path) -> str:
    """One hash of the names and contents of all source files; dates do not enter."""
    digest = hashlib.sha256()
    for name in source_files(root):
        digest.update(f"{hashlib.sha256((root / name).read_bytes()).hexdigest()}  {name}\n".encode())
    return digest.hexdigest()


def commit(root: Path) -> str:
    """The commit that is checked out, with -dirty if its files were changed; in a restored folder, the archive's."""
    described = git(root, "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*")
    restored = root / ENVIRONMENT
    if described is not None:
        return described.strip()
    if restored.is_file():
        before = json.loads(restored.read_text(encoding="utf-8"))["commit"]
        return RESTORED + before.removeprefix(RESTORED)
    return "unknown"


def commit_before(root: Path) -> str:
    """The commit that the results of a folder are of: in a restored folder, that of the run that was archived."""
    return commit(root).removeprefix(RESTORED)


def git(root: Path, *arguments: str) -> str | None:
    """What git says; None where this is no clone, or there is no git, or it does not trust the folder's owner."""
    if not (root / ".git").exists():
        return None
    try:
        command = ["git", "--no-optional-locks", "-C", str(root), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout  # noqa: S603  # git alone
    except (OSError, subprocess.CalledProcessError):
        return None
