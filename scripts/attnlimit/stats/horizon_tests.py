"""Tests that several questions share, on tables of fits: does beta fall with H, and does it stay above a bound?"""

from collections.abc import Callable

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from attnlimit.stats.claim import Finding
from attnlimit.stats.estimate import Estimate
from attnlimit.stats.order import no_evidence, rankable
from attnlimit.stats.verdicts import (
    FAILS,
    HOLDS,
    NOT_HERE,
    STATISTIC_NAMES,
    UNDECIDED,
    YES,
    Part,
    Parts,
    could_fail,
    every_p,
    every_part,
    many,
    measured_of,
    p_above,
    p_below,
    signed,
    spoken,
    within,
    z_score,
)

FALL = ("fewest_fits", "weakest_horizon", "weakest_coefficient")  # thresholds of each test
ABOVE = ("level", "fewest_fits", "weakest_horizon", "slope_tolerance", "decided_share")
FALL_TEST = (
    "Coefficient c of β = a − c(1/2 − 1/(2(1+H²))), weighted, over unsaturated fits, with its interval: 0 without a "
    "dependence, 1 if β falls as the paper's curve does. Judged is the smallest that is left without one of the "
    "fits: no single one may carry it."
)
ABOVE_TEST = (
    "Unsaturated fits. It fails if a 95 % interval, with Holm's correction, lies entirely below the curve, or if more "
    "of them lie below it than chance gives; it holds if the required share lies above the curve less the tolerance."
)
BELOW_BY_CHANCE = (1 - 0.95) / 2  # how often an interval of beta lies wholly below beta: it is 95 % at any level
TILT = "a constant tilt s₀ that these n do not resolve (n below exp(2s₀²))"


def by_statistic(fits: pd.DataFrame, find: Callable[[pd.DataFrame], Part]) -> Parts:
    """The test on the fits of the mean and on those of the covariance."""
    return {name: find(fits[fits["statistic"] == name]) for name in STATISTIC_NAMES}


def coefficient(
    fits: pd.DataFrame, group: list[str] | None = None, half: bool = False, these: bool = False
) -> Estimate:
    """c of beta = a - c (1/2 - curve), by least squares weighted with the intervals of beta; curve 1/(2(1+H^2)).

    group: a is free in each group of fits, such as a layer;  half: a = 1/2, so that c = 0 is always 1/2 and c = 1 on
    the curve.  these: the noise of beta is all there is, and the interval speaks of these fits; else what the line
    leaves over counts as well, if it is more: sqrt(chi2 / dof) times as wide, by Student's law.
    """
    x, y = (0.5 - fits[name].to_numpy(float) for name in ("bound_v3", "beta"))
    weight = (2 * z_score(0.95) / (fits["beta_high"] - fits["beta_low"]).to_numpy(float)) ** 2
    places = fits.groupby(group).ngroup().to_numpy() if group else np.zeros(len(fits), int)
    if not half:
        total = np.bincount(places, weight)
        x, y = (each - (np.bincount(places, weight * each) / total)[places] for each in (x, y))
    spread = (weight * x**2).sum()
    found = (weight * x * y).sum() / spread
    dof = len(fits) - 1 if half else freedom(fits, group)
    scatter = (weight * (y - found * x) ** 2).sum() / dof
    reach = (z_score(0.95) if these else stdtrit(dof, 0.975) * max(1, np.sqrt(scatter))) / np.sqrt(spread)
    return Estimate(float(found), float(found - reach), float(found + reach))


def freedom(fits: pd.DataFrame, group: list[str] | None = None) -> int:
    """Degrees of freedom that a coefficient with a free intercept, or one in each group, leaves."""
    return len(fits) - (fits.groupby(group).ngroups if group else 1) - 1


def without_one(fits: pd.DataFrame, group: list[str] | None = None, these: bool = False) -> Estimate:
    """The smallest of the coefficients without each of the fits in turn."""
    return min((coefficient(fits.drop(fit), group, these=these) for fit in fits.index), key=lambda one: one.value)


