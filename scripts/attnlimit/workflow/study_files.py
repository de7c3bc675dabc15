"""Which studies there are, what each is made of, and what the comparison of some is made of. PyYAML only.

A study is an ordinary run in runs/<name>, made of the sizes that all studies share and of a file of its own. The
comparison is one too, in runs/studies, made of runs/studies.yaml, which is written here.
"""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import yaml

from attnlimit.base.files import atomic
from attnlimit.workflow.folders import RUNS
from attnlimit.workflow.plain_words import meant

SIZES = "configs/study-sizes.yaml"
STUDIES = "configs/studies"
COMPARISON = "studies"
DOWNLOADS = "downloads"  # of packages, below runs/: one that several studies need comes once
DEFAULT = "default"  # the run in the project's own folder
TAKEN = (COMPARISON, DOWNLOADS, DEFAULT)
FEWEST = 2  # to compare
NOTE = "# Which runs are compared, and which were asked for and are not there: by `make studies` or `make compare`.\n"


class Study(NamedTuple):
    """A run to be made."""

    name: str
    config: list[str]  # files laid over config.yaml

    @property
    def folder(self) -> Path:
        return Path(RUNS) / self.name


def known_studies(root: Path) -> dict[str, Path]:
    """Those that come with the workflow, and whatever else lies beside them, by name."""
    return {
        path.stem: path.relative_to(root)
        for path in sorted((root / STUDIES).glob("*.yaml"), key=lambda path: path.stem)
    }


def chosen_studies(root: Path, words: Iterable[str]) -> list[Study]:
    """The studies asked for, by name or as a config file; all that are known if none is."""
    known = known_studies(root)
    studies = [study_of(word, known) for word in words] or [study_of(name, known) for name in known]
    for place, study in enumerate(studies):
        if study.name in (other.name for other in studies[:place]):
            raise ValueError(f"STUDIES: {study.name!r} is there twice; rename one of the files, or name it once")
    return studies


def study_of(word: str, known: dict[str, Path]) -> Study:
    """A word of STUDIES: the name of a known study, or a file of the user's own."""
    path = known.get(word, Path(word))
    if word not in known and (path.suffix != ".yaml" or not path.is_file()):
        there = f"; there are {', '.join(known)}" if known else ""
        raise ValueError(f"STUDIES: no study {word!r:.100} here{meant(word, list(known)) or there}")
    require_name(path.stem, str(path))
    return Study(path.stem, [SIZES, str(path)])


def require_name(name: str, what: str) -> None:
    """A name that a folder, a file of Snakemake's and a key of YAML can have, and that nothing else has."""
    if name in TAKEN or not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9-]{,49}", name):
        why = "is taken" if name in TAKEN else "is not a short name of letters, digits and -"
        raise ValueError(f"{what}: {name!r:.100} {why}; rename the file")


def folder_of(name: str) -> Path:
    """Of a finished run to be compared, from the project's folder."""
    return Path() if name == DEFAULT else Path(RUNS) / name


def write_comparison(path: Path, names: Iterable[str], missing: dict[str, str]) -> None:
    """The config file of a comparison of these runs; `missing` says of others why they are not there."""
    section = {"studies": {name: str(folder_of(name)) for name in names}, "missing": missing}
    content = {"chapters": ["studies"], "compare_studies": section}
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic(path) as temporary:
        text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=1000)
        temporary.write_text(NOTE + text, encoding="utf-8")
