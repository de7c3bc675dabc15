"""The whole layer as the last entry along `head`."""

import numpy as np
import xarray as xr

from attnlimit.base.coordinates import WHOLE_LAYER, heads_only, whole_layer, with_whole_layer

DATA = xr.Dataset(
    {"error": (("statistic", "head"), np.arange(8.0).reshape(2, 4)), "rank": 7.0}, coords={"head": with_whole_layer(3)}
)


def test_heads_and_whole_layer_are_told_apart_by_label():
    np.testing.assert_array_equal(heads_only(DATA)["error"], DATA["error"].values[:, :3])
    np.testing.assert_array_equal(whole_layer(DATA)["error"], DATA["error"].values[:, 3])
    assert heads_only(DATA)["head"].values.tolist() == [0, 1, 2] and "head" not in whole_layer(DATA).variables
    assert whole_layer(DATA)["rank"] == 7  # of a layer, whatever the head
    assert DATA["error"].sel(head=2, statistic=1) == 6 and DATA["error"].sel(head=WHOLE_LAYER, statistic=1) == 7


def test_what_has_no_whole_layer_stays_as_it_is():
    for data in (heads_only(DATA), DATA[["rank"]]):
        assert heads_only(data).identical(data)