def falls_with_horizon(
    fits: pd.DataFrame, thresholds: dict, group: list[str] | None = None, these: bool = False
) -> Part:
    """Does beta fall with H?  The coefficient on the paper's curve over the unsaturated fits, with its interval.

    No single fit may carry the answer: judged is the smallest of the coefficients without each of them in turn.
    Fails: its interval lies below the weakest that would count as a dependence.  Holds: its interval lies above 0.
    Horizons at which the curve is near 1/2 are left out: they carry no information on a fall.
    """
    used, weakest = rankable(fits, thresholds["weakest_horizon"]), thresholds["weakest_coefficient"]
    strong = fits[fits["horizon"] >= thresholds["weakest_horizon"]]
    uncertain = int(strong["limit_uncertain"].astype(bool).sum())
    measured: dict[str, float] = {"fits": len(used), "saturated": len(strong) - len(used) - uncertain}
    measured |= {"limit_uncertain": uncertain, "no_power_law": int(used["misfit"].sum())}
    groups = used.groupby(group).ngroups if group else 1
    if len(used) < thresholds["fewest_fits"] + groups:
        few = f"only {len(used)} unsaturated fits{limits_left_out(uncertain)}"
        return Part(UNDECIDED, measured, few, "only more fits could decide", NOT_HERE)
    found, through = coefficient(used, group, these=these), coefficient(used, half=True, these=these)
    least = without_one(used, group, these)
    measured |= dict(zip(("coefficient", "low", "high"), found, strict=True))
    measured |= dict(zip(("least", "least_low", "least_high"), least, strict=True))
    measured |= dict(zip(("from_half", "from_half_low", "from_half_high"), through, strict=True))
    verdict = FAILS if least.high < weakest else HOLDS if least.low > 0 else UNDECIDED
    tails = {"freedom": np.inf if these else freedom(used, group) - 1}
    p = min(1.0, len(used) * p_below(least, weakest, **tails)) if verdict == FAILS else p_above(least, 0, **tails)
    power = f"a coefficient below {signed(weakest - (least.high - least.value))} without one fit fails it"
    words = f"{within(*found)}, without one fit {within(*least)}{limits_left_out(uncertain)}"
    return Part(verdict, measured, words, power, YES, p)


