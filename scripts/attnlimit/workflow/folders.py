"""The folder of a run: where it is, which settings it has, how far it got.

The default run is in the project's folder itself. Any other is in runs/<name>/, which is the working directory of its
jobs: results/, Snakemake's records and the settings as resolved lie there. PyYAML and the standard library only.
"""

import json
import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import yaml

from attnlimit.base.files import atomic
from attnlimit.sources.corpus.location import perturbed_name
from attnlimit.sources.model.files import EMBEDDED
from attnlimit.workflow.holder import hold

# Chapters that read finished runs: the section of the config that names them, and its key.
COMPARISONS = {"studies": ("compare_studies", "studies"), "atlas": ("compare_atlas", "models")}
RUNS = "runs"
RESOLVED = "config.resolved.yaml"
STATE = Path("results/logs/run.json")
ARCHIVE = Path("results/attnlimit.tar.zst")
MADE_OF = "# made of: "


def begin_run(config: dict, root: Path, overlays: Iterable[Path]) -> None:
    """Note in the current folder that a run of these settings has begun; config.resolved.yaml only in a run's own."""
    hold(Path(), os.getpid())
    write_state(Path(), {"began": date(), **described(config), "state": "unfinished"})
    if Path.cwd() == root.resolve():
        return
    names = [name_in(root, path) for path in overlays]
    if Path(RESOLVED).resolve() in (Path(path).resolve() for path in overlays):
        return  # it goes on with its own settings
    plain = json.loads(json.dumps(config))  # no ordered dicts, which YAML would mark as such
    with atomic(RESOLVED) as temporary:
        text = yaml.safe_dump(plain, sort_keys=False, allow_unicode=True)
        temporary.write_text(f"{MADE_OF}{json.dumps(names)}\n{text}", encoding="utf-8")


def end_run(state: str, folder: Path = Path()) -> None:
    """Note how the run in a folder ended: finished, unfinished or failed."""
    write_state(folder, read_state(folder) | {"ended": date(), "state": state})


def write_state(folder: Path, facts: dict) -> None:
    (folder / STATE).parent.mkdir(parents=True, exist_ok=True)
    with atomic(folder / STATE) as temporary:
        temporary.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


def read_state(folder: Path) -> dict:
    """What was noted of the run in a folder; {} if nothing was."""
    path = folder / STATE
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def date(seconds: float | None = None) -> str:
    """Of a time since 1970, else now."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


def described(config: dict) -> dict:
    """What tells one run from another at a glance; of a comparison, what it compares."""
    for chapter, (section, key) in COMPARISONS.items():
        if chapter in config["chapters"]:
            return {"model": "", "text": f"comparison: {', '.join(config[section][key])}", "population": ""}
    model, corpus = config["fetch_model"], config["fetch_corpus"]
    text = "Wikipedia excerpt" if corpus["source"] == "excerpt" else label(corpus)
    return {
        "model": EMBEDDED["name"] if model["source"] == "embedded" else label(model),
        "text": perturbed_name(text, corpus.get("perturb", "none")),  # settings of an older archive have no such key
        "population": config["tokenize_corpus"]["population"],
    }


def label(section: dict) -> str:
    """Its title; without one a name on the hub or in the index as it is, of a file, a folder or a URL the last part."""
    named = section["source"] in ("hub", "package")
    last = section["location"] if named else section["location"].rstrip("/").rsplit("/", 1)[-1]
    return section.get("title") or last


def name_in(root: Path, path: Path) -> str:
    """A file as seen from the project's folder; absolute if it is elsewhere."""
    path = Path(path).resolve()
    return str(path.relative_to(root.resolve())) if path.is_relative_to(root.resolve()) else str(path)


def made_of(folder: Path) -> list[str] | None:
    """The config files that a run in this folder was made of; None if there was none."""
    path = folder / RESOLVED
    if not path.is_file():
        return None
    with path.open(encoding="utf-8") as stream:
        first = stream.readline()
    if not first.startswith(MADE_OF):
        raise ValueError(f"{path}: its first line does not name the config files; give another folder with RUN=…")
    return json.loads(first.removeprefix(MADE_OF))


def overlays_of(root: Path, folder: Path, given: list[str]) -> list[Path]:
    """The config files of a run: those given, else those of its last time; refuse a folder that belongs to others.

    So a name that two config files share never lets one overwrite the results of the other.
    """
    before = made_of(folder) if folder.resolve() != root.resolve() else []
    own = name_in(root, folder / RESOLVED)
    if before is None and not given:
        raise ValueError(f"{folder}: no run began here, so nothing says which settings it has; name them with CONFIG=…")
    names = [name_in(root, Path(name)) for name in given] or before or []
    for name in names:
        if not (root / name).is_file():
            what = "no such file" if given else f"no such file any more; CONFIG={own} has the settings of its last time"
            raise FileNotFoundError(f"{name}: {what}")
    if before is not None and names not in (before, [own]):
        raise ValueError(
            f"{folder}: holds a run of {', '.join(before) or 'config.yaml'}, not of {', '.join(names)}; "
            "name another folder with RUN=…"
        )
    return [root / name for name in names]


class Run(NamedTuple):
    """One line of `make runs`."""

    folder: str
    state: str
    date: str
    model: str
    text: str
    population: str


def list_runs(root: Path) -> list[Run]:
    """The default run, if there is one, and all below runs/, by name."""
    folders = [root, *sorted(path for path in (root / RUNS).glob("*") if path.is_dir())]
    return [summary(root, folder) for folder in folders if has_results(folder)]


def has_results(folder: Path) -> bool:
    """Whether anything was made in it: a clone has a README in results/."""
    return any(path.name != "README.md" for path in (folder / "results").glob("*"))


def summary(root: Path, folder: Path) -> Run:
    """What was noted of a run; without a note, as in a folder restored from an archive, what its files tell."""
    noted = read_state(folder)
    if not noted:
        archive = folder / ARCHIVE
        settings = folder / (RESOLVED if folder != root else "config.yaml")
        noted = {"state": "finished" if archive.is_file() else "unfinished"}
        if archive.is_file():
            noted["ended"] = date(archive.stat().st_mtime)
        if settings.is_file():
            noted |= described(yaml.safe_load(settings.read_text(encoding="utf-8")))
    ended = noted.get("ended") or noted.get("began", "")
    name = "results" if folder == root else str(folder.relative_to(root))
    return Run(name, noted["state"], ended, *(str(noted.get(key, "")) for key in ("model", "text", "population")))
