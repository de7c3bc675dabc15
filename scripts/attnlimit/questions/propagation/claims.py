"""Our question on the whole model: do errors of attention made in different layers add in quadrature?"""

import numpy as np
import xarray as xr

from attnlimit.stats.claim import Finding, Fits, claim
from attnlimit.stats.verdicts import (
    HARDLY,
    UNDECIDED,
    YES,
    Part,
    chance,
    decide,
    every_p,
    every_part,
    measured_of,
    spoken,
    spread,
)


@claim(
    id="propagation_quadrature",
    headline="Errors of different layers add in quadrature",
    experiment="states of {model}",
    ours=True,
    statement="Errors of attention made in different layers of {model} add in quadrature in its last states, as "
    "independent ones do (the paper leaves stacked layers open).",
    test="Root of the sum of squared errors of layers drawn alone, over the error with all layers drawn, after the "
    "last layer; its interval, over blocks of text resampled whole, within the tolerance of 1.",
    fits=("propagation",),
    figure="propagation",
    thresholds=("quadrature_tolerance", "fewest_groups"),
)
def propagation_quadrature(fits: Fits, thresholds: dict) -> Finding:
    """After the last layer, at the largest n at which layers were drawn alone, for each of the statistics.

    Holds: every interval lies within the tolerance of 1.  Fails: one lies wholly outside, three times too probable
    by chance for three statistics (`every_p`).  Smaller n are shown but do
    not count: errors that are large saturate, and then do not add at all.
    """
    data = fits.stores["propagation"]
    last = data.isel(layer=-1, single_n=-1)
    n, blocks, tolerance = int(last["single_n"]), data.attrs["blocks"], thresholds["quadrature_tolerance"]
    reason = f"{blocks} blocks are too few for an interval" if blocks < thresholds["fewest_groups"] else ""
    reason = reason or ("the model has one layer" if data.sizes["layer"] < 2 else "")
    nothing = Part(UNDECIDED, {}, reason)
    parts = {
        str(name): nothing if reason else near_one(last.sel(statistic=name), tolerance)
        for name in data["statistic"].values
    }
    words, rms = reason or spoken(parts), data["rms"].isel(layer=-1).sel(n=n)
    beside = [
        f"n = {int(size):,}: {spread(data['quadrature'].isel(layer=-1).sel(single_n=size).values)}"
        for size in data["single_n"].values[:-1]
    ]
    smaller = f" At smaller n, which do not count: {'; '.join(beside)}." if beside else ""
    return Finding(
        every_part(parts),
        f"{words}; allowed {1 - tolerance:g} to {1 + tolerance:g}",
        {"n": n, "blocks": blocks, "articles": data.attrs["articles"]} | measured_of(parts),
        f"n = {n:,} drawn keys, errors {float(rms.min()):.3f} to {float(rms.max()):.3f} of the states' scale; "
        f"{words}.{smaller} 1: independent errors; below: they reinforce each other; above: they cancel or saturate.",
        f"not here: {reason}" if reason else power([part.measured for part in parts.values()]),
        p=every_p(parts),
        number=reason or f"root sum of squares over the joint error, mean: {parts['mean'].words}",
    )


def near_one(fit: xr.Dataset, tolerance: float) -> Part:
    """Of one statistic: where the interval of the ratio lies, and from what ratio on it would have failed."""
    ratio, low, high, aligned = (float(fit[f"quadrature{end}"]) for end in ("", "_low", "_high", "_in_step"))
    if not np.isfinite([ratio, low, high]).all():
        raise ValueError("results/rates/propagation.zarr.zip: a ratio without an interval; run fit_propagation again")
    measured = {"ratio": ratio, "low": low, "high": high, "if_in_step": aligned}
    below, above = 1 - tolerance - (high - ratio), 1 + tolerance + (ratio - low)
    measured |= {"fails_below": below, "fails_above": above}
    words = f"{ratio:.3f} [{low:.3f}, {high:.3f}]"
    edges = 1 - tolerance, 1 + tolerance
    return Part(decide(low, high, *edges), measured, words, p=chance(ratio, low, high, *edges))


def power(measured: list[dict]) -> str:
    """Ratios that would have failed, whatever the statistic, and whether errors in step would have."""
    below, above = min(each["fails_below"] for each in measured), max(each["fails_above"] for each in measured)
    aligned = [each["if_in_step"] for each in measured]
    able = YES if max(aligned) < below else HARDLY
    return f"{able}: a ratio below {below:.2f} or above {above:.2f} fails; errors in step would give {spread(aligned)}"
