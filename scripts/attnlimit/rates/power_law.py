"""From errors to a rate: weighted log-log fit, bias and fluctuation apart, bootstrap. numpy only."""

from typing import NamedTuple

import numpy as np

FEWEST_POINTS = 3
LOCAL = ("local_slope", "local_slope_low", "local_slope_high")  # between neighbouring sizes
ROUNDING = 2.0**-48  # relative, of a value and its logarithm: a deviation below this is no noise
FLOORS_ABOVE_NOISE = 2  # a bias counts as seen where it stands this many noise floors high


class Curve(NamedTuple):
    """One decaying quantity at each sample size, with what its fit needs."""

    value: np.ndarray  # (…, n)
    relative_variance: np.ndarray  # (…, n): of the value, over its square
    resampled: np.ndarray  # (draw, …, n): the value in bootstrap draws


class Bootstrap(NamedTuple):
    """How to resample: number of draws, whether jointly over n, random stream."""

    draws: int
    joint: bool
    generator: np.random.Generator


def fit(sizes: np.ndarray, value: np.ndarray, relative_variance: np.ndarray) -> dict[str, np.ndarray]:
    """Weighted least squares of log(value) on log(n), weight 1/relative_variance; value (…, n).

    beta is minus the slope.  se: for known variances;  se_scaled: the same times sqrt(chi2 / dof).  Both, and chi2,
    take the sizes for independent; errors at nested sizes are correlated, which makes all three too small: there only
    the bootstrap interval is honest.  Points whose value is not positive or
    not finite are left out; with fewer than three left the fit is NaN.  Points without noise: see `least_variance`.
    """
    use = np.isfinite(value) & (value > 0) & np.isfinite(relative_variance) & (relative_variance >= 0)
    variance = np.maximum(relative_variance, least_variance(relative_variance, use)[..., None])
    weight = np.divide(1, variance, where=use, out=np.zeros(np.broadcast(value, relative_variance).shape))
    log_value = np.log(value, where=use, out=np.zeros(value.shape))
    log_size = np.log(sizes)
    with np.errstate(invalid="ignore", divide="ignore"):
        total = weight.sum(-1)
        centre = (weight * log_size).sum(-1) / total
        offset = log_size - centre[..., None]
        spread = (weight * offset**2).sum(-1)
        slope = (weight * offset * log_value).sum(-1) / spread
        average = (weight * log_value).sum(-1) / total
        residual = log_value - average[..., None] - slope[..., None] * offset
        chi2 = (weight * residual**2).sum(-1)
        dof = use.sum(-1) - 2
        result = {
            "beta": -slope,
            "intercept": average - slope * centre,
            "se": spread**-0.5,
            "se_scaled": np.sqrt(chi2 / dof / spread),
            "chi2": chi2,
            "dof": dof,
        }
    enough = use.sum(-1) >= FEWEST_POINTS
    return {name: np.where(enough, numbers, np.nan) for name, numbers in result.items()}


def least_variance(relative_variance: np.ndarray, use: np.ndarray) -> np.ndarray:
    """The variance of points without noise (…): that of the least noisy point in use, ROUNDING^2 if none has noise.

    A variance of 0 would have an infinite weight.  Replicates that agree at some n are no proof that the value there
    is exact, so that it counts as much as the best of the others; if they agree at all n, all count the same, which is
    an ordinary least-squares fit, and chi2 measures residuals by rounding.
    """
    noisy = use & (relative_variance > ROUNDING**2)
    least = np.where(noisy, relative_variance, np.inf).min(-1)
    return np.where(np.isfinite(least), least, ROUNDING**2)


def fit_curve(sizes: np.ndarray, curve: Curve) -> dict[str, np.ndarray]:
    """The fit and the slopes between neighbouring sizes, with 95 % bootstrap intervals (weights as in the fit)."""
    result = fit(sizes, curve.value, curve.relative_variance)
    drawn = fit(sizes, curve.resampled, np.broadcast_to(curve.relative_variance, curve.resampled.shape))["beta"]
    slopes = local_slopes(sizes, curve.value)
    beta_low, beta_high = interval(result["beta"], drawn)
    ends = interval(slopes, local_slopes(sizes, curve.resampled))
    return result | {"beta_low": beta_low, "beta_high": beta_high} | dict(zip(LOCAL, (slopes, *ends), strict=True))


def interval(estimate: np.ndarray, drawn: np.ndarray) -> np.ndarray:
    """2.5 and 97.5 percentiles (2, …) of bootstrap draws (draw, …) of an estimate (…); NaN where there is none.

    A draw without a number, as of a bias that fell below zero, is left out.
    """
    exists = np.isfinite(estimate)
    return np.where(exists, np.nanpercentile(np.where(exists, drawn, 0), [2.5, 97.5], axis=0), np.nan)


