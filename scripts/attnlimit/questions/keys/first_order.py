"""Keys for a wanted error, by the exact first order. numpy and xarray alone: `keys_needed` takes it, too."""

import numpy as np
import xarray as xr

from attnlimit.attention.key_protocols import RELIABLE

FACTS = ("first_weight", "entropy", "effective_keys", "largest_mass", "horizon", "constant_tilt", "spread")  # of a head


def keys_by_first_order(measured: xr.Dataset, eps: float) -> xr.Dataset:
    """n(eps) = E c1 / (eps S)^2, means over queries and windows; measured: along `window`.

    reliable: whether n(eps) is at least RELIABLE * E u^2; below, a heavy key is mostly not drawn, the error is flat,
    and n(eps) says nothing.  share: of the stratum, that a cache without replacement needs, N / (N + m), N = n(eps).
    """
    mean = measured[["first_order", "second_moment", "stratum"]].mean("window")
    keys = mean["first_order"] / eps**2
    reliable = keys >= RELIABLE * mean["second_moment"]
    share = keys / (keys + mean["stratum"])
    return xr.Dataset({"keys": keys, "reliable": reliable, "share": share, "second_moment": mean["second_moment"]})


def growth_of(measured: xr.Dataset) -> xr.DataArray:
    """Power of the context that the first-order n(eps) grows with: slope of log c1/S^2 on log context, for each head.

    0: a limit in the sense of the paper, which needs as many keys whatever the context.  eps only shifts the line.
    """
    logs = np.log(measured["first_order"].mean("window").where(lambda each: each > 0))
    place = np.log(measured["context"].astype(float))
    offset = place - place.mean()
    return (offset * logs).sum("context", skipna=False) / (offset**2).sum()
