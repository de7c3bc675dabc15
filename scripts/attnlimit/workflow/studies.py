"""The runs that a comparison or the atlas reads, and which of their stores. PyYAML and the standard library only."""

import os
from pathlib import Path

from attnlimit.workflow.folders import ARCHIVE, RESOLVED, read_state
from attnlimit.workflow.overlays import read_overlay

SETTINGS = (RESOLVED, "provenance/config.yaml", "config.yaml")  # of a run of its own, a restored one, the default run
NEEDED = ("heads", "tails")  # chapters
ENTRY = ("entry",)  # chapter that the atlas needs
RATES = "results/rates/heads.zarr.zip"
KEYS, COUPLINGS = "results/rates/keys.zarr.zip", "results/atlas/couplings.zarr.zip"
PARTS = ("tails", "errors")  # folders of stores, one a layer
OPTIONAL = "interventions"  # chapter, and the store of its fits: read where a run has it
AGAIN = "run it again to its end"


def study_folder(folder: str, root: Path) -> Path:
    """The folder of a study as seen from the current one; in the config it counts from the project's, `root`."""
    path = Path(folder).expanduser()
    return path if path.is_absolute() else Path(os.path.relpath(root.resolve() / path))


def study_inputs(folder: str, root: Path, absent: bool = False) -> dict[str, list[str]]:
    """The stores of a finished run that a comparison reads: rates, tails and errors of each layer, interventions.

    Raise ValueError unless it is one, with the chapters that are needed.  Its layers are those of its settings, not
    the files that lie there: some may be left over from before.  absent: a comparison restored from an archive, without
    its studies, which are not needed until one of them changes.
    """
    place = study_folder(folder, root)
    if absent:
        return {"rates": [str(place / RATES)], **dict.fromkeys((*PARTS, OPTIONAL), [])}
    settings = finished_settings(folder, place, NEEDED)
    layers = [f"layer_{layer}.zarr.zip" for layer in settings["layers"]]
    files = {"rates": [place / RATES]} | {name: [place / "results" / name / each for each in layers] for name in PARTS}
    files[OPTIONAL] = [place / f"results/rates/{OPTIONAL}.zarr.zip"] if OPTIONAL in settings["chapters"] else []
    return required(files, folder, place)


def entry_inputs(folder: str, root: Path, absent: bool = False) -> dict[str, list[str]]:
    """The stores of a finished run that the atlas reads: keys of a context, and couplings.  absent: see above."""
    place = study_folder(folder, root)
    files = {"rates": [place / KEYS], "couplings": [place / COUPLINGS]}
    if absent:
        return {name: list(map(str, paths)) for name, paths in files.items()}
    finished_settings(folder, place, ENTRY)
    return required(files, folder, place)


INPUTS = {"studies": study_inputs, "atlas": entry_inputs}  # by chapter


def finished_settings(folder: str, place: Path, needed: tuple[str, ...]) -> dict:
    """The settings of a run; refused unless it is finished and has the chapters that are needed."""
    settings = settings_of(place)
    if settings is None or not is_finished(place):
        raise ValueError(f"{folder!r:.200} is not a finished run; name one, such as runs/code, or {AGAIN}")
    if lacking := [name for name in needed if name not in settings["chapters"]]:
        raise ValueError(f"{folder!r:.200} has no chapter {lacking[0]}; add it to `chapters` of that run, and {AGAIN}")
    return settings


def required(files: dict[str, list[Path]], folder: str, place: Path) -> dict[str, list[str]]:
    """The same as text, unless a file is not there."""
    for path in (path for paths in files.values() for path in paths):
        if not path.is_file():
            raise ValueError(f"{folder!r:.200} has no {path.relative_to(place)}; {AGAIN}")
    return {name: list(map(str, paths)) for name, paths in files.items()}


def settings_of(place: Path) -> dict | None:
    """The settings that the run in a folder has, or had; None if there are none."""
    found = [place / name for name in SETTINGS if (place / name).is_file()]
    settings = read_overlay(found[0]) if found else {}
    return settings if {"chapters", "layers"} <= set(settings) else None


def is_finished(place: Path) -> bool:
    """As it noted itself; without notes, as in a folder restored from an archive, if it holds what the end makes."""
    noted = read_state(place).get("state")
    return noted == "finished" if noted else any((place / name).is_file() for name in (ARCHIVE, SETTINGS[1]))
