"""Labels that stores share, and the variables of a whole layer beside those of its heads."""

from collections.abc import Hashable

import numpy as np
import xarray as xr

STATISTICS = ("mean", "cov", "cov_spectral")  # Euclidean, Frobenius and spectral norm of the difference to the limit
PARTS = ("error", "bias", "fluctuation")
WHOLE = "layer_"  # before the name of a variable: of the whole layer, its heads side by side


def by_head(name: str, dims: tuple[str, ...], values: np.ndarray) -> dict[str, tuple]:
    """Two variables from one array whose last entry along `head` is the whole layer: name (dims) and layer_name."""
    axis = dims.index("head")
    heads, whole = np.split(values, [values.shape[axis] - 1], axis)
    return {name: (dims, heads), WHOLE + name: (dims[:axis] + dims[axis + 1 :], whole.squeeze(axis))}


def whole_layer(dataset: xr.Dataset) -> xr.Dataset:
    """The variables of the whole layer, under the names that those of the heads have."""
    names = {name: str(name).removeprefix(WHOLE) for name in dataset.data_vars if is_whole(name)}
    return dataset[list(names)].rename(names).assign_attrs(dataset.attrs)


def as_whole_layer(dataset: xr.Dataset) -> xr.Dataset:
    """The other way round: the variables renamed as those of a whole layer."""
    return dataset.rename({name: f"{WHOLE}{name}" for name in dataset.data_vars})


def is_whole(name: Hashable) -> bool:
    return str(name).startswith(WHOLE)