def local_slopes(sizes: np.ndarray, value: np.ndarray) -> np.ndarray:
    """beta between neighbouring sizes: (…, n) -> (…, n - 1)."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return -np.diff(np.log(value), axis=-1) / np.diff(np.log(sizes))


def resampling(items: int, sizes: int, bootstrap: Bootstrap) -> np.ndarray:
    """Bootstrap weights (draw, n, item): the same items at every n if one draw served all sizes, else their own."""
    shape = (bootstrap.draws, 1 if bootstrap.joint else sizes)
    weights = bootstrap.generator.multinomial(items, np.full(items, 1 / items), size=shape) / items
    return np.broadcast_to(weights, (bootstrap.draws, sizes, items))


def error_curve(errors: np.ndarray, bootstrap: Bootstrap) -> Curve:
    """Mean error over replicates: errors (unit, replicate, n)."""
    _, replicates, sizes = errors.shape
    value = errors.mean(1)
    relative_variance = errors.var(1) / replicates / value**2
    resampled = np.einsum("urn,dnr->dun", errors, resampling(replicates, sizes, bootstrap), optimize=True)
    return Curve(value, relative_variance, resampled)


def bias_and_fluctuation(errors: np.ndarray, gram: np.ndarray, bootstrap: Bootstrap) -> tuple[Curve, Curve, np.ndarray]:
    """Split E||d||^2 = ||E d||^2 + E||d - E d||^2 for the differences d of the k replicates; also the noise floor.

    errors (unit, replicate, n) are the norms ||d_r||; gram (unit, n, group, group) the inner products of the means
    of d over groups of as many replicates each.  With m the mean of all d:
    ||m||^2 is the mean of gram;  the mean of ||d_r - m||^2 over a group is that of ||d_r||^2, less twice <d_g, m>,
    plus ||m||^2.  ||m|| itself holds noise of size floor = fluctuation / sqrt(k), which is taken off in squares; from
    the first n at which it is below twice the floor, the bias is not seen (NaN): later points that rise above it again
    are those that fluctuated up.  Groups are resampled whole, which adds the same noise once more.
    """
    units, replicates, sizes = errors.shape
    groups = gram.shape[-1]
    squares = (errors**2).reshape(units, groups, -1, sizes).mean(2).swapaxes(1, 2)  # (unit, n, group)
    along = gram.mean(-1)  # (unit, n, group): <d_g, m>
    norm2 = along.mean(-1)  # (unit, n): ||m||^2
    scatter = (squares - 2 * along + norm2[..., None]) * replicates / (replicates - 1)  # (unit, n, group)
    fluctuation2 = scatter.mean(-1)
    floor2 = fluctuation2 / replicates
    seen = np.logical_and.accumulate(norm2 > FLOORS_ABOVE_NOISE**2 * floor2, axis=-1)
    bias2 = np.where(seen, norm2 - floor2, np.nan)

    weights = resampling(groups, sizes, bootstrap)  # (draw, n, group)
    drawn_norm2 = np.einsum("dng,unge,dne->dun", weights, gram, weights, optimize=True)
    drawn_squares = np.einsum("dng,ung->dun", weights, squares)
    drawn_fluctuation2 = (drawn_squares - drawn_norm2) * replicates / (replicates - 1)
    drawn_bias2 = np.where(seen, drawn_norm2 - 2 * floor2, np.nan)

    with np.errstate(invalid="ignore", divide="ignore"):
        bias_variance = along.var(-1) / norm2 / (groups - 1)  # of m along itself
        bias = Curve(np.sqrt(bias2), bias_variance * norm2 / bias2**2, np.sqrt(drawn_bias2))
        fluctuation_variance = scatter.var(-1) / (groups - 1) / (4 * fluctuation2**2)
        fluctuation = Curve(np.sqrt(fluctuation2), fluctuation_variance, np.sqrt(drawn_fluctuation2))
    return bias, fluctuation, np.sqrt(floor2)


def fit_statistic(
    sizes: np.ndarray, errors: np.ndarray, gram: np.ndarray | None, bootstrap: Bootstrap
) -> dict[str, np.ndarray]:
    """Fits of one statistic, arrays (part, unit, …) with parts in the order of PARTS; without gram only the error."""
    error = error_curve(errors, bootstrap)
    if gram is None:
        nothing = Curve(*(np.full_like(array, np.nan) for array in error))
        bias, fluctuation, floor = nothing, nothing, nothing.value
    else:
        bias, fluctuation, floor = bias_and_fluctuation(errors, gram, bootstrap)
    curves = (error, bias, fluctuation)
    fits = [fit_curve(sizes, curve) for curve in curves]
    return {name: np.stack([fit[name] for fit in fits]) for name in fits[0]} | {
        "value": np.stack([curve.value for curve in curves]),
        "value_se": np.stack([curve.value * np.sqrt(curve.relative_variance) for curve in curves]),
        "noise_floor": np.stack([np.full_like(floor, np.nan), floor, np.full_like(floor, np.nan)]),
    }
