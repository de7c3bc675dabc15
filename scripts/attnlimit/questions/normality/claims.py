"""The claim on normality at one query, tested on its simulation."""

import numpy as np
from scipy.special import kolmogi, kolmogorov

from attnlimit.stats.claim import Finding, Fits, claim
from attnlimit.stats.estimate import Estimate
from attnlimit.stats.verdicts import (
    NOT_HERE,
    UNDECIDED,
    YES,
    chance,
    decide,
    every,
    joint_chance,
    spread,
    within,
    z_score,
)

CASES = ("coverage", "coverage_se", "distance")


@claim(
    id="normality",
    headline="At one query the error is asymptotically normal",
    experiment="simulated tokens",
    statement="At one query the error of attention is asymptotically normal, with a variance that the tokens give an "
    "estimate of.",
    test="Coverage of the plug-in interval, and distance of the error's distribution from the normal, each with its "
    "interval, wherever enough tokens carry the variance (carriers: the squared effective sample size over n).",
    fits=("normality",),
    figure="normality",
    thresholds=("level", "carriers", "coverage_tolerance", "distance_tolerance"),
)
def normality(fits: Fits, thresholds: dict) -> Finding:
    """Is the plug-in interval right and the error normal, wherever enough tokens carry the variance?"""
    data = fits.stores["normality"]
    level, replicates, enough = data.attrs["level"], data.attrs["replicates"], thresholds["carriers"]
    able = (data["carriers"] >= enough).values
    coverage, se, gap = (data[name].transpose("setting", "n", ...).values[able].ravel() for name in CASES)
    half = z_score(thresholds["level"]) * se
    edges = level - thresholds["coverage_tolerance"], level + thresholds["coverage_tolerance"]
    noise, allowed = float(kolmogi(1 - thresholds["level"])) / np.sqrt(replicates), thresholds["distance_tolerance"]
    verdicts = [decide(c - h, c + h, *edges) for c, h in zip(coverage, half, strict=True)]
    verdicts += [decide(g - noise, g + noise, most=allowed) for g in gap]
    chances = [chance(c, c - h, c + h, *edges) for c, h in zip(coverage, half, strict=True)]
    chances += [float(kolmogorov(np.sqrt(replicates) * abs(allowed - g))) for g in gap]
    short, power = Estimate.of(data, "shortfall"), Estimate.of(data, "shortfall_power")
    measured: dict = {"cases": len(gap), "left_out": int((~able).sum()) * data.sizes["coordinate"]}
    if not able.any():
        return Finding(
            UNDECIDED,
            "too few tokens carry the variance",
            measured,
            "Nowhere do enough tokens carry the variance.",
            f"{NOT_HERE}: no case",
        )
    words = f"coverage {spread(coverage, 3)}, distance up to {gap.max():.3f}"
    falls = ""
    if np.isfinite(short.value):
        measured |= {"shortfall": short._asdict(), "shortfall_power": power._asdict()}
        falls = (
            f" Where fewer tokens carry it, the coverage along the tilt falls short of {level:.0%}: by "
            f"{short.value:.3f} [{short.low:.3f}, {short.high:.3f}] at 1,000 of them, scaling like their number to the "
            f"power {within(-power.value, -power.high, -power.low)}."
        )
    return Finding(
        every(verdicts),
        f"{words} where at least {enough:,.0f} tokens carry the variance; allowed {edges[0]:g} to {edges[1]:g}, "
        f"to {allowed:g}",
        measured | {"coverage": coverage.tolist(), "distance": gap.tolist()},
        f"In the {len(gap)} cases with at least {enough:,.0f} tokens to carry the variance: {words}.{falls}",
        f"{YES}: coverage off by {thresholds['coverage_tolerance'] + half.max():.3f}, or a distance of "
        f"{allowed + noise:.3f}, fails it",
        p=joint_chance(verdicts, chances),
        number=f"coverage {spread(coverage, 3)} of {level:g}",
    )
