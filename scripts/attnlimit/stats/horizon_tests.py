"""Tests that several questions share, on tables of fits: does beta fall with H, and does it stay above a bound?"""

from collections.abc import Callable

import numpy as np
import pandas as pd
from scipy.special import ndtr
from scipy.stats import binom

from attnlimit.stats.claim import Finding
from attnlimit.stats.order import Order, no_evidence, rankable, ranked
from attnlimit.stats.verdicts import (
    FAILS,
    HARDLY,
    HOLDS,
    NOT_HERE,
    STATISTIC_NAMES,
    UNDECIDED,
    YES,
    Part,
    Parts,
    asked_to_fall,
    could_fail,
    every_part,
    measured_of,
    signed,
    spoken,
    within,
    z_score,
)
from attnlimit.theory.bounds import predictions

FALL = ("level", "fewest_fits", "weakest_horizon", "weakest_correlation", "resolution")  # thresholds of each test
ABOVE = ("level", "fewest_fits", "allowed_below")
FALL_TEST = "Rank correlation of β with H over unsaturated fits, with its interval."
ABOVE_TEST = "Unsaturated fits whose 95 % interval lies wholly below the curve, of those that could show it."
TILT = "a constant tilt s₀ that these n do not resolve (n below exp(2s₀²))"
FAR = 2  # rates more than so many times a bound could hardly have come out below it


def by_statistic(fits: pd.DataFrame, find: Callable[[pd.DataFrame], Part]) -> Parts:
    """The test on the fits of the mean and on those of the covariance."""
    return {name: find(fits[fits["statistic"] == name]) for name in STATISTIC_NAMES}


def correlation_interval(correlation: float, count: int, level: float) -> tuple[float, float]:
    """Interval of a rank correlation r of `count` pairs: tanh(atanh r +- z sqrt((1 + r^2 / 2) / (count - 3)))."""
    centre = np.arctanh(np.clip(correlation, -1 + 1e-12, 1 - 1e-12))
    half = z_score(level) * np.sqrt((1 + correlation**2 / 2) / (count - 3))
    return float(np.tanh(centre - half)), float(np.tanh(centre + half))


def order_of_settings(fits: pd.DataFrame, level: float) -> Order:
    """Rank correlation of beta with H over settings that share no draws: every fit counts as one."""
    correlation = ranked("horizon")({name: fits[name].to_numpy(float) for name in ("beta", "horizon")})
    return Order(correlation, *correlation_interval(correlation, len(fits), level), len(fits))


def falls_with_horizon(
    fits: pd.DataFrame, thresholds: dict, ordered: Callable[[pd.DataFrame], Order] | None = None
) -> Part:
    """Does beta fall with H?  Rank correlation over the unsaturated fits, with its interval.

    ordered: the correlation of fits that share noise (see `order.order`); without it, fits count as independent.
    Holds: the interval lies below zero.  Fails: it excludes the weakest correlation that would count as a dependence.
    Undecided too: too few fits, or groups of them; or horizons so alike that rates on the paper's curve could not be
    told apart, which is so if the curve changes from the weakest tenth of them to the strongest by less than
    `resolution` half-intervals.  Horizons at which the curve is 1/2 anyhow are left out: there is no order among them
    to be found.
    """
    strong = fits[fits["horizon"] >= thresholds["weakest_horizon"]]
    used = rankable(fits, thresholds["weakest_horizon"])
    uncertain = int(strong["limit_uncertain"].astype(bool).sum())
    measured: dict[str, float] = {"fits": len(used), "saturated": len(strong) - len(used) - uncertain}
    measured["limit_uncertain"], apart = uncertain, limits_left_out(uncertain)
    measured["no_power_law"] = int(used["misfit"].sum())
    if len(used) < thresholds["fewest_fits"]:
        few = f"only {len(used)} unsaturated fits{apart}"
        return Part(UNDECIDED, measured, few, "only more fits could decide", NOT_HERE)
    curve = np.quantile(used["bound_v3"], [0.1, 0.9])
    half = float((used["beta_high"] - used["beta_low"]).median() / 2)
    resolution = float(curve[1] - curve[0]) / half
    found = ordered(used) if ordered else order_of_settings(used, thresholds["level"])
    if ordered and (found.groups < thresholds["fewest_groups"] or not np.isfinite(found.low + found.high)):
        words = f"{signed(found.correlation)} of {found.groups} groups, too few for an interval{apart}"
        return Part(UNDECIDED, measured | {"groups": found.groups}, words, "only more groups could decide", NOT_HERE)
    measured |= {"correlation": found.correlation, "low": found.low, "high": found.high, "resolution": resolution}
    measured |= {"groups": found.groups} if ordered else {}
    weakest = thresholds["weakest_correlation"]
    measured["fails_above"] = found.correlation - found.low - weakest  # there the interval would exclude the weakest
    words = f"{within(found.correlation, found.low, found.high)}{apart}"
    power = f"a correlation above {signed(measured['fails_above'])}"
    if resolution < thresholds["resolution"]:
        alike = f"{words} (horizons too alike)"
        return Part(UNDECIDED, measured, alike, "only horizons further apart could decide", NOT_HERE)
    if found.high < 0:
        return Part(HOLDS, measured, words, power)
    if found.low > -weakest:
        return Part(FAILS, measured, words, power)
    return Part(UNDECIDED, measured, f"{words} (undecided)", power)


