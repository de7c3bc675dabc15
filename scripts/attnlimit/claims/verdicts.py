"""From numbers and thresholds to a verdict. Every rule here can go either way, and can also stay undecided."""

import math
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import ndtr, ndtri
from scipy.stats import binom, spearmanr

HOLDS, FAILS, UNTESTED = "holds", "does not hold", "not tested at this size"
VERDICTS = (HOLDS, FAILS, UNTESTED)
DIGITS = 4  # significant ones of the numbers written
STATISTIC_NAMES = {"mean": "mean", "cov": "covariance"}


class Look(NamedTuple):
    """How page and figure show a verdict."""

    symbol: str
    colour: str


# Told apart by the colour-blind, by their symbols too, and dark on white.
LOOKS = {HOLDS: Look("✓", "#029e73"), FAILS: Look("✗", "#b34d00"), UNTESTED: Look("?", "#5f5f5f")}


class Record(NamedTuple):
    """One claim and what this run says of it."""

    id: str
    claim: str
    verdict: str
    in_short: str  # the measured number beside its threshold, for the figure
    measured: dict
    test: str
    threshold: dict
    evidence: list
    why: str


class Finding(NamedTuple):
    """What one test found: a verdict, the numbers behind it, and a few words."""

    verdict: str
    measured: dict
    words: str


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


def falls_with_horizon(fits: pd.DataFrame, thresholds: dict) -> Finding:
    """Does beta fall with H?  Rank correlation over the unsaturated fits, with its interval.

    Holds: the interval lies below zero.  Fails: it excludes the weakest correlation that would count as a dependence.
    Not tested: too few fits; or horizons so alike that rates on the paper's curve could not be told apart, which is
    so if the curve changes from the weakest tenth of them to the strongest by less than `resolution` half-intervals.
    Horizons at which the curve is 1/2 anyhow are left out: there is no order among them to be found.
    """
    strong = fits[fits["horizon"] >= thresholds["weakest_horizon"]]
    used = strong[~strong["saturated"].astype(bool)]
    measured: dict[str, float] = {"fits": len(used), "saturated": len(strong) - len(used)}
    measured["no_power_law"] = int(used["misfit"].sum())
    if len(used) < thresholds["fewest_fits"]:
        return Finding(UNTESTED, measured, f"only {len(used)} unsaturated fits")
    curve = np.quantile(used["bound_v3"], [0.1, 0.9])
    half = float((used["beta_high"] - used["beta_low"]).median() / 2)
    resolution = float(curve[1] - curve[0]) / half
    correlation = float(spearmanr(used["horizon"], used["beta"]).statistic)
    low, high = correlation_interval(correlation, len(used), thresholds["level"])
    measured |= {"correlation": correlation, "low": low, "high": high, "resolution": resolution}
    measured["correlation_with_saturated"] = float(spearmanr(strong["horizon"], strong["beta"]).statistic)
    words = f"{correlation:+.2f} [{low:+.2f}, {high:+.2f}]"
    if resolution < thresholds["resolution"]:
        return Finding(UNTESTED, measured, f"{words} (horizons too alike)")
    if high < 0:
        return Finding(HOLDS, measured, words)
    if low > -thresholds["weakest_correlation"]:
        return Finding(FAILS, measured, words)
    return Finding(UNTESTED, measured, f"{words} (undecided)")


def stays_above(fits: pd.DataFrame, bound: pd.Series, thresholds: dict) -> Finding:
    """Does no rate lie below a bound?  Counts the unsaturated fits whose 95 % interval is wholly below it.

    Only those are asked that could have shown it: an error that does not fall at all, beta = 0, must come out below.
    Holds: no more than `allowed_below`.  Fails: more than chance gives if every rate were on the bound itself, or one
    so far below that it counts after division of the level by the number of fits.  Between: not decided.
    """
    reach = fits["beta_high"] - fits["beta"]
    able = ~fits["saturated"].astype(bool) & (bound > reach)
    beta, high, edge, reach = (column[able] for column in (fits["beta"], fits["beta_high"], bound, reach))
    count, below = int(able.sum()), int((high < edge).sum())
    miss = (1 - thresholds["level"]) / 2  # of an interval on one side
    expected = miss * count
    measured = {"fits": count, "left_out": len(fits) - count, "below": below, "below_by_chance": expected}
    words = f"{below} of {count} fits below ({expected:.1f} by chance if all were on it)"
    if count < thresholds["fewest_fits"]:
        return Finding(UNTESTED, measured, f"only {count} fits could show it")
    if below <= thresholds["allowed_below"]:
        return Finding(HOLDS, measured, words)
    deviations = (edge - beta) / reach * z_score(thresholds["level"])
    sure = int((ndtr(-deviations) < miss / count).sum())
    measured["below_for_sure"] = sure
    beyond_chance = below > binom.ppf(thresholds["level"], count, miss)
    return Finding(FAILS if sure or beyond_chance else UNTESTED, measured, words)


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
