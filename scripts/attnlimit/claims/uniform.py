"""Claims on the largest error over a ball of queries: its rate in n, and how its constant C(R) grows."""

from typing import Any

import numpy as np
import xarray as xr

from attnlimit.claims.statements import STATEMENTS
from attnlimit.claims.verdicts import (
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

    Asked where theory lets one see it: at the sizes at which enough tokens carry the variance (`growth.fit_uniform`).
    """
    beta, se = fits["carried_beta"].values, fits["carried_se"].values
    able = np.isfinite(beta)
    beta, half, radius = beta[able], z_score(thresholds["level"]) * se[able], fits["radius"].values
    edges = 0.5 - thresholds["slope_tolerance"], 0.5 + thresholds["slope_tolerance"]
    verdicts = [decide(b - h, b + h, *edges) for b, h in zip(beta, half, strict=True)]
    slopes = spread(beta, 3) if len(beta) else "not to be had"
    counted = f"{verdicts.count(HOLDS)} of {len(verdicts)} balls decided for, {verdicts.count(FAILS)} against"
    reach = f"up to R = {radius[able].max():g} of {radius.max():g}" if len(beta) else "at no radius"
    return Record(
        "uniform_rate",
        STATEMENTS["uniform_rate"],
        most(verdicts, thresholds["decided_share"]),
        f"slope {slopes}; allowed {edges[0]:.2f} to {edges[1]:.2f}",
        {"balls": len(verdicts), "hold": verdicts.count(HOLDS), "fail": verdicts.count(FAILS), "beta": beta.tolist()}
        | {"balls_left_out": int((~able).sum())},
        "Slope of E sup on n for each ball, where enough tokens carry the variance: 1/2 within the tolerance.",
        pick(thresholds, "level", "slope_tolerance", "decided_share"),
        ["results/rates/uniform.zarr.zip", "figure uniform"],
        f"Where it can be seen, {reach}, the slope is {slopes} ({counted}); at larger R these n are too small.",
    )


def growth_findings(fits: xr.Dataset, thresholds: dict) -> dict[str, Finding]:
    """Whether ln C(R) grows at all, with the change of its growth rate over the radii; one finding a law."""
    findings = {}
    for name in fits["of_law"].values.tolist():
        mine, radii = fits.sel(of_law=name), int(fits["change_radii"].sel(of_law=name))
        measured: dict[str, object] = {"radii": radii, "n": int(mine["change_n"])}
        if radii < thresholds["fewest_radii"]:
            findings[name] = Finding(UNTESTED, measured, f"only {radii} radii")
            continue
        low, high, slope_low = (float(mine[f"change_{end}"]) for end in ("low", "high", "slope_low"))
        measured |= {"change_low": low, "change_high": high, "slope_low": slope_low}
        measured["largest_radius"] = float(mine["change_largest_radius"])
        over_clt = mine["over_clt"].values[(mine["law"] == name).values]
        measured["over_clt"] = over_clt[np.isfinite(over_clt)].tolist()
        findings[name] = Finding(HOLDS if slope_low > 0 else FAILS, measured, f"[{low:+.2f}, {high:+.2f}]")
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
    shared: dict[str, Any] = {
        "measured": measured,
        "threshold": pick(thresholds, "fewest_radii", "growth_tolerance"),
        "evidence": ["results/rates/uniform.zarr.zip", "figure uniform"],
    }
    words = "Relative change of the growth rate of ln C over the radii: " + spoken(changes)
    return (
        Record(
            id="uniform_growth",
            claim=STATEMENTS["uniform_growth"],
            verdict=at_least,
            in_short=f"growth rate changes by {spoken(changes)}; asked: no less than {-tolerance:g}",
            test="Change of d ln C / dR over the radii, by joint bootstrap: not below minus the tolerance.",
            why=f"{words}; so short a range of R does not exclude a polynomial that begins as steeply.",
            **shared,
        ),
        Record(
            id="uniform_one_exponential",
            claim=STATEMENTS["uniform_one_exponential"],
            verdict=at_most,
            in_short=f"growth rate changes by {spoken(changes)}; asked: no more than {tolerance:g}",
            test="Change of d ln C / dR over the radii, by joint bootstrap: not above the tolerance.",
            why=f"{words}; for Gaussian tokens the central limit theorem gives about e^(R^2/2), above every e^(cR).",
            **shared,
        ),
    )
