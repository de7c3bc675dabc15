"""The parts of a store side by side: how the work was cut into jobs changes no bit."""

from collections.abc import Sequence

import numpy as np
import xarray as xr

from attnlimit.theory.moments import Moments, merge_all

MOMENTS = ("output_count", "output_mean", "output_scatter")  # of the outputs of a block or a chunk, as Moments has them


def join_parts(parts: list[xr.Dataset], dimension: str, shared: Sequence[str] = ()) -> xr.Dataset:
    """The parts in their order along `dimension`, which may be new; shared: variables that all parts have alike.

    Parts that differ in other labels, such as sizes or replicates, are refused: they are of two configs.
    """
    own = [part.drop_vars(shared) for part in parts]
    joined = xr.concat(own, dimension, join="exact", data_vars="all", coords="minimal", compat="equals")
    return joined.assign(parts[0][list(shared)])


def moments_variables(found: Sequence[Moments], dimension: str, features: int) -> dict[str, tuple]:
    """Moments of blocks or chunks, for a store. A job may have none: the arrays still have all their dimensions."""
    counts = np.array([moments.count for moments in found])
    means = np.reshape([moments.mean for moments in found], (-1, features))
    scatters = np.reshape([moments.scatter for moments in found], (-1, features, features))
    dims = (dimension, "feature", "feature_2")
    return {name: (dims[: array.ndim], array) for name, array in zip(MOMENTS, (counts, means, scatters), strict=True)}


def merged_moments(joined: xr.Dataset) -> Moments:
    """Of all blocks or chunks together, merged in their order."""
    return merge_all(Moments(*each) for each in zip(*(joined[name].values for name in MOMENTS), strict=True))
