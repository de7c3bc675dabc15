"""Stores of layers that the config no longer asks for: named by `make plan`, removed by `make tidy`."""

import re
from collections.abc import Iterable
from pathlib import Path

LAYER_STORE = re.compile(r"layer_(\d+)(_part_\d+)?\.zarr\.zip")
FOLDERS = ("geometry", "tails", "limits", "limits/parts", "errors", "errors/parts")


def unused_layers(folder: Path, layers: Iterable[int]) -> list[Path]:
    """Stores below results/ of a run's folder that belong to one layer, which is not among `layers`."""
    asked, stores = set(layers), []
    for name in FOLDERS:
        for path in sorted((folder / "results" / name).glob("layer_*.zarr.zip")):
            found = LAYER_STORE.fullmatch(path.name)
            if found and int(found[1]) not in asked:
                stores.append(path)
    return stores


def told(stores: list[Path]) -> str:
    """How many, of which layers, how large."""
    layers = sorted({int(LAYER_STORE.fullmatch(path.name)[1]) for path in stores})
    size = sum(path.stat().st_size for path in stores)
    return f"{len(stores)} stores of layers no longer asked for ({', '.join(map(str, layers))}), {size / 1e6:.1f} MB"
