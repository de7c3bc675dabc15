"""Stores of layers that the config no longer asks for: named by `make plan`, removed by `make tidy`."""

import re
from collections.abc import Iterable
from pathlib import Path

from attnlimit.base.log import counted
from attnlimit.workflow.registry import declared

ENDING = ".zarr.zip"


def unused_layers(folder: Path, layers: Iterable[int]) -> list[Path]:
    """Stores in results/ of a run's folder that belong to one layer, which is not among `layers`."""
    asked = set(layers)
    stores = [path for name in declared() if "{layer}" in name for path in files_of(folder, name)]
    return [path for path in stores if layer_of(path) not in asked]


def files_of(folder: Path, store: str) -> list[Path]:
    """Files of a declared store, whose wildcards are numbers."""
    place = folder / "results" / f"{store}{ENDING}"
    numbered = re.compile(re.sub(r"\\\{\w+\\\}", r"\\d+", re.escape(place.name)))
    return sorted(path for path in place.parent.glob(f"*{ENDING}") if numbered.fullmatch(path.name))


def layer_of(store: Path) -> int:
    return int(re.findall(r"layer_(\d+)", store.name)[0])


def summary(stores: list[Path]) -> str:
    """How many, of which layers, how large."""
    layers = sorted({layer_of(path) for path in stores})
    size = sum(path.stat().st_size for path in stores)
    of_layers = f"of layers no longer asked for ({', '.join(map(str, layers))})"
    return f"{counted(len(stores), 'store')} {of_layers}, {size / 1e6:.1f} MB"
