"""Errors that first order predicts, beside those measured: root mean squares both, nothing fitted."""

import numpy as np
import xarray as xr

from attnlimit.stats.complexity import SHARES
from attnlimit.stats.power_law import interval, levels, local_slopes

MOST = 1e15  # tokens: as far as n(eps) is looked for


def mean_square(constants: xr.Dataset, sizes: np.ndarray | xr.DataArray) -> xr.DataArray:
    """Predicted mean squared errors: c/n of the mean, c/n + (||B||^2 + V2) / (n + kappa - 1)^2 of the covariance.

    The second order itself has 1/n^2: the damping by kappa, without which it is far too large for n below kappa, is a
    heuristic. Cross terms of that order are left out. A product of two halves below 0 is noise about a small ||B||^2.
    """
    second = (constants["bias_squared"].clip(min=0) + constants["second_variance"]) / (
        sizes + constants["kappa"] - 1
    ) ** 2
    return constants["constant"] / sizes + second.where(constants["statistic"] == "cov", 0.0)


def tokens_predicted(constants: xr.Dataset, scale: xr.DataArray) -> xr.DataArray:
    """n at which the predicted error is eps of its scale, by bisection in ln n: it falls with n."""
    level = (xr.DataArray(list(SHARES), dims="eps", coords={"eps": list(SHARES)}) * scale) ** 2
    low, high = xr.zeros_like(level), xr.full_like(level, np.log(MOST))
    for _ in range(60):
        middle = (low + high) / 2
        above = mean_square(constants, np.exp(middle)) > level
        low, high = low.where(~above, middle), high.where(above, middle)
    return xr.apply_ufunc(np.exp, high).where(constants["constant"].notnull())


def slope(sizes: np.ndarray, error: np.ndarray) -> np.ndarray:
    """Minus the plain slope of log error on log n, (…, n) -> (…): the same for predicted and measured errors."""
    steps = np.log(sizes) - np.log(sizes).mean()
    return -(np.log(error) @ steps) / (steps @ steps)


def compared(constants: xr.Dataset, errors: xr.Dataset, expansion: float, draws: int, stream) -> xr.Dataset:
    """Predicted and measured errors of a layer (statistic, head, n), their ratio, slopes, n(eps).

    Intervals resample replicates, jointly over heads and sizes, which share their draws, and vary the constant by its
    standard error. Without replacement errors shrink by (N - n) / (N - 1), the predicted ones too.
    """
    sizes, statistics = errors["n"].values, constants["statistic"].values
    order = ("replicate", "statistic", "head", "n")
    squares = errors["error"].sel(statistic=statistics).transpose(*order).values ** 2
    replicates = len(squares)
    weights = stream.multinomial(replicates, np.full(replicates, 1 / replicates), size=draws) / replicates
    again = np.sqrt(np.tensordot(weights, squares, 1))  # (draw, statistic, head, n)
    expected = mean_square(constants, errors["n"]).transpose(*order[1:])
    if not errors.attrs.get("replacement", True):
        population = errors.attrs["population"]
        expected = expected * (population - errors["n"]) / (population - 1)
    predicted, measured = np.sqrt(expected.where(expected > 0).values), np.sqrt(squares.mean(0))
    spread = (constants["constant_se"] / (2 * constants["constant"])).values  # of ln error
    varied = predicted * np.exp(stream.normal(size=(draws, *spread.shape)) * spread)[..., None]
    ratios, at = varied / again, levels(replicates)
    units, sized = ("statistic", "head"), ("statistic", "head", "n")
    scale = errors["limit_scale"].sel(statistic=statistics)
    found: dict[str, tuple] = {"predicted": (sized, predicted), "measured": (sized, measured)}
    for name, dims, estimate, drawn in (
        ("ratio", sized, predicted / measured, ratios),
        ("slope", units, slope(sizes, measured), slope(sizes, again)),
    ):
        found |= interval(estimate, drawn, at).variables(name, dims)
    usable = constants["kappa"] / expansion
    return (
        constants.assign_coords(n=sizes)
        .assign(found)
        .assign(
            ratio_resampled=(("draw", *units), ratios[..., -1]),
            predicted_slope=(units, slope(sizes, predicted)),
            predicted_local_slope=((*units, "interval"), local_slopes(sizes, predicted)),
            limit_scale=scale,
            tokens_predicted=tokens_predicted(constants, scale),
            usable_from=usable,
            few_tokens=usable > sizes[-1],
        )
    )
