"""What a pattern of sparse attention costs: errors against budgets, rates where there is one, budgets that are enough.

Blocks are resampled, all heads and budgets of a block together.
"""

from typing import NamedTuple

import numpy as np
import xarray as xr

from attnlimit.stats.complexity import tokens_needed
from attnlimit.stats.estimate import Estimate
from attnlimit.stats.power_law import BETA, Bootstrap, Curve, error_curve, fit_curve, interval, local_slopes
from attnlimit.stats.student import jackknifed

SHARES = (0.10, 0.05)  # eps: errors that a budget should reach, of their scale
RANDOM, ORACLE = "random", "top"
FIT = (*BETA, "se", "intercept", "dof")
LABELS = ("statistic", "pattern", "head")
LEAST_ASKED = 0.5  # of the queries of a head, for the law of Gaussian scores to be asked of it


class Marks(NamedTuple):
    """When a curve is no power law, and from which budget on theory asks for a rate of 1/2."""

    bend: float
    slope_tolerance: float


def fit_patterns(errors: xr.Dataset, bootstrap: Bootstrap, marks: Marks) -> xr.Dataset:
    """Of one layer, from error (statistic, pattern, head, block, replicate, n): relative errors, rates, budgets.

    value (statistic, pattern, head, n) is the mean over blocks of the error relative to its scale there, NaN where the
    error is zero: a pattern that reads every key once is dense attention.  Over the budgets within the block:  beta and
    its interval, see `fit_curve`; bend, see `bends`; budget (eps, statistic, pattern, head), see `budgets`.  median_…:
    medians over heads.  What independent keys do beyond the block: see `of_theory`.  One block has no intervals.
    """
    relative = (errors["error"].mean("replicate") / errors["limit_scale"]).transpose(*LABELS, "block", "n")
    relative = relative.where(relative > 0)
    sizes, shape = errors["n"].values, relative.shape[:3]
    single = relative.sizes["block"] == 1
    twice = np.repeat(relative.values, 2, axis=3) if single else relative.values
    whole = error_curve(twice.reshape(-1, *twice.shape[3:]), bootstrap)
    curve = cut(whole, slice(None), sizes <= errors["length"].values.min())
    fits = fit_curve(sizes, curve)
    value, drawn = curve.value.reshape(*shape, -1), curve.resampled.reshape(-1, *shape, len(sizes))

    rates = xr.Dataset(coords={name: errors[name] for name in (*LABELS, "n")} | {"eps": list(SHARES)})
    rates["value"] = ((*LABELS, "n"), whole.value.reshape(value.shape))
    rates["value_se"] = rates["value"] * np.sqrt(whole.relative_variance.reshape(value.shape))
    rates = rates.assign({name: (LABELS, fits[name].reshape(shape)) for name in FIT})
    needed, needed_drawn = budgets(sizes, value), budgets(sizes, drawn).swapaxes(0, 1)
    for name, dims, estimate, resampled in (
        ("bend", LABELS, bends(sizes, value), bends(sizes, drawn)),
        ("budget", ("eps", *LABELS), needed, needed_drawn),
        ("median_budget", ("eps", *LABELS[:2]), np.median(needed, -1), np.median(needed_drawn, -1)),
        ("median_value", (*LABELS[:2], "n"), np.median(value, -2), np.median(drawn, -2)),
    ):
        rates = rates.assign(interval(estimate, resampled, curve.levels(1)).variables(name, dims))
    changes = (rates["bend_low"] > 0) | (rates["bend_high"] < 0) | single
    rates["misfit"] = changes & (np.abs(rates["bend"]) > marks.bend)
    if ORACLE in rates["pattern"]:
        top = relative.sel(pattern=ORACLE, drop=True)
        rates["beats_top"] = (relative < top).mean("block").where((relative.notnull() & top.notnull()).all("block"))
        rates = rates.assign(of_top(errors)).assign(of_scores(errors))
    if RANDOM in rates["pattern"]:
        units = xr.DataArray(np.arange(np.prod(shape)).reshape(shape), rates["beta"].coords)
        heads = units.sel(statistic="pointwise", pattern=RANDOM).values
        rates = rates.assign(of_theory(errors, cut(whole, heads), marks))
    if "published_window_error" in errors:
        rates = rates.assign(of_published_window(errors, bootstrap))
    named = [str(name) for name in rates.data_vars if str(name).endswith(("_low", "_high"))]
    return rates.assign({name: rates[name].where(not single) for name in named})


def of_top(errors: xr.Dataset) -> xr.Dataset:
    """The largest scores, means over blocks: left_out (head, n); means_apart (head, n), relative error over left_out.

    The latter is the distance of the mean value of the keys kept to that of the others, root mean square over queries,
    each counting by the square of what it leaves out (see `measure.top_law`).
    """
    error = errors["error"].sel(pattern=ORACLE, statistic="pointwise", drop=True).mean("replicate")
    scale, left = errors["limit_scale"].sel(statistic="pointwise", drop=True), errors["left_out"]
    return xr.Dataset({"left_out": left, "means_apart": error / left.where(left > 0) / scale}).mean("block")


