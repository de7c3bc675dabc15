"""Heads and the whole layer: one array becomes two variables, and the whole comes back under the names of the heads."""

import numpy as np
import pytest
import xarray as xr

from attnlimit.base.coordinates import as_whole_layer, by_head, is_whole, whole_layer

VALUES = np.arange(2 * 4 * 3.0).reshape(2, 4, 3)  # three heads and the whole layer


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_the_last_entry_along_head_is_the_whole_layer(axis):
    dims = ["statistic", "n"]
    dims.insert(axis, "head")
    values = np.moveaxis(VALUES, 1, axis)
    data = xr.Dataset(by_head("error", tuple(dims), values))
    assert data["error"].dims == tuple(dims) and data["layer_error"].dims == ("statistic", "n")
    assert dict(data.sizes) == {"statistic": 2, "head": 3, "n": 3}
    np.testing.assert_array_equal(data["error"].transpose("statistic", "head", "n"), VALUES[:, :3])
    np.testing.assert_array_equal(data["layer_error"], VALUES[:, 3])


def test_one_number_a_head_leaves_one_number_for_the_layer():
    data = xr.Dataset(by_head("scale", ("head",), np.array([1.0, 2.0, 5.0])))
    assert data["layer_scale"].shape == () and data["layer_scale"] == 5
    np.testing.assert_array_equal(data["scale"], [1, 2])


def both() -> xr.Dataset:
    """A store with variables of heads and of the whole layer, and one that is the layer's own."""
    data = xr.Dataset(by_head("error", ("statistic", "head", "n"), VALUES) | {"horizon": ("head", [0.1, 0.2, 0.3])})
    return data.assign_coords(statistic=["mean", "cov"], head=range(3), n=[8, 16, 32]).assign_attrs(source="heads")


def test_the_whole_layer_has_the_names_of_the_heads_and_no_heads():
    whole = whole_layer(both())
    assert set(whole.data_vars) == {"error"} and set(whole.coords) == {"statistic", "n"}
    np.testing.assert_array_equal(whole["error"].sel(statistic="cov"), VALUES[1, 3])
    assert whole.attrs == {"source": "heads"}


def test_there_and_back_is_the_same():
    data = both()
    back = as_whole_layer(whole_layer(data))
    xr.testing.assert_identical(back, data[["layer_error"]].drop_vars("head", errors="ignore"))
    xr.testing.assert_identical(data[["error", "horizon"]].merge(back), data)
    xr.testing.assert_identical(whole_layer(back), whole_layer(data))


def test_only_variables_of_the_whole_layer_are_called_so():
    assert [name for name in both().variables if is_whole(name)] == ["layer_error"]
    assert not is_whole("layer")  # the coordinate
