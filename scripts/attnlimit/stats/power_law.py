"""From errors to a rate: weighted log-log fit, bias and fluctuation apart, bootstrap."""

from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, stdtrit

from attnlimit.base.parts import FEWEST_POINTS
from attnlimit.stats.estimate import ENDS, Estimate

BETA, LOCAL = (tuple(name + end for end in ENDS) for name in ("beta", "local_slope"))  # local: between sizes
LATE_FACTOR = 3  # the late slope is taken over at least this factor of n
ROUNDING = 2.0**-48  # relative, of a value and its logarithm: a deviation below this is no noise
FLOORS_ABOVE_NOISE = 2  # a bias counts as seen where it stands this many noise floors high


class Curve(NamedTuple):
    """One decaying quantity at each sample size, with what its fit needs."""

    value: np.ndarray  # (…, n)
    relative_variance: np.ndarray  # (…, n): of the value, over its square
    resampled: np.ndarray  # (draw, …, n): the value in bootstrap draws
    resampled_variance: np.ndarray  # (draw, …, n): its relative variance, from the items of the draw alone
    items: int  # that were resampled: replicates, or groups of them
    joint: bool  # the same items at every n

    def levels(self, sizes: int) -> tuple[float, float]:
        """Levels of the 95 % interval of a number that depends on `sizes` sizes: one sample if joint, else one each."""
        return levels(self.items, 1 if self.joint else sizes)


class Bootstrap(NamedTuple):
    """How to resample: number of draws, whether jointly over n, random stream."""

    draws: int
    joint: bool
    generator: np.random.Generator