def stays_above(fits: pd.DataFrame, bound: pd.Series, thresholds: dict) -> Part:
    """Does no rate lie below a bound?  Counts the unsaturated fits whose 95 % interval is wholly below it.

    Only those count that could have shown it: an error that does not fall at all, beta = 0, must come out below.
    Holds: no more than `allowed_below`.  Fails: more than chance gives if every rate were on the bound itself, or one
    so far below that it counts after division of the level by the number of fits.  Between: not decided.
    What is left out is counted too: saturated fits, and how many of them lie below; fits too noisy to count; fits to
    limits that are too uncertain, whose own error would make a rate look smaller.
    """
    reach, left = fits["beta_high"] - fits["beta"], no_evidence(fits)
    able = ~left & (bound > reach)
    uncertain = fits["limit_uncertain"].astype(bool)
    saturated = left & ~uncertain
    tilted = unresolved_tilt(fits)
    under = fits["beta_high"] < bound
    beta, edge, reach = (column[able] for column in (fits["beta"], bound, reach))
    count, below = int(able.sum()), int((able & under).sum())
    miss = (1 - thresholds["level"]) / 2  # of an interval on one side
    expected = miss * count
    measured: dict[str, float] = {"fits": count, "below": below, "below_by_chance": expected}
    measured |= {"below_with_large_tilt": int((able & under & tilted).sum())}
    measured |= {"saturated": int(saturated.sum()), "saturated_below": int((saturated & under).sum())}
    measured |= {"too_noisy": int((~left & ~able).sum()), "limit_uncertain": int(uncertain.sum())}
    beside = f"saturated and left out: {measured['saturated']}, {measured['saturated_below']} of them below"
    beside += limits_left_out(int(uncertain.sum()))
    words = f"{below} of {count} fits below ({expected:.1f} by chance if all were on it; {beside})"
    if count < thresholds["fewest_fits"]:
        few = f"only {count} fits could show it ({beside})"
        return Part(UNDECIDED, measured, few, "too few fits could show it", NOT_HERE)
    drop, times = float(reach.median()), float((beta / edge).median())
    measured |= {"seen_from": drop, "times_the_bound": times}
    power = f"{count} of {len(fits)} fits could have lain below; the median one shows it {drop:.3f} below the bound"
    far = times > FAR
    power = f"the median rate is {times:.1f} times the bound; {power}" if far else power
    if below <= thresholds["allowed_below"]:
        return Part(HOLDS, measured, words, power, HARDLY if far else YES)
    deviations = (edge - beta) / reach * z_score(thresholds["level"])
    sure = int((ndtr(-deviations) < miss / count).sum())
    measured["below_for_sure"] = sure
    beyond_chance = below > binom.ppf(thresholds["level"], count, miss)
    return Part(FAILS if sure or beyond_chance else UNDECIDED, measured, words, power, HARDLY if far else YES)


def limits_left_out(count: int) -> str:
    """What is said of fits that are left out since their limits are too uncertain; nothing of none."""
    return f"; limit uncertain and left out: {count}" if count else ""


def unresolved_tilt(fits: pd.DataFrame) -> pd.Series:
    """Fits with sizes below e^(2 s0^2), s0 the constant tilt: there a rate is not yet what it becomes, at any H."""
    return np.exp(2 * fits["constant_tilt"].astype(float) ** 2) > fits["n_min"]


def experiment_falls(fits: pd.DataFrame, thresholds: dict, remark: str, ordered=None) -> Finding:
    """Does an experiment of the paper, done again, show beta falling with H?"""
    parts = by_statistic(fits, lambda part: falls_with_horizon(part, thresholds, ordered))
    return Finding(
        every_part(parts),
        f"rank correlation {spoken(parts)}; {asked_to_fall(thresholds)}",
        measured_of(parts),
        f"Correlation of β with H: {spoken(parts)}. {remark}",
        could_fail(parts),
    )


def experiment_above(fits: pd.DataFrame, thresholds: dict, remark: str, reference_slope: float = np.inf) -> Finding:
    """Does an experiment of the paper, done again, keep beta at or above the curve that is drawn with it?

    reference_slope: the slope that a finite reference imposes on a rate of 1/2; no rate is required to lie above it.
    """
    part = stays_above(fits, fits["bound_v3"].clip(upper=reference_slope), thresholds)
    published = predictions(fits["horizon_published"], fits["psi"])["bound_v3"].clip(upper=reference_slope)
    below_half = {name: int((rows["beta_high"] < 0.5).sum()) for name, rows in fits.groupby("statistic", sort=False)}
    measured = part.measured | {
        "below_half": below_half,
        "below_on_published_axis": stays_above(fits, published, thresholds).measured["below"],
    }
    against = "1/(2(1+H²))"
    if np.isfinite(reference_slope):
        curve = stays_above(fits, fits["bound_v3"], thresholds).measured
        measured |= {"reference_slope": reference_slope, "below_the_curve_alone": curve["below"]}
        against += f" or {reference_slope:.3f}, whichever is less,"
    tilts = measured["below_with_large_tilt"]
    tilted = f" {tilts} of those below have {TILT}." if measured["below"] else ""
    return Finding(
        part.verdict,
        f"{part.words}; allowed {thresholds['allowed_below']}",
        measured,
        f"Against {against} {part.words}.{tilted} {remark}",
        f"{part.able}: {part.power}",
    )
