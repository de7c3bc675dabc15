"""Which studies there are, what each is made of, and what the comparison of some is made of. PyYAML only.

A study is an ordinary run in runs/<name>, made of the sizes that all studies share and of a file of its own. The
comparison is one too, in runs/studies, made of runs/studies.yaml, which is written here. So are the models of the
atlas, in runs/atlas-<name>, and the atlas.
"""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import yaml

from attnlimit.base.files import atomic
from attnlimit.workflow.folders import COMPARISONS, RUNS
from attnlimit.workflow.plain_words import meant
from attnlimit.workflow.studies import ENTRY, NEEDED

SIZES = "configs/study-sizes.yaml"
COMPARISON = "studies"
DOWNLOADS = "downloads"  # of packages, below runs/: one that several studies need comes once
DEFAULT = "default"  # the run in the project's own folder
TAKEN = (*COMPARISONS, DOWNLOADS, DEFAULT)
NOTE = (
    "# Which runs are compared, and which were asked for and are not there: by `make studies`, `compare` or `atlas`.\n"
)


class Kind(NamedTuple):
    """What runs that are compared share."""

    chapter: str  # that compares them: also the verb of the Makefile and the folder in runs/
    one: str  # what a run is called
    word: str  # variable of the Makefile that names some
    folder: str  # of the config files that come with the workflow
    sizes: str  # config file below each of these
    needed: tuple[str, ...]  # chapters of each run
    fewest: int  # to compare
    prefix: str = ""  # of the folders in runs/


STUDY = Kind(COMPARISON, "study", "STUDIES", "configs/studies", SIZES, NEEDED, 2)
MODEL = Kind("atlas", "model", "MODELS", "configs/atlas", "configs/atlas-sizes.yaml", ENTRY, 1, "atlas-")
KINDS = (STUDY, MODEL)


class Study(NamedTuple):
    """A run to be made."""

    name: str
    config: list[str]  # files laid over config.yaml

    @property
    def folder(self) -> Path:
        return Path(RUNS) / self.name


def config_files(root: Path, kind: Kind) -> list[Path]:
    """Those that come with the workflow, and what else lies beside or below them; no hidden files, as of an editor."""
    paths = sorted((root / kind.folder).rglob("[!.]*.yaml"), key=lambda path: path.stem)
    return [path.relative_to(root) for path in paths]


def known_studies(root: Path, kind: Kind = STUDY) -> dict[str, Path]:
    """By name."""
    known: dict[str, Path] = {}
    for path in config_files(root, kind):
        if path.stem in known:
            raise ValueError(f"{path}: {known[path.stem]} has the same name; rename one of them")
        known[path.stem] = path
    return known


def default_studies(root: Path, kind: Kind = STUDY) -> dict[str, Path]:
    """Those that run if none is named: not those in folders below."""
    return {name: path for name, path in known_studies(root, kind).items() if path.parent == Path(kind.folder)}


def known_runs(root: Path) -> dict[str, Study]:
    """All of both kinds, by name of their folder in runs/; whether a name can be one is judged when it is asked for."""
    studies = [of_path(path, kind) for kind in KINDS for path in config_files(root, kind)]
    return {study.name: study for study in studies}


def chosen_studies(root: Path, words: Iterable[str], kind: Kind = STUDY) -> list[Study]:
    """The studies asked for, by name or as a config file; the default set if none is."""
    known = known_studies(root, kind)
    studies = [study_of(word, known, kind) for word in list(words) or default_studies(root, kind)]
    for place, study in enumerate(studies):
        if study.name in (other.name for other in studies[:place]):
            raise ValueError(f"{kind.word}: {study.name!r} is there twice; rename one of the files, or name it once")
    return studies


def study_of(word: str, known: dict[str, Path], kind: Kind = STUDY) -> Study:
    """A word of STUDIES or MODELS: the name of a known one, or a file of the user's own."""
    path = known.get(word, Path(word))
    if word not in known and (path.suffix != ".yaml" or not path.is_file()):
        there = f"; there are {', '.join(known)}" if known else ""
        raise ValueError(f"{kind.word}: no {kind.one} {word!r:.100} here{meant(word, list(known)) or there}")
    require_name(path.stem, str(path))
    return of_path(path, kind)


def of_path(path: Path, kind: Kind) -> Study:
    return Study(f"{kind.prefix}{path.stem}", [kind.sizes, str(path)])


def command_of(config: dict, root: Path) -> str:
    """What makes such a run in a clone of the project."""
    name, overlay = config["run"], f"{config['run']}.yaml"
    if "studies" in config["chapters"]:
        section, key = COMPARISONS["studies"]
        return (
            "make studies" if name == "studies" else f'make compare RUNS="{" ".join(config[section][key])}" RUN={name}'
        )
    if name == "atlas":
        return "make atlas"
    if name == DEFAULT:
        return "make reproduce"
    if name in known_runs(root):
        return f"make reproduce RUN={name}"
    return f"make reproduce CONFIG={'configs/' * (root / 'configs' / overlay).is_file()}{overlay}"


def require_name(name: str, what: str) -> None:
    """A name that a folder, a file of Snakemake's and a key of YAML can have, and that nothing else has."""
    if name in TAKEN or not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9-]{,49}", name):
        why = "is taken" if name in TAKEN else "is not a short name of letters, digits and -"
        raise ValueError(f"{what}: {name!r:.100} {why}; rename the file")


def folder_of(name: str) -> Path:
    """Of a finished run to be compared, from the project's folder."""
    return Path() if name == DEFAULT else Path(RUNS) / name


def write_comparison(path: Path, names: Iterable[str], missing: dict[str, str], kind: Kind = STUDY) -> None:
    """The config file of a comparison of these runs; `missing` says of others why they are not there."""
    section, key = COMPARISONS[kind.chapter]
    folders = {name.removeprefix(kind.prefix): str(folder_of(name)) for name in names}
    gone = {name.removeprefix(kind.prefix): why for name, why in missing.items()}
    content = {"chapters": [kind.chapter], section: {key: folders, "missing": gone}}
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic(path) as temporary:
        text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=1000)
        temporary.write_text(NOTE + text, encoding="utf-8")
