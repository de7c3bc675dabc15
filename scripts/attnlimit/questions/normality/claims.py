"""The claim on normality at one query, tested on its simulation."""

import numpy as np
from scipy.special import kolmogi

from attnlimit.stats.claim import Finding, Fits, claim
from attnlimit.stats.verdicts import HOLDS, UNDECIDED, decide, every, most, spread, z_score


@claim(
    id="normality",
    statement="At one query the error of attention is asymptotically normal, with a variance that the tokens give an "
    "estimate of.",
    test="Coverage of the plug-in interval, and distance of the error's distribution from the normal, at the largest "
    "n.",
    fits=("normality",),
    figure="normality",
    thresholds=("level", "carriers", "coverage_tolerance", "distance_tolerance", "decided_share"),
)
def normality(fits: Fits, thresholds: dict) -> Finding:
    """Is the plug-in interval right and the error normal, at the largest n and the tilts this n can serve?

    Holds: no case fails, the share that must hold does, and no number, not even of an undecided case, lies outside what
    is allowed.
    """
    data = fits.stores["normality"]
    last = data.isel(n=-1)
    able = (last["carriers"] >= thresholds["carriers"]).values
    level, tilts = data.attrs["level"], last["tilt"].values
    cases = [
        f"|t| = {tilt:g}, coordinate {number + 1}" for tilt in tilts[able] for number in range(last.sizes["coordinate"])
    ]
    half = z_score(thresholds["level"]) * last["coverage_se"].values[able].ravel()
    coverage, gap = (last[name].values[able].ravel() for name in ("coverage", "distance"))
    edges = level - thresholds["coverage_tolerance"], level + thresholds["coverage_tolerance"]
    covered = [decide(c - h, c + h, *edges) for c, h in zip(coverage, half, strict=True)]
    noise = float(kolmogi(1 - thresholds["level"])) / np.sqrt(data.attrs["replicates"])
    allowed = thresholds["distance_tolerance"]
    close = [decide(g - noise, g, most=allowed) if noise <= allowed else UNDECIDED for g in gap]
    verdict = every([most(verdicts, thresholds["decided_share"]) for verdicts in (covered, close)])
    outside = ((coverage < edges[0]) | (coverage > edges[1])).any() or (gap > allowed).any()
    verdict = UNDECIDED if verdict == HOLDS and outside else verdict
    words = f"coverage {spread(coverage, 3)}, distance up to {gap.max():.3f}" if able.any() else "no tilt can be served"
    open_cases = [
        f"coverage {c:.3f} at {case}" for case, c, v in zip(cases, coverage, covered, strict=True) if v == UNDECIDED
    ]
    open_cases += [
        f"distance {g:.3f} at {case}" for case, g, v in zip(cases, gap, close, strict=True) if v == UNDECIDED
    ]
    named = f" Undecided: {'; '.join(open_cases)}." if open_cases else ""
    beyond = ", ".join(f"{tilt:g}" for tilt in tilts[~able])
    seen = (
        f"coverage off by {thresholds['coverage_tolerance'] + half.max():.3f}, or a distance of " if able.any() else ""
    )
    return Finding(
        verdict,
        f"{words}; allowed {edges[0]:g} to {edges[1]:g}, to {allowed:g}; {len(open_cases)} of {2 * len(gap)} undecided",
        {"n": int(last["n"]), "tilts": tilts[able].tolist(), "tilts_left_out": tilts[~able].tolist()}
        | {"coverage": coverage.tolist(), "distance": gap.tolist(), "tests": 2 * len(gap), "undecided": open_cases},
        f"At n = {int(last['n']):,}: {words}.{named}"
        + (f" Tilts {beyond} are not tested: too few tokens carry their variance." if beyond else ""),
        f"yes: {seen}{allowed + noise:.3f} fails it" if able.any() else "not here: no tilt can be served",
    )