def fit(sizes: np.ndarray, value: np.ndarray, relative_variance: np.ndarray) -> dict[str, np.ndarray]:
    """Weighted least squares of log(value) on log(n), weight 1/relative_variance; value (…, n).

    beta is minus the slope.  se: for known variances;  se_scaled: the same times sqrt(chi2 / dof).  Both, and chi2,
    assume independent sizes; errors at nested sizes are correlated, which makes all three too small: there only the
    bootstrap interval is valid.  Points whose value is not positive or not finite are left out; with fewer than three
    left the fit is NaN.  Points without noise: see `least_variance`.
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
    least = np.where(noisy, relative_variance, np.inf).min(-1, initial=np.inf)  # of no point at all too
    return np.where(np.isfinite(least), least, ROUNDING**2)


def fit_curve(sizes: np.ndarray, curve: Curve) -> dict[str, np.ndarray]:
    """The fit and the slopes between neighbouring sizes, with 95 % bootstrap intervals: see `levels`.

    Each draw is fitted with weights of its own: those of the fit, held fixed, are noise of the same replicates, which
    the interval would not see; where the sizes do not lie on a line, it would be less than half as wide as it should.
    """
    result = fit(sizes, curve.value, curve.relative_variance)
    drawn = fit(sizes, curve.resampled, curve.resampled_variance)["beta"]
    beta = interval(result["beta"], drawn, curve.levels(len(sizes)))
    slopes = local_slopes(sizes, curve.value)
    local = interval(slopes, local_slopes(sizes, curve.resampled), curve.levels(2))
    return result | dict(zip(BETA, beta, strict=True)) | dict(zip(LOCAL, local, strict=True))


def levels(items: int, samples: int = 1) -> tuple[float, float]:
    """Levels of the bootstrap distribution that bound a 95 % interval from k items: Phi(-+ t sqrt(k / (k - 1))).

    t is the 97.5 % quantile of Student's law with samples (k - 1) degrees of freedom, samples the number of
    independent samples that enter.  The 2.5 and 97.5 percentiles themselves are too narrow for few items: a bootstrap
    has the variance with divisor k in place of k - 1, and a normal's tails in place of Student's.  For means this
    correction is exact to first order.

    How often such intervals hold the truth, over normal, heavy-tailed and bent errors (tests/long/test_coverage.py;
    standard error 0.5 %), and in brackets plain percentiles of draws with fixed weights:

        replicates                       12             24             40            100
        beta, nested sizes          94.8 (88.4) %  95.6 (92.6) %  95.0 (93.0) %  95.1 (94.1) %
        local slopes                94.8 (91.3) %  95.0 (93.3) %  94.9 (93.9) %  95.1 (94.7) %
        beta, independent sizes     95.2 (87.6) %  95.5 (91.3) %  94.1 (91.3) %  94.8 (93.2) %
        local slopes                94.8 (92.4) %  94.8 (93.7) %  94.9 (94.2) %  95.0 (94.8) %
        10 groups of 10 replicates: beta of the bias 95.6 (88.9) %, of the fluctuation 96.3 (89.3) %

    With four or five items the levels lie so far out that they are the extremes of 1000 draws; and where one or two of
    the replicates carry most of the variance, no resampling of them covers.
    """
    reach = stdtrit(samples * (items - 1), 0.975) * np.sqrt(items / (items - 1))
    return float(ndtr(-reach)), float(ndtr(reach))


def interval(estimate: np.ndarray, drawn: np.ndarray, at: tuple[float, float]) -> Estimate:
    """An estimate (…) and the two levels of its bootstrap draws (draw, …); NaN where there is none.

    A draw without a number, as of a bias that fell below zero, is left out.  Level p of m draws is the p (m + 1)-th
    smallest: a further draw lies below it with probability p, also far out in the tails.  Infinite draws are numbers.
    """
    ordered = np.sort(drawn, axis=0)  # NaN last
    count = np.sum(~np.isnan(ordered), axis=0, keepdims=True)
    ends = []
    for level in at:
        place = np.clip(level * (count + 1) - 1, 0, np.maximum(count - 1, 0))
        below = np.floor(place).astype(int)
        lower = np.take_along_axis(ordered, below, 0)[0]
        upper = np.take_along_axis(ordered, np.minimum(below + 1, np.maximum(count - 1, 0)), 0)[0]
        share = (place - below)[0]
        step = np.subtract(upper, lower, where=(share > 0) & (upper > lower), out=np.zeros(lower.shape))
        ends.append(np.where(np.isnan(estimate), np.nan, lower + share * step))
    return Estimate(estimate, *ends)


def line_weights(x: np.ndarray) -> np.ndarray:
    """w such that w @ y is the slope of the ordinary least-squares line of y on x, both (point,)."""
    offset = x - x.mean()
    return offset / (offset @ offset)


def slope_weights(sizes: np.ndarray) -> np.ndarray:
    """w (n,) such that w @ log(error) is beta, minus the slope of the unweighted least-squares line on log n."""
    return -line_weights(np.log(sizes))


def upper_two_thirds(sizes: np.ndarray) -> slice:
    """Sizes without the lowest third, rounded down: two of three, three of four, four of six."""
    return slice(len(sizes) // 3, None)


def local_slopes(sizes: np.ndarray, value: np.ndarray) -> np.ndarray:
    """beta between neighbouring sizes: (…, n) -> (…, n - 1)."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return -np.diff(np.log(value), axis=-1) / np.diff(np.log(sizes))


def late_slope(sizes: np.ndarray, value: np.ndarray) -> np.ndarray:
    """beta at the largest n: between it and the nearest size a factor of three or more below, else the smallest.

    (…, n) -> (…).  A single interval between neighbours is mostly noise where sizes are dense.
    """
    early = max(int(np.searchsorted(sizes, sizes[-1] / LATE_FACTOR, side="right")) - 1, 0)
    return local_slopes(sizes[[early, -1]], value[..., [early, -1]])[..., 0]


def resampling(items: int, sizes: int, bootstrap: Bootstrap) -> np.ndarray:
    """Bootstrap weights (draw, n, item), the items of each n its own; (draw, 1, item) if one draw served all sizes."""
    shape = (bootstrap.draws, 1 if bootstrap.joint else sizes)
    return bootstrap.generator.multinomial(items, np.full(items, 1 / items), size=shape) / items


