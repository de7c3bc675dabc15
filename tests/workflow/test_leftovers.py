"""Only stores of layers that nobody asks for are left over."""

import pytest

from attnlimit.workflow.leftovers import summary, unused_layers
from attnlimit.workflow.registry import declared

OF_LAYERS = [f"results/{name}.zarr.zip" for name in declared() if "{layer}" in name]
OTHERS = ("errors/layer_3.zarr.zip.txt", "rates/layer_3.zarr.zip", "errors/layer_x.zarr.zip")


def write(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"1" * 500_000)
    return path


@pytest.mark.parametrize("store", OF_LAYERS)
def test_stores_of_other_layers_are_found_and_nothing_else(tmp_path, store):
    asked, old, older = (write(tmp_path / store.format(layer=layer, part=12)) for layer in (1, 3, 13))
    for name in OTHERS:
        write(tmp_path / "results" / name)
    assert sorted(unused_layers(tmp_path, [1])) == sorted([old, older])
    assert summary([old, older]) == "2 stores of layers no longer asked for (3, 13), 1.0 MB"
    assert unused_layers(tmp_path, [1, 3]) == [older]
    assert unused_layers(tmp_path, [1, 3, 13]) == unused_layers(tmp_path / "none", [1]) == []
