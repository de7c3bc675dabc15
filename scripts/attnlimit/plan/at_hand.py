"""What a run has of the files that a job reads, for a job that also makes do with some of them.

Standard library only: the host that plans the jobs may have nothing else.
"""

from collections.abc import Mapping
from pathlib import Path

Files = Mapping[str, str | list[str]]  # of a job: a name, and one file or several


def at_hand(files: Files) -> dict[str, str | list[str]]:
    """Those that are there, under the same names; a name of which none is there is left out."""
    kept = {name: [path for path in listed(paths) if Path(path).exists()] for name, paths in files.items()}
    return {name: kept[name] if isinstance(files[name], list) else kept[name][0] for name in kept if kept[name]}


def absent(files: Files) -> list[str]:
    """Those that are not there, each once."""
    every = dict.fromkeys(path for paths in files.values() for path in listed(paths))
    return [path for path in every if not Path(path).exists()]


def listed(paths: str | list[str]) -> list[str]:
    return paths if isinstance(paths, list) else [paths]
