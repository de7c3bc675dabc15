"""Labels that stores share. Along `head`, the last entry is the whole layer, its heads side by side."""

from typing import TypeVar

import xarray as xr

STATISTICS = ("mean", "cov", "cov_spectral")  # Euclidean, Frobenius and spectral norm of the difference to the limit
PARTS = ("error", "bias", "fluctuation")
WHOLE_LAYER = -1  # the label along `head`; what only a head has, as its horizon, is NaN there

Data = TypeVar("Data", xr.Dataset, xr.DataArray)


def with_whole_layer(heads: int) -> list[int]:
    """Labels along `head` of so many heads and, last, the whole layer."""
    return [*range(heads), WHOLE_LAYER]


def heads_only(data: Data) -> Data:
    """The heads, without the whole layer; what has none stays as it is."""
    return data.isel(head=slice(-1)) if "head" in data.dims and data["head"].values[-1] == WHOLE_LAYER else data


def whole_layer(data: Data) -> Data:
    """The whole layer, without `head`."""
    return data.sel(head=WHOLE_LAYER, drop=True)