def drawn_means(numbers: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Means over the items of each draw: numbers (unit, item, n) and weights of `resampling` give (draw, unit, n)."""
    if weights.shape[1] == 1:
        return np.tensordot(weights[:, 0], numbers, (1, 1))
    return np.einsum("urn,dnr->dun", numbers, weights, optimize=True)


def error_curve(errors: np.ndarray, bootstrap: Bootstrap) -> Curve:
    """Mean error over replicates: errors (unit, replicate, n)."""
    _, replicates, sizes = errors.shape
    value = errors.mean(1)
    deviation = errors - value[:, None]
    relative_variance = errors.var(1) / replicates / value**2
    weights = resampling(replicates, sizes, bootstrap)
    shift, square = drawn_means(deviation, weights), drawn_means(deviation**2, weights)
    resampled = value + shift
    resampled_variance = np.maximum(square - shift**2, 0) / replicates / resampled**2  # 0: rounding may go below
    return Curve(value, relative_variance, resampled, resampled_variance, replicates, bootstrap.joint)


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

    weights = resampling(groups, sizes, bootstrap)
    products = gram.transpose(0, 2, 3, 1).reshape(units * groups, groups, sizes)
    drawn_along = drawn_means(products, weights).reshape(-1, units, groups, sizes)
    drawn_norm2, along_variance = drawn_moments(drawn_along, weights)
    drawn_scatter = squares.swapaxes(1, 2) - 2 * drawn_along + drawn_norm2[:, :, None]  # (draw, unit, group, n)
    drawn_fluctuation2, scatter_variance = drawn_moments(drawn_scatter * replicates / (replicates - 1), weights)
    drawn_bias2 = np.where(seen, drawn_norm2 - 2 * floor2, np.nan)

    def root(square: np.ndarray, variance: np.ndarray, drawn: np.ndarray, drawn_variance: np.ndarray) -> Curve:
        """The curve of a root, from a quarter of the variance over groups of its square, and the same of the draws."""
        own, resampled = variance / (groups - 1) / square**2, drawn_variance / (groups - 1) / drawn**2
        return Curve(np.sqrt(square), own, np.sqrt(drawn), resampled, groups, bootstrap.joint)

    with np.errstate(invalid="ignore", divide="ignore"):
        bias = root(bias2, along.var(-1), drawn_bias2, along_variance)  # ||m||^2 moves by 2 <d_g, m>: a quarter of 4
        fluctuation = root(fluctuation2, scatter.var(-1) / 4, drawn_fluctuation2, scatter_variance / 4)
    return bias, fluctuation, np.sqrt(floor2)


def drawn_moments(numbers: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance (draw, unit, n) over the groups of a draw, of numbers (draw, unit, group, n) of its own."""
    weights = weights.swapaxes(1, 2)[:, None]  # (draw, 1, group, n)
    mean = (weights * numbers).sum(2)
    return mean, (weights * (numbers - mean[:, :, None]) ** 2).sum(2)


def curves_of(
    errors: np.ndarray, gram: np.ndarray | None, bootstrap: Bootstrap
) -> tuple[tuple[Curve, Curve, Curve], np.ndarray]:
    """The curves of one statistic in the order of PARTS, and the noise floor of the bias; NaN for what needs a gram."""
    error = error_curve(errors, bootstrap)
    if gram is not None:
        bias, fluctuation, floor = bias_and_fluctuation(errors, gram, bootstrap)
        return (error, bias, fluctuation), floor
    none, no_draw = np.full_like(error.value, np.nan), np.full_like(error.resampled, np.nan)
    nothing = Curve(none, none, no_draw, no_draw, error.items, error.joint)
    return (error, nothing, nothing), nothing.value


def fit_statistic(sizes: np.ndarray, curves: tuple[Curve, Curve, Curve], floor: np.ndarray) -> dict[str, np.ndarray]:
    """Fits of one statistic, arrays (part, unit, …) with parts in the order of PARTS."""
    fits = [fit_curve(sizes, curve) for curve in curves]
    return {name: np.stack([fit[name] for fit in fits]) for name in fits[0]} | {
        "value": np.stack([curve.value for curve in curves]),
        "value_se": np.stack([curve.value * np.sqrt(curve.relative_variance) for curve in curves]),
        "noise_floor": np.stack([np.full_like(floor, np.nan), floor, np.full_like(floor, np.nan)]),
    }
