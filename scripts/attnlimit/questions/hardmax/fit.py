"""What the replicates of the hardmax say, beside the exact expectation: means with their errors, slopes, powers."""

from collections.abc import Callable

import numpy as np
import xarray as xr

from attnlimit.stats.power_law import local_slopes
from attnlimit.theory.hardmax import hardmax_error, hardmax_proposition

POINTS = 10  # of the exact curve, for a factor of ten in ln n
FIRST = 2.0  # log10 of its smallest n
INTEGERS = 15.0  # log10 of n below which n is rounded to an integer

Expectation = Callable[[float, float], float]  # of ln n and sigma: E|mean_n|


def decay(errors: xr.DataArray) -> xr.Dataset:
    """Mean of {name}_error (…, n, replicate), its standard error, and how it falls between neighbouring n.

    local_slope: as a power of n;  local_power: as a power of ln n.
    """
    name, (*units, along, _) = str(errors.name).removesuffix("_error"), errors.dims
    sizes, value = errors[along].values, errors.values.mean(-1)
    interval = (*units, f"{along}_interval")
    return xr.Dataset(
        {
            f"{name}_value": ((*units, along), value),
            f"{name}_value_se": ((*units, along), errors.values.std(-1) / np.sqrt(errors.shape[-1])),
            f"{name}_local_slope": (interval, local_slopes(sizes, value)),
            f"{name}_local_power": (interval, local_slopes(np.log(sizes), value)),
        },
        coords={axis: errors[axis] for axis in (*units, along)},
    )


def exact_decay(largest: float, sigma: float, expectation: Expectation = hardmax_error) -> xr.Dataset:
    """E|mean_n| from n = 100 to 10^largest, evenly in ln ln n, d = 1: exact, its ratio to Proposition 5.1, its powers.

    exact_local_power tends to 1/2 if E|mean_n| falls like 1/sqrt(ln n); exact_local_slope tends to 0 for every power
    of ln n, and to a for n^-a.
    """
    decades = np.geomspace(FIRST, largest, int(np.ceil(POINTS * np.log10(largest / FIRST))) + 1)
    small = decades < INTEGERS
    decades[small] = np.log10(np.round(10 ** decades[small]))
    log_n = np.log(10) * decades
    exact = np.array([expectation(each, sigma) for each in log_n])
    return xr.Dataset(
        {
            "exact_value": ("decades", exact),
            "exact_ratio": ("decades", exact / hardmax_proposition(log_n, sigma)),
            "exact_local_power": ("decades_interval", local_slopes(log_n, exact)),
            "exact_local_slope": ("decades_interval", -np.diff(np.log(exact)) / np.diff(log_n)),
        },
        coords={"decades": decades},
    )


def hardmax_summary(errors: xr.Dataset, largest: float, expectation: Expectation = hardmax_error) -> xr.Dataset:
    """The decay of each simulation, and of the exact expectation, d = 1, up to n = 10^largest.

    expected, proposition: at the n of the simulation;  ratio: exact over proposed;  line_ratio: drawn over exact.
    """
    sigma, log_n = errors.attrs["sigma"], np.log(errors["n"].values)
    drawn = xr.merge([decay(errors[name]) for name in ("line_error", "plane_error", "direct_error")])
    expected = np.array([expectation(each, sigma) for each in log_n])
    proposition = hardmax_proposition(log_n, sigma)
    return xr.merge([drawn, exact_decay(largest, sigma, expectation)]).assign(
        expected=("n", expected),
        proposition=("n", proposition),
        ratio=("n", expected / proposition),
        line_ratio=("n", drawn["line_value"].values / expected),
        line_ratio_se=("n", drawn["line_value_se"].values / expected),
    )
