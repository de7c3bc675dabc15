"""Stores of layers that the config no longer asks for: named by `make plan`, removed by `make tidy`."""

import re
from collections.abc import Iterable
from pathlib import Path

from attnlimit.workflow.amounts import counted

LAYER_STORE = re.compile(r"layer_(\d+)(_part_\d+)?\.zarr\.zip")
FOLDERS = ("geometry", "tails", "limits", "limits/parts", "errors", "errors/parts", "contexts/parts")


def unused_layers(folder: Path, layers: Iterable[int]) -> list[Path]:
    """Stores below results/ of a run's folder that belong to one layer, which is not among `layers`."""
    asked = set(layers)
    stores = [path for name in FOLDERS for path in sorted((folder / "results" / name).glob("layer_*.zarr.zip"))]
    return [path for path in stores if layer_of(path) not in asked | {None}]


def layer_of(store: Path) -> int | None:
    found = LAYER_STORE.fullmatch(store.name)
    return int(found[1]) if found else None


def told(stores: list[Path]) -> str:
    """How many, of which layers, how large."""
    layers = sorted({layer for path in stores if (layer := layer_of(path)) is not None})
    size = sum(path.stat().st_size for path in stores)
    of_layers = f"of layers no longer asked for ({', '.join(map(str, layers))})"
    return f"{counted(len(stores), 'store')} {of_layers}, {size / 1e6:.1f} MB"
