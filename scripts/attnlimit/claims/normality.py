"""The claim on normality at one query, tested on its simulation."""

import numpy as np
import xarray as xr
from scipy.special import kolmogi

from attnlimit.claims.statements import STATEMENTS
from attnlimit.claims.verdicts import UNTESTED, Record, decide, every, most, pick, spread, z_score


def normality(data: xr.Dataset, thresholds: dict) -> Record:
    """Is the plug-in interval right and the error normal, at the largest n and the tilts this n can serve?"""
    last = data.isel(n=-1)
    able = (last["carriers"] >= thresholds["carriers"]).values
    level, tilts = data.attrs["level"], last["tilt"].values
    half = z_score(thresholds["level"]) * last["coverage_se"].values[able].ravel()
    coverage = last["coverage"].values[able].ravel()
    edges = level - thresholds["coverage_tolerance"], level + thresholds["coverage_tolerance"]
    covered = [decide(c - h, c + h, *edges) for c, h in zip(coverage, half, strict=True)]
    noise = float(kolmogi(1 - thresholds["level"])) / np.sqrt(data.attrs["replicates"])
    gap = last["distance"].values[able].ravel()
    allowed = thresholds["distance_tolerance"]
    close = [decide(g - noise, g, most=allowed) if noise <= allowed else UNTESTED for g in gap]
    verdict = every([most(verdicts, thresholds["decided_share"]) for verdicts in (covered, close)])
    words = f"coverage {spread(coverage, 3)}, distance up to {gap.max():.3f}" if able.any() else "no tilt can be served"
    undecided = (covered + close).count(UNTESTED)
    beyond = ", ".join(f"{tilt:g}" for tilt in tilts[~able])
    return Record(
        "normality",
        STATEMENTS["normality"],
        verdict,
        f"{words} ({undecided} of {2 * len(gap)} undecided); allowed {edges[0]:g} to {edges[1]:g}, to {allowed:g}",
        {"n": int(last["n"]), "tilts": tilts[able].tolist(), "tilts_left_out": tilts[~able].tolist()}
        | {"coverage": coverage.tolist(), "distance": gap.tolist(), "tests": 2 * len(gap), "undecided": undecided},
        "Coverage of the plug-in interval, and distance of the error's distribution from the normal, at the largest n.",
        pick(thresholds, "level", "carriers", "coverage_tolerance", "distance_tolerance", "decided_share"),
        ["results/rates/normality.zarr.zip", "figure normality"],
        f"At n = {int(last['n'])}: {words}; {undecided} of {2 * len(gap)} tests undecided."
        + (f" Tilts {beyond} are not tested: too few tokens carry their variance." if beyond else ""),
    )
