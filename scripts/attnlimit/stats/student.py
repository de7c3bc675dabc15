"""Intervals from a few independent items, such as windows of text: the jackknife with Student's law."""

from collections.abc import Callable

import numpy as np
import xarray as xr
from scipy.special import stdtrit

from attnlimit.stats.estimate import Estimate, jackknife_variance, leave_out


def jackknifed(items: np.ndarray, measure: Callable[[np.ndarray], np.ndarray]) -> Estimate:
    """measure(items), items (item, …), with its 95 % interval +- t se: se from leaving out each of the k items in turn,
    t of Student's law with k - 1 degrees of freedom.

    Of a mean this is the usual interval, exactly.  With two items t is 12.7: such an interval excludes little, and says
    so.  None, NaN, where the measure is not finite with all items or without one.
    """
    value = np.asarray(measure(items))
    if len(items) < 2:
        return Estimate.without_interval(value)
    with np.errstate(invalid="ignore"):
        reach = stdtrit(len(items) - 1, 0.975) * np.sqrt(jackknife_variance(leave_out(items, measure)))
        low, high = (
            np.where(np.isfinite(value) & np.isfinite(reach), value + side * reach, np.nan) for side in (-1, 1)
        )
    return Estimate(value, low, high)


def over_windows(
    name: str,
    data: xr.Dataset,
    measure: Callable[[xr.Dataset], xr.DataArray],
    back: Callable[[np.ndarray], np.ndarray] = np.asarray,
) -> xr.Dataset:
    """A measure of all windows with its interval, brought back from the scale on which it is made, as from logs."""
    with np.errstate(divide="ignore"):  # a window of all keys has no error
        shape = measure(data)

        def value(windows: np.ndarray) -> np.ndarray:
            return measure(data.isel(window=windows)).transpose(*shape.dims).values

        estimate = jackknifed(np.arange(data.sizes["window"]), value).map(back)
    return xr.Dataset(estimate.variables(name, shape.dims), coords=shape.coords)
