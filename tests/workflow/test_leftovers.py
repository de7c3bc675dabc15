"""Only stores of layers that nobody asks for are left over."""

from attnlimit.workflow.leftovers import told, unused_layers

STORES = (
    "geometry/layer_3.zarr.zip",
    "limits/layer_13.zarr.zip",
    "limits/parts/layer_3_part_0.zarr.zip",
    "errors/parts/layer_13_part_12.zarr.zip",
)
KEPT = (
    "geometry/layer_1.zarr.zip",
    "errors/parts/layer_1_part_3.zarr.zip",
    "errors/layer_3.zarr.zip.txt",
    "rates/layer_3.zarr.zip",
    "errors/layer_x.zarr.zip",
)


def test_stores_of_other_layers_are_found_and_nothing_else(tmp_path):
    for name in (*STORES, *KEPT):
        path = tmp_path / "results" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"1" * 500_000)
    stores = unused_layers(tmp_path, [1])
    assert {str(path.relative_to(tmp_path / "results")) for path in stores} == set(STORES)
    assert told(stores) == "4 stores of layers no longer asked for (3, 13), 2.0 MB"
    assert len(unused_layers(tmp_path, [1, 3])) == 2
    assert unused_layers(tmp_path, [1, 3, 13]) == unused_layers(tmp_path / "none", [1]) == []
