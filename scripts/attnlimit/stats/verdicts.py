"""From numbers and thresholds to a verdict. Every rule here can go either way, and can also stay undecided."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from scipy.special import ndtr, ndtri
from scipy.stats import binom

from attnlimit.stats.order import Order, no_evidence, rankable, ranked

HOLDS, FAILS, UNTESTED = "holds", "does not hold", "not tested at this size"
VERDICTS = (HOLDS, FAILS, UNTESTED)
DIGITS = 4  # significant ones of the numbers written
HARDLY = 2  # rates more than so many times a bound could hardly have come out below it
AFTER_A_LOOK = " The rule was settled after first numbers of the default run were seen: there, read it as exploration."
STATISTIC_NAMES = {"mean": "mean", "cov": "covariance"}


class Look(NamedTuple):
    """How page and figure show a verdict."""

    symbol: str
    colour: str


# Told apart by the colour-blind, by their symbols too, and dark on white.
LOOKS = {HOLDS: Look("✓", "#00795c"), FAILS: Look("✗", "#b34d00"), UNTESTED: Look("?", "#5f5f5f")}


class Record(NamedTuple):
    """One claim and what this run says of it."""

    id: str
    claim: str
    verdict: str | None  # None for a claim that is left out
    in_short: str  # the measured number beside its threshold, for the figure
    measured: dict
    test: str
    threshold: dict
    evidence: list
    why: str
    could_fail: str = ""  # could this run have failed the claim?  How strong a violation it would have seen, in words
    left_out: str = ""  # the chapter that would test the claim, if the run leaves that out
    rule: str = ""  # that made the evidence
    function: str = ""  # that judged
    test_file: str = ""  # in which that function is tried on truths that hold, fail, and decide nothing


class Finding(NamedTuple):
    """What one test found: a verdict, the numbers behind it, and a few words."""

    verdict: str
    measured: dict
    words: str
    power: str = ""  # what would have failed it


def decide(low: float, high: float, least: float = -np.inf, most: float = np.inf) -> str:
    """Where an interval lies: within what is allowed, wholly outside, or across its edge, which decides nothing."""
    if least <= low and high <= most:
        return HOLDS
    return FAILS if high < least or low > most else UNTESTED


def every(verdicts: list[str]) -> str:
    """All parts must hold; one that does not is enough to fail."""
    if FAILS in verdicts:
        return FAILS
    return HOLDS if verdicts and set(verdicts) == {HOLDS} else UNTESTED


def most(verdicts: list[str], share: float) -> str:
    """Of many like tests none may fail, and at least this share must hold; the rest may be undecided."""
    if FAILS in verdicts:
        return FAILS
    return HOLDS if verdicts and verdicts.count(HOLDS) >= share * len(verdicts) else UNTESTED


def asked_to_fall(thresholds: dict, what: str = "below 0") -> str:
    """What a rank correlation of beta is asked for; an interval that holds 0 fails only if it is surely weak."""
    return f"required: {what}; fails if surely weaker than −{thresholds['weakest_correlation']:g}"


def pick(thresholds: dict, *names: str) -> dict:
    return {name: thresholds[name] for name in names}


def z_score(level: float) -> float:
    """Half-width in standard errors of an interval at this level: 1.96 at 0.95."""
    return float(ndtri((1 + level) / 2))


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
) -> Finding:
    """Does beta fall with H?  Rank correlation over the unsaturated fits, with its interval.

    ordered: the correlation of fits that share noise (see `order.order`); without it, fits count as independent.
    Holds: the interval lies below zero.  Fails: it excludes the weakest correlation that would count as a dependence.
    Not tested: too few fits, or groups of them; or horizons so alike that rates on the paper's curve could not be told
    apart, which is so if the curve changes from the weakest tenth of them to the strongest by less than `resolution`
    half-intervals.  Horizons at which the curve is 1/2 anyhow are left out: there is no order among them to be found.
    """
    strong = fits[fits["horizon"] >= thresholds["weakest_horizon"]]
    used = rankable(fits, thresholds["weakest_horizon"])
    uncertain = int(strong["limit_uncertain"].astype(bool).sum())
    measured: dict[str, float] = {"fits": len(used), "saturated": len(strong) - len(used) - uncertain}
    measured["limit_uncertain"], apart = uncertain, limits_left_out(uncertain)
    measured["no_power_law"] = int(used["misfit"].sum())
    if len(used) < thresholds["fewest_fits"]:
        return Finding(UNTESTED, measured, f"only {len(used)} unsaturated fits{apart}", "only more fits could decide")
    curve = np.quantile(used["bound_v3"], [0.1, 0.9])
    half = float((used["beta_high"] - used["beta_low"]).median() / 2)
    resolution = float(curve[1] - curve[0]) / half
    found = ordered(used) if ordered else order_of_settings(used, thresholds["level"])
    if ordered and (found.groups < thresholds["fewest_groups"] or not np.isfinite(found.low + found.high)):
        words = f"{signed(found.correlation)} of {found.groups} groups, too few for an interval{apart}"
        return Finding(UNTESTED, measured | {"groups": found.groups}, words, "only more groups could decide")
    measured |= {"correlation": found.correlation, "low": found.low, "high": found.high, "resolution": resolution}
    measured |= {"groups": found.groups} if ordered else {}
    weakest = thresholds["weakest_correlation"]
    measured["fails_above"] = found.correlation - found.low - weakest  # there the interval would exclude the weakest
    words = f"{signed(found.correlation)} [{signed(found.low)}, {signed(found.high)}]{apart}"
    power = f"a correlation above {signed(measured['fails_above'])}"
    if resolution < thresholds["resolution"]:
        return Finding(UNTESTED, measured, f"{words} (horizons too alike)", "only horizons further apart could decide")
    if found.high < 0:
        return Finding(HOLDS, measured, words, power)
    if found.low > -weakest:
        return Finding(FAILS, measured, words, power)
    return Finding(UNTESTED, measured, f"{words} (undecided)", power)


def stays_above(fits: pd.DataFrame, bound: pd.Series, thresholds: dict) -> Finding:
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
        return Finding(UNTESTED, measured, f"only {count} fits could show it ({beside})", "too few fits could show it")
    drop, times = float(reach.median()), float((beta / edge).median())
    measured |= {"seen_from": drop, "times_the_bound": times}
    power = f"{count} of {len(fits)} fits could have lain below; the median one shows it {drop:.3f} below the bound"
    power = f"hardly: the median rate is {times:.1f} times the bound; {power}" if times > HARDLY else f"yes: {power}"
    if below <= thresholds["allowed_below"]:
        return Finding(HOLDS, measured, words, power)
    deviations = (edge - beta) / reach * z_score(thresholds["level"])
    sure = int((ndtr(-deviations) < miss / count).sum())
    measured["below_for_sure"] = sure
    beyond_chance = below > binom.ppf(thresholds["level"], count, miss)
    return Finding(FAILS if sure or beyond_chance else UNTESTED, measured, words, power)


def limits_left_out(count: int) -> str:
    """What a finding says of fits that it leaves out since their limits are too uncertain; nothing of none."""
    return f"; limit uncertain and left out: {count}" if count else ""


def unresolved_tilt(fits: pd.DataFrame) -> pd.Series:
    """Fits with sizes below e^(2 s0^2), s0 the constant tilt: there a rate is not yet what it becomes, at any H."""
    return np.exp(2 * fits["constant_tilt"].astype(float) ** 2) > fits["n_min"]


def by_statistic(fits: pd.DataFrame, find) -> dict[str, Finding]:
    """The finding on the fits of the mean and on those of the covariance."""
    return {name: find(fits[fits["statistic"] == name]) for name in STATISTIC_NAMES}


def spread(values, digits: int = 2) -> str:
    """Smallest and largest number, or the one if they read alike."""
    low, high = f"{min(values):.{digits}f}", f"{max(values):.{digits}f}"
    return low if low == high else f"{low} to {high}"


def spoken(findings: dict[str, Finding]) -> str:
    """mean +0.12 [-0.12, +0.34]; covariance …"""
    return "; ".join(f"{STATISTIC_NAMES.get(name, name)} {finding.words}" for name, finding in findings.items())


def powers(findings: dict[str, Finding]) -> str:
    """What would have failed each part, said once if they agree."""
    each = {STATISTIC_NAMES.get(name, name): finding.power for name, finding in findings.items()}
    alike = set(each.values())
    return alike.pop() if len(alike) == 1 else "; ".join(f"{name}: {power}" for name, power in each.items())


def signed(value: float, digits: int = 2) -> str:
    """With a sign, and a minus that is one."""
    return f"{value:+.{digits}f}".replace("-", "−")


def rounded(value):
    """Plain numbers of few digits, which JSON can hold; one that is not finite is refused."""
    if isinstance(value, dict):
        return {str(key): rounded(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [rounded(inner) for inner in value]
    if isinstance(value, (float, np.floating)):
        if not math.isfinite(value):
            raise ValueError(f"a claim measured {value}: not a finite number")
        return float(f"{value:.{DIGITS}g}")
    return value.item() if isinstance(value, np.generic) else value


def model_name(rates: xr.Dataset) -> str:
    return rates.attrs["model"]["name"].split("/")[-1]