def stays_above(fits: pd.DataFrame, bound: pd.Series, thresholds: dict) -> Part:
    """Does no rate lie below a bound?  All unsaturated fits from the weakest horizon on, where the bound is not 1/2.

    Only those count that could have shown it: an error that does not fall at all, beta = 0, must come out below.
    Fails: one interval wholly below, corrected for their number (Holm), or more of them wholly below than chance
    gives if every rate were on the bound (binomial).  Holds: of those whose half-interval is within the
    tolerance, the required share lies above the bound less the tolerance, see `verdicts.many`.  Left out and
    counted: saturated fits, noisy ones, uncertain limits.
    """
    from scipy.stats import binom  # here: most jobs do without, and it takes half a second

    level, tolerance = thresholds["level"], thresholds["slope_tolerance"]
    strong = fits["horizon"] >= thresholds["weakest_horizon"]
    fits, bound = fits[strong], bound[strong]
    left, uncertain = no_evidence(fits), fits["limit_uncertain"].astype(bool)
    reach, under = fits["beta_high"] - fits["beta"], fits["beta_high"] < bound
    able, saturated, precise = ~left & (bound > reach), left & ~uncertain, reach <= tolerance
    count, lower = int(able.sum()), int((able & under).sum())
    expected = count * BELOW_BY_CHANCE
    measured: dict[str, float] = {"fits": count, "below": lower, "below_by_chance": expected}
    measured |= {"below_with_large_tilt": int((able & under & unresolved_tilt(fits)).sum())}
    measured["below_bent"] = int((able & under & fits["misfit"].astype(bool)).sum())
    measured |= {"saturated": int(saturated.sum()), "saturated_below": int((saturated & under).sum())}
    measured |= {"too_noisy": int((~left & ~able).sum()), "limit_uncertain": int(uncertain.sum())}
    beside = f"saturated and left out: {measured['saturated']}, {measured['saturated_below']} of them below"
    beside += f"; too noisy and left out: {measured['too_noisy']}" if measured["too_noisy"] else ""
    beside += limits_left_out(int(uncertain.sum()))
    if (firm := int((able & precise).sum())) < thresholds["fewest_fits"]:
        few = f"only {firm} fits could show it ({beside})"
        return Part(UNDECIDED, measured, few, "too few fits could show it", NOT_HERE)
    columns = fits[["beta", "beta_low", "beta_high"]].assign(edge=bound, freedom=fits["replicates"] - 1)
    rows = {name: columns[some].to_numpy(float).tolist() for name, some in (("true", able & precise), ("false", able))}
    true = [p_above(beta, edge - tolerance, freedom=dof) for *beta, edge, dof in rows["true"]]
    false = [p_below(beta, edge, freedom=dof) for *beta, edge, dof in rows["false"]]
    counted = float(binom.sf(lower - 1, count, BELOW_BY_CHANCE)) if lower else 1.0
    against = 2 * min(min(false), counted / count)  # two ways to fail
    verdict, p = many(true, [against] * count, thresholds["decided_share"], level)
    sure, drop = sum(one <= 1 - level for one in true), float(reach[able].median())
    measured |= {"interval_within": sure, "seen_from": drop, "p_below": min(against * count, 1.0)}
    words = f"95 % interval entirely below in {lower} of {count} fits ({expected:.1f} by chance if all were on it), no "
    words += f"more than {tolerance:g} below in {sure} of {firm} precise ones ({beside})"
    power = f"{count} of {len(fits)} fits could have lain below; the median one shows it {drop:.3f} below the bound"
    return Part(verdict, measured, words, power, YES, p)


def few_below(part: Part) -> str:
    """The one number of a test of a bound."""
    below, bent = (part.measured[name] for name in ("below", "below_bent"))
    marked = f" ({bent} of them no power law over these n)" if below else ""
    return f"95 % interval entirely below the curve in {below} of {part.measured['fits']} fits{marked}"


def without_one_words(parts: Parts) -> str:
    """The one number of a test of a fall: the coefficients that are judged."""
    known = [part.measured for part in parts.values() if "least" in part.measured]
    every, least = (" and ".join(signed(each[name]) for each in known) for name in ("coefficient", "least"))
    if not known:
        return "too few fits"
    return (
        f"coefficient on the curve (1: as the curve, 0: none), mean and covariance: {least} without the most "
        f"influential head, which decides; {every} with it"
    )


def limits_left_out(count: int) -> str:
    """The words on fits that are left out because their limits are too uncertain; "" without any."""
    return f"; limit uncertain and left out: {count}" if count else ""


def unresolved_tilt(fits: pd.DataFrame) -> pd.Series:
    """Fits with sizes below e^(2 s0^2), s0 the constant tilt: there a rate is not yet what it becomes, at any H."""
    return np.exp(2 * fits["constant_tilt"].astype(float) ** 2) > fits["n_min"]


def asked(thresholds: dict) -> str:
    """What is required of a coefficient on the paper's curve."""
    weakest = f"{thresholds['weakest_coefficient']:g}"
    return f"required: interval above 0 that reaches {weakest}; fails if it lies below {weakest}"


def experiment_falls(
    fits: pd.DataFrame, thresholds: dict, remark: str, group: list[str] | None = None, these: bool = False
) -> Finding:
    """Does an experiment show beta falling with H?  For the mean and for the covariance."""
    parts = by_statistic(fits, lambda part: falls_with_horizon(part, thresholds, group, these))
    return Finding(
        every_part(parts),
        f"coefficient on the curve: {spoken(parts)}; {asked(thresholds)}",
        measured_of(parts),
        f"Coefficient on the curve (0: no dependence, 1: as the curve): {spoken(parts)}. {remark}",
        could_fail(parts),
        p=every_p(parts),
        number=without_one_words(parts),
    )