def of_scores(errors: xr.Dataset) -> xr.Dataset:
    """Whether the spread of scores tells how many keys hold nearly all of the weight: see `measure.gaussian_scores`.

    Blocks of which no query is asked do not count.

    keys_needed, keys_gaussian (delta, head), score_spread, asked (head): means over blocks.  gaussian_ratio (delta,
    head): keys_gaussian / keys_needed, with an interval over blocks, left out one at a time, on the logarithm; NaN in
    heads of which fewer than half of the queries are asked.
    """
    found = errors[["keys_needed", "keys_gaussian", "score_spread", "asked"]].mean("block")
    shares = [errors[name].transpose("block", "delta", "head").values for name in ("keys_gaussian", "keys_needed")]

    def log_ratio(items: np.ndarray) -> np.ndarray:
        gaussian, needed = np.nansum(items, 0)
        with np.errstate(invalid="ignore"):  # 0 / 0: no query of the head is asked
            return np.log(gaussian / needed)

    ratio = jackknifed(np.stack(shares, 1), log_ratio).map(np.exp)
    asked = found["asked"].values >= LEAST_ASKED
    known = Estimate(*(np.where(asked, part, np.nan) for part in ratio))
    return found.assign(known.variables("gaussian_ratio", ("delta", "head")))


def of_published_window(errors: xr.Dataset, bootstrap: Bootstrap) -> xr.Dataset:
    """Moments of the published window experiment: published_window_value (moment, head, n), relative, mean over blocks;
    published_window_beta (moment, head) with its interval, over the budgets that leave an error.
    """
    error = errors["published_window_error"]
    scale = errors["limit_scale"].sel(statistic=error["moment"].values).rename(statistic="moment")
    relative = (error.mean("replicate") / scale).transpose("moment", "head", "block", "n")
    relative = relative.where(relative > 0)
    numbers = np.repeat(relative.values, 2, axis=2) if relative.sizes["block"] == 1 else relative.values
    curve = error_curve(numbers.reshape(-1, *numbers.shape[2:]), bootstrap)
    fits, shape = fit_curve(errors["n"].values, curve), relative.shape[:2]
    rates: dict[str, tuple] = {
        f"published_window_{name}": (("moment", "head"), fits[name].reshape(shape)) for name in BETA
    }
    rates["published_window_value"] = (("moment", "head", "n"), curve.value.reshape(*shape, -1))
    return xr.Dataset(rates, coords={name: relative[name] for name in ("moment", "head", "n")})


def cut(curve: Curve, units: np.ndarray | slice, where: np.ndarray | bool = True) -> Curve:
    """Some units of a curve (unit, n), known only where said, (n,) or (unit, n)."""
    return curve._replace(
        value=np.where(where, curve.value[units], np.nan),
        relative_variance=curve.relative_variance[units],
        resampled=np.where(where, curve.resampled[:, units], np.nan),
        resampled_variance=curve.resampled_variance[:, units],
    )


def usable(value: np.ndarray) -> np.ndarray:
    """Places of the sizes at which all units of (…, n) have a value."""
    return np.flatnonzero(np.isfinite(value).reshape(-1, value.shape[-1]).all(0))


def bends(sizes: np.ndarray, value: np.ndarray) -> np.ndarray:
    """How much steeper (…, statistic, pattern, head, n) falls over the upper half of its budgets than over the lower.

    Slopes between the first, the middle and the last budget.  A chi squared does not tell: budgets share their blocks,
    whose differences it would take for noise of each point.
    """
    result = np.full(value.shape[:-1], np.nan)
    for pattern in range(value.shape[-3]):
        places = usable(value[..., pattern, :, :])
        if len(places) >= 3:
            ends = places[[0, len(places) // 2, -1]]
            slopes = local_slopes(sizes[ends], value[..., pattern, :, :][..., ends])
            result[..., pattern, :] = slopes[..., 1] - slopes[..., 0]
    return result


def budgets(sizes: np.ndarray, value: np.ndarray) -> np.ndarray:
    """Keys from which on the relative error (…, statistic, pattern, head, n) is at most eps, (eps, …).

    As `tokens_needed`, but not beyond the largest budget at which there is an error: infinite, which means that the
    pattern does not reach eps within the block.  The smallest budget: at most that many.
    """
    result = np.full((len(SHARES), *value.shape[:-1]), np.nan)
    for pattern in range(value.shape[-3]):
        curves = value[..., pattern, :, :]
        places = usable(curves)
        if len(places) >= 2:
            for number, share in enumerate(SHARES):
                level = np.full(curves.shape[:-1], share)
                keys = tokens_needed(sizes[places], curves[..., places], level)
                result[number][..., pattern, :] = np.where(keys > sizes[places[-1]], np.inf, keys)
    return result


def of_theory(errors: xr.Dataset, curve: Curve, marks: Marks) -> dict[str, tuple]:
    """Independent keys against theory: n E|error|^2 = c1 + c2 / n + … at a query, so that the rate is 1/2 at large n.

    theory_value (head, n): sqrt(c1 / n), relative, mean over blocks.  A next term of size c2 moves the slope of the
    error at n by at most r / (2 (1 - r)), r = c2 / (n c1): theory asks for 1/2 from theory_from (head) on, the first
    budget at which this is within slope_tolerance; NaN if there is none.  late_beta (head), with its interval: the rate
    of the pointwise error from there on, NaN with fewer than three budgets.
    """
    sizes = errors["n"].values
    scale = errors["limit_scale"].sel(statistic="pointwise", drop=True)  # (head, block)
    terms = (errors["expected_square"] / scale**2).transpose("term", "head", "block")
    first, size = (terms.sel(term=name).values for name in ("first", "second_size"))  # (head, block)
    ratio = (size.mean(1) / first.mean(1))[:, None] / sizes  # (head, n)
    asked = ratio <= 2 * marks.slope_tolerance / (1 + 2 * marks.slope_tolerance)
    fits = fit_curve(sizes, cut(curve, slice(None), asked))
    start = np.where(asked.any(1), sizes[asked.argmax(1)], np.nan)
    return {
        "theory_value": (("head", "n"), np.sqrt(first).mean(1)[:, None] / np.sqrt(sizes)),
        "theory_from": (("head",), start),
    } | {f"late_{name}": (("head",), fits[name]) for name in ("beta", "beta_low", "beta_high")}
