"""Claims on the largest error over a ball of queries: its rate in n, and how its constant C(R) grows."""

import numpy as np
import xarray as xr

from attnlimit.stats.claim import Finding, Fits, claim
from attnlimit.stats.estimate import Estimate
from attnlimit.stats.verdicts import (
    FAILS,
    HARDLY,
    HOLDS,
    NOT_HERE,
    UNDECIDED,
    Part,
    chance,
    could_fail,
    decide,
    every_p,
    every_part,
    joint_chance,
    most,
    spoken,
    spread,
    z_score,
)


@claim(
    id="uniform_rate",
    headline="The largest error over queries of norm ≤ R is C(R)/√n",
    experiment="rate in n",
    statement="The attention map converges uniformly on a ball of radius R like C(R)/√n (abstract).",
    test="Slope of E sup on n for each ball, where enough tokens carry the variance and its interval is at most half "
    "the tolerance: 1/2 within the tolerance.",
    fits=("uniform",),
    figure="uniform",
    thresholds=("level", "slope_tolerance", "decided_share"),
)
def uniform_rate(fits: Fits, thresholds: dict) -> Finding:
    """Does the largest error over a ball fall like 1/sqrt(n), for each law of the tokens?

    Asked where theory lets one see it: at the sizes at which enough tokens carry the variance (`fit.fit_uniform`),
    and of the balls whose slope is known well enough, half the tolerance, for these to decide anything.
    """
    data = fits.stores["uniform"]
    beta, se = data["carried_beta"].values, data["carried_se"].values
    half, radius = z_score(thresholds["level"]) * se, data["radius"].values
    able = half <= thresholds["slope_tolerance"] / 2  # not where it is NaN
    beta, half = beta[able], half[able]
    edges = 0.5 - thresholds["slope_tolerance"], 0.5 + thresholds["slope_tolerance"]
    verdicts = [decide(b - h, b + h, *edges) for b, h in zip(beta, half, strict=True)]
    chances = [chance(b, b - h, b + h, *edges) for b, h in zip(beta, half, strict=True)]
    slopes = spread(beta, 3) if len(beta) else "not resolved at these n"
    counted = f"{verdicts.count(HOLDS)} of {len(verdicts)} balls decided for, {verdicts.count(FAILS)} against"
    laws = data["law"].values
    resolved = {law: radius[(laws == law) & able] for law in data["of_law"].values.tolist()}
    reach = (
        ", ".join(f"{law} up to R = {some.max():g}" for law, some in resolved.items() if len(some)) or "at no radius"
    )
    return Finding(
        most(verdicts, thresholds["decided_share"]),
        f"slope {slopes} in {len(beta)} of {len(able)} balls ({reach}); allowed {edges[0]:.2f} to {edges[1]:.2f}",
        {"balls": len(verdicts), "hold": verdicts.count(HOLDS), "fail": verdicts.count(FAILS), "beta": beta.tolist()}
        | {"balls_left_out": int((~able).sum())},
        f"Where it can be seen, {reach}, the slope is {slopes} ({counted}); at larger R these n are too small.",
        f"yes: a slope off by more than {edges[1] - 0.5 + float(np.median(half)):.3f} fails the median ball"
        if len(beta)
        else f"{NOT_HERE}: no ball can be judged",
        p=joint_chance(verdicts, chances, thresholds["decided_share"]),
        number=f"slope {slopes} in the {len(beta)} of {len(able)} balls that these n resolve",
    )


def growth_of_law(fit: xr.Dataset, thresholds: dict) -> Part:
    """Is C(R) of one law at most exponential: is its growth rate over the upper radii no larger than over all?

    The rate over the upper half of the radii, with its interval, against the mean rate ln(C(R_max) / C(R_min)) over
    the range, up to the tolerance; or C has practically reached a bound: at that rate it would grow by less than the
    tolerance over as wide a range again.
    """
    tolerance, radii = thresholds["growth_tolerance"], int(fit["change_radii"])
    measured: dict[str, float] = {"radii": radii, "n": int(fit["change_n"]), "p": 1.0}
    if radii < thresholds["fewest_radii"]:
        return Part(UNDECIDED, measured, f"only {radii} radii", "too few radii", NOT_HERE)
    total, upper = (Estimate.of(fit, f"{which}_growth") for which in ("total", "upper"))
    growths = total.variables("total_growth") | upper.variables("upper_growth")
    measured |= {name: float(value) for name, (_, value) in growths.items()}
    smallest, largest = (float(fit[f"change_{end}_radius"]) for end in ("smallest", "largest"))
    measured |= {"smallest_radius": smallest, "largest_radius": largest}
    spanned = largest - smallest
    mean = measured["mean_growth"] = float(np.log(total.value) / spanned)
    edge = max(mean * (1 + tolerance), tolerance / spanned)
    verdict, measured["p"] = decide(*upper[1:], most=edge), chance(*upper, most=edge)
    words = (
        f"by a factor of {total.value:.3g} [{total.low:.3g}, {total.high:.3g}] from R = {smallest:g} to {largest:g}, "
        f"d ln C/dR {mean:.3f} over all and {upper.value:.3f} over the upper radii"
    )
    reach = edge + upper.value - upper.low
    power = f"compact support alone implies it for large R; a rate above {reach:.2f} over the upper radii"
    return Part(verdict, measured, words, power, HARDLY, p=measured["p"])


@claim(
    id="uniform_growth",
    headline="The largest error over queries of norm ≤ R is C(R)/√n",
    experiment="C(R) at most exponential, compact support",
    statement="Tokens of compact support: C(R) grows at most exponentially with R (abstract, an upper bound).",
    test="Rate d ln C/dR over the upper half of the radii, by joint bootstrap: no larger than over all, up to the "
    "tolerance, or so small that C(R) is practically bounded. Laws of compact support are judged, others reported.",
    fits=("uniform",),
    figure="uniform",
    thresholds=("fewest_radii", "growth_tolerance"),
)
def uniform_growth(fits: Fits, thresholds: dict) -> Finding:
    """How C(R) grows for each law of the tokens; the verdict is on the laws of compact support.

    For these the paper's bound is an exponential in R.  Gaussian tokens have no such support: the central limit theorem
    gives about e^(R^2/2), above every e^(cR) for large R, so that their growth is reported, not judged.
    """
    data = fits.stores["uniform"]
    laws = data["of_law"].values.tolist()
    compact = {law: bool(data["compact"].values[(data["law"] == law).values].all()) for law in laws}
    parts = {law: growth_of_law(data.sel(of_law=law), thresholds) for law in laws}
    judged = {law: part for law, part in parts.items() if compact[law]}
    others = {law: part for law, part in parts.items() if not compact[law]}
    beside = f" Beside them, not judged: {spoken(others)}. " if others else " "
    theory = (
        "Over so few radii an exponential with a larger rate bounds these too; for large R the central limit theorem "
        "gives about exp(R²/2), above every exp(cR)."
        if others
        else ""
    )
    none = "no law of compact support was run"
    growths = "; ".join(f"{law} {part.words.partition(', d ln')[0]}" for law, part in judged.items())
    return Finding(
        every_part(judged),
        f"C(R) grows: {spoken(judged or parts)}; required: no faster over the upper radii than over all",
        {law: part.measured | {"compact": compact[law]} for law, part in parts.items()},
        f"C(R) grows with the law: {spoken(judged) or none}.{beside}{theory}".strip(),
        could_fail(judged) if judged else f"{NOT_HERE}: {none}",
        p=every_p(judged),
        number=f"C(R) grows: {growths}; faster than any exponential for Gaussian tokens, by theory" if judged else none,
    )
