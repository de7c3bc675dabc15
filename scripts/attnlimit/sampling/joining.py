"""The parts of a store side by side: how the work was cut into jobs changes no bit."""

from collections.abc import Sequence

import xarray as xr


def join_parts(parts: list[xr.Dataset], dimension: str, shared: Sequence[str] = ()) -> xr.Dataset:
    """The parts in their order along `dimension`, which may be new; shared: variables that all parts have alike.

    Parts that differ in other labels, such as sizes or replicates, are refused: they are of two configs.
    """
    own = [part.drop_vars(shared) for part in parts]
    joined = xr.concat(own, dimension, join="exact", data_vars="all", coords="minimal", compat="equals")
    return joined.assign(parts[0][list(shared)])
