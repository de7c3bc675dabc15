"""Claims on the largest error over a ball of queries: its rate in n, and how its constant C(R) grows."""

import numpy as np
import xarray as xr

from attnlimit.rates import Bootstrap, error_curve, fit
from attnlimit.verdicts import (
    FAILS,
    HOLDS,
    UNTESTED,
    Finding,
    Record,
    decide,
    every,
    most,
    pick,
    spoken,
    spread,
    z_score,
)


def uniform_rate(fits: xr.Dataset, thresholds: dict) -> Record:
    """Does the largest error over a ball fall like 1/sqrt(n)?

    Asked where theory lets one see it: at the sizes at which enough tokens carry the variance (`growth.reached`), which
    is decided by effective sample sizes and not by the slope.
    """
    enough = fits["effective"] ** 2 / fits["n"] >= thresholds["carriers"]
    value, se = fits["value"].where(enough).values, fits["value_se"].values
    found = fit(fits["n"].values, value, (se / value) ** 2)
    able = np.isfinite(found["beta"])
    half = z_score(thresholds["level"]) * found["se"]
    edges = 0.5 - thresholds["slope_tolerance"], 0.5 + thresholds["slope_tolerance"]
    verdicts = [decide(b - h, b + h, *edges) for b, h in zip(found["beta"][able], half[able], strict=True)]
    beta, radius = found["beta"][able], fits["radius"].values
    slopes = spread(beta, 3) if len(beta) else "not to be had"
    counted = f"{verdicts.count(HOLDS)} of {len(verdicts)} balls decided for, {verdicts.count(FAILS)} against"
    reach = f"up to R = {radius[able].max():g} of {radius.max():g}" if len(beta) else "at no radius"
    return Record(
        "uniform_rate",
        "The attention map converges uniformly on a ball of radius R like C(R) / sqrt(n) (abstract).",
        most(verdicts, thresholds["decided_share"]),
        f"slope {slopes}; allowed {edges[0]:.2f} to {edges[1]:.2f}",
        {"balls": len(verdicts), "hold": verdicts.count(HOLDS), "fail": verdicts.count(FAILS), "beta": beta.tolist()}
        | {"balls_left_out": int((~able).sum())},
        "Slope of E sup on n for each ball, where enough tokens carry the variance: 1/2 within the tolerance.",
        pick(thresholds, "level", "carriers", "slope_tolerance", "decided_share"),
        ["results/rates/uniform.zarr.zip", "figure uniform"],
        f"Where it can be seen, {reach}, the slope is {slopes} ({counted}); at larger R these n are too small.",
    )


def growth_changes(fits: xr.Dataset, suprema: xr.Dataset, thresholds: dict, stream) -> dict[str, Finding]:
    """How the growth rate of ln C(R) changes over the radii, relative to its mean; one finding a dimension.

    ln C = a + g R + q R^2 by least squares at the largest n of the dimension, over the radii at which enough tokens
    carry the variance; change = 2 q (R_max - R_min) / g, with g at the middle.  Negative: slower than an exponential;
    zero: an exponential; positive: faster.  The radii share their samples, so replicates are resampled jointly.
    """
    findings = {}
    for dimension in np.unique(suprema["dimension"]):
        mine = (suprema["dimension"] == dimension).values
        data = suprema.isel(setting=mine)
        largest = data["n"].values[np.isfinite(data["sup"].values).all((0, 1))].max()
        at = fits.isel(setting=mine).sel(n=largest)
        use = (at["effective"] ** 2 / largest >= thresholds["carriers"]).values
        radius, sup = data["radius"].values[use], data["sup"].sel(n=largest).values[use]  # (radius, replicate)
        measured = {"radii": len(radius), "n": int(largest)}
        name = f"d = {dimension}"
        if len(radius) < thresholds["fewest_radii"]:
            findings[name] = Finding(UNTESTED, measured, f"only {len(radius)} radii")
            continue
        plan = Bootstrap(thresholds["bootstrap"], True, stream)
        curve = error_curve(sup.T[None], plan)  # value (1, radius)
        offset = radius - (radius[0] + radius[-1]) / 2
        quadratic, slope, _ = np.polyfit(offset, np.log(curve.resampled[:, 0]).T, 2)  # (draw,) each
        tail = 100 * (1 - thresholds["level"]) / 2
        low, high = np.percentile(2 * quadratic * (radius[-1] - radius[0]) / slope, [tail, 100 - tail])
        slope_low = np.percentile(slope, tail)
        measured |= {"change_low": low, "change_high": high, "slope_low": slope_low, "largest_radius": radius[-1]}
        measured["over_clt"] = (np.sqrt(largest) * curve.value[0] / data["clt_sup"].values[use]).tolist()
        verdict = HOLDS if slope_low > 0 else FAILS
        findings[name] = Finding(verdict, measured, f"[{low:+.2f}, {high:+.2f}]")
    return findings


def uniform_growth(changes: dict[str, Finding], thresholds: dict) -> tuple[Record, Record]:
    """Is C(R) as steep as an exponential, and is it no steeper?  Two readings of one sentence."""
    tolerance = thresholds["growth_tolerance"]

    def judge(finding: Finding, **allowed: float) -> str:
        if finding.verdict != HOLDS:
            return finding.verdict
        return decide(finding.measured["change_low"], finding.measured["change_high"], **allowed)

    at_least = every([judge(finding, least=-tolerance) for finding in changes.values()])
    at_most = every([judge(finding, most=tolerance) for finding in changes.values()])
    measured = {name: finding.measured for name, finding in changes.items()}
    shared = {
        "measured": measured,
        "threshold": pick(thresholds, "level", "carriers", "fewest_radii", "growth_tolerance", "bootstrap"),
        "evidence": ["results/synthetic/uniform.zarr.zip", "results/rates/uniform.zarr.zip", "figure uniform"],
    }
    words = "Relative change of the growth rate of ln C over the radii: " + spoken(changes)
    return (
        Record(
            id="uniform_growth",
            claim="C(R) grows exponentially with R (abstract), read as: no slower than an exponential.",
            verdict=at_least,
            in_short=f"growth rate changes by {spoken(changes)}; asked: no less than {-tolerance:g}",
            test="Change of d ln C / dR over the radii, by joint bootstrap: not below minus the tolerance.",
            why=f"{words}; so short a range of R does not exclude a polynomial that begins as steeply.",
            **shared,
        ),
        Record(
            id="uniform_one_exponential",
            claim="C(R) grows exponentially with R (abstract), read word by word: one rate c serves all R in e^(cR).",
            verdict=at_most,
            in_short=f"growth rate changes by {spoken(changes)}; asked: no more than {tolerance:g}",
            test="Change of d ln C / dR over the radii, by joint bootstrap: not above the tolerance.",
            why=f"{words}; for Gaussian tokens the central limit theorem gives about e^(R^2/2), above every e^(cR).",
            **shared,
        ),
    )
