"""What Snakemake's rules hold and what lies in the folder of a run, as archive and page need it.

Standard library only: the host that plans the jobs may have nothing else.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

Files = dict[str, str | list[str]]  # by name of an input: one file, or several


def params_of(rules: Iterable[Any]) -> dict[str, dict[str, str | None]]:
    """Of each rule with a job: its parameters as Snakemake records them, None for those that depend on wildcards."""
    now = {}
    for rule in rules:
        if job := rule.params.get("job"):
            values = getattr(job, "parameters", job)  # of a function of wildcards: see job() in rules/common.smk
            now[rule.name] = {name: None if callable(value) else repr(value) for name, value in values.items()}
    return now


def at_hand(files: Files) -> Files:
    """Those of the inputs that are there; one of which nothing is there is left out."""
    kept = {name: [path for path in listed(paths) if Path(path).exists()] for name, paths in files.items()}
    return {name: paths if isinstance(files[name], list) else paths[0] for name, paths in kept.items() if paths}


def absent(files: Files) -> list[str]:
    """Those that are not there, each once."""
    paths = dict.fromkeys(path for paths in files.values() for path in listed(paths))
    return [path for path in paths if not Path(path).exists()]


def listed(paths: str | list[str]) -> list[str]:
    return paths if isinstance(paths, list) else [paths]
