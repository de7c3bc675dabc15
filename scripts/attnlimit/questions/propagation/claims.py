"""Our questions on the whole model: do errors of different layers add in quadrature, is the rate 1/2 at any depth?"""

import numpy as np
import xarray as xr

from attnlimit.stats.claim import Finding, Fits, claim
from attnlimit.stats.estimate import Estimate
from attnlimit.stats.fits import without_replacement
from attnlimit.stats.power_law import upper_two_thirds
from attnlimit.stats.verdicts import (
    HARDLY,
    UNDECIDED,
    YES,
    Part,
    chance,
    decide,
    every,
    every_p,
    every_part,
    joint_chance,
    measured_of,
    spoken,
    spread,
    within,
)

FASTER = (
    " After some layers the interval lies above 1/2: at these n the error falls faster than 1/√n, as one that leaves "
    "its plateau. A bound of order 1/√n is not contradicted."
)
SUBSET = " Keys are drawn without replacement: the error vanishes at the length of a block, which steepens the rates."


@claim(
    id="propagation_quadrature",
    headline="Errors of different layers add in quadrature",
    experiment="states of {model}",
    ours=True,
    statement="With keys drawn independently in each layer of {model}, errors of different layers add in quadrature in "
    "its last states, as to first order they must (not the paper's open case: the same n tokens in all layers).",
    test="Root of the sum of squared errors of layers drawn alone, over the error with all layers drawn, after the "
    "last layer; its interval, over blocks of text resampled whole, within the tolerance of 1.",
    fits=("propagation",),
    figure="propagation",
    thresholds=("quadrature_tolerance", "fewest_groups"),
)
def propagation_quadrature(fits: Fits, thresholds: dict) -> Finding:
    """After the last layer, at the largest n at which layers were drawn alone, for each of the statistics.

    Holds: every interval lies within the tolerance of 1.  Fails: one lies wholly outside; its probability is multiplied
    by the number of statistics (Bonferroni: `every_p`).  Smaller n are shown but do not count: large errors saturate,
    and then do not add at all.
    """
    data = fits.stores["propagation"]
    last = data.isel(layer=-1, single_n=-1)
    n, blocks, tolerance = int(last["single_n"]), data.attrs["blocks"], thresholds["quadrature_tolerance"]
    reason = too_little(data, thresholds["fewest_groups"])
    nothing = Part(UNDECIDED, {}, reason)
    parts = {
        str(name): nothing if reason else near_one(last.sel(statistic=name), tolerance, blocks - 1)
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


def too_little(data: xr.Dataset, fewest: int) -> str:
    """Why nothing can be said of several layers; "" if something can."""
    blocks = data.attrs["blocks"]
    reason = f"{blocks} blocks are too few for an interval" if blocks < fewest else ""
    return reason or ("the model has one layer" if data.sizes["layer"] < 2 else "")


def near_one(fit: xr.Dataset, tolerance: float, freedom: int) -> Part:
    """Of one statistic: where the interval of the ratio lies, and from what ratio on it would have failed.

    freedom: degrees of freedom of the interval, which has the tails of Student's law.
    """
    (ratio, low, high), aligned = Estimate.of(fit, "quadrature"), float(fit["quadrature_in_step"])
    if not np.isfinite([ratio, low, high]).all():
        raise ValueError("results/rates/propagation.zarr.zip: a ratio without an interval; run fit_propagation again")
    measured = {"ratio": ratio, "low": low, "high": high, "if_in_step": aligned}
    below, above = 1 - tolerance - (high - ratio), 1 + tolerance + (ratio - low)
    measured |= {"fails_below": below, "fails_above": above}
    words = f"{ratio:.3f} [{low:.3f}, {high:.3f}]"
    edges = 1 - tolerance, 1 + tolerance
    return Part(decide(low, high, *edges), measured, words, p=chance(ratio, low, high, *edges, freedom=freedom))


def power(measured: list[dict]) -> str:
    """Ratios that would have failed, whatever the statistic, and whether errors in step would have."""
    below, above = min(each["fails_below"] for each in measured), max(each["fails_above"] for each in measured)
    aligned = [each["if_in_step"] for each in measured]
    able = YES if max(aligned) < below else HARDLY
    return f"{able}: a ratio below {below:.2f} or above {above:.2f} fails; errors in step would give {spread(aligned)}"


@claim(
    id="propagation_depth",
    headline="The rate is 1/2 at every depth",
    experiment="states of {model}",
    ours=True,
    statement="Keys drawn anew in each layer of {model}: the error after every layer falls like 1/√n over the n "
    "measured, with the same power at every depth (arXiv 2605.16747 states a rate uniform in depth for the same n "
    "tokens in all layers; the paper leaves stacked layers open).",
    test="Rate after each layer over the upper two thirds of n, and how much a line through these rates changes from "
    "the first layer to the last; every interval, over blocks of text resampled whole, within the tolerance of 1/2, "
    "or of 0.",
    fits=("propagation",),
    figure="propagation_gain",
    thresholds=("depth_tolerance", "fewest_groups"),
)
def propagation_depth(fits: Fits, thresholds: dict) -> Finding:
    """For each of the statistics: the rate after every layer, and its change over the depth.

    Holds: every interval lies within the tolerance.  Fails: one lies wholly outside; its probability is multiplied by
    the number of intervals (Bonferroni: `joint_chance`, `every_p`).  A statistic whose error is above half of its scale
    after some layer, at the smallest n that counts, decides nothing: its slope is no exponent.  Sizes and
    tolerance were chosen before late_rate met data, with rates over all n of a first look known (16 to 3,072: mean .45
    to .53, pointwise from .37).
    In arXiv 2605.16747 the same n tokens pass through all layers; here each layer draws its own keys.
    """
    data, tolerance = fits.stores["propagation"], thresholds["depth_tolerance"]
    sizes = data["n"].values[upper_two_thirds(data["n"].values)]
    reason = too_little(data, thresholds["fewest_groups"])
    parts = {
        str(name): Part(UNDECIDED, {}, reason)
        if reason
        else same_rate(data.sel(statistic=name), tolerance, data.attrs["blocks"] - 1)
        for name in data["statistic"].values
    }
    words = reason or spoken(parts)
    decided = [part.measured for part in parts.values() if part.measured]
    power = "not here: " + (reason or "errors are too large")
    if decided:
        rate, change = (max(each[name] for each in decided) for name in ("rate_fails", "change_fails"))
        power = f"{YES}: a rate off 1/2 by {rate:.2f} after a layer, or a change by {change:.2f} over all, fails it"
    faster = any(max(each["low"]) > 0.5 + tolerance for each in decided)
    counted = {"n_from": int(sizes[0]), "n_to": int(sizes[-1]), "blocks": data.attrs["blocks"]}
    return Finding(
        every_part(parts),
        f"n from {sizes[0]:,} to {sizes[-1]:,}: {words}; allowed {0.5 - tolerance:g} to {0.5 + tolerance:g}, "
        f"change within ±{tolerance:g}{'; faster than 1/√n contradicts no bound' if faster else ''}",
        counted | {"articles": data.attrs["articles"]} | measured_of(parts),
        f"Keys drawn in all {data.sizes['layer']} layers, n from {sizes[0]:,} to {sizes[-1]:,}: {words}."
        f"{FASTER if faster else ''}"
        f"{SUBSET if without_replacement(data.attrs) else ''}",
        power,
        p=every_p(parts),
        number=reason or f"β after each layer, allowed 1/2 ± {tolerance:g}, mean: {parts['mean'].words}",
    )


def same_rate(fit: xr.Dataset, tolerance: float, freedom: int) -> Part:
    """Of one statistic: where the intervals of its rates and of their change lie, and what would have failed."""
    if fit["late_saturated"].any():
        layers = fit["layer"].values[fit["late_saturated"].values]
        return Part(UNDECIDED, {}, f"too large for an exponent after layer {layers[0]}")
    rates, change = Estimate.of(fit, "late_rate"), Estimate.of(fit, "depth_change")
    if not np.isfinite([*rates.low, *rates.high, *change]).all():
        raise ValueError("results/rates/propagation.zarr.zip: a rate without an interval; run fit_propagation again")
    edges, around = (0.5 - tolerance, 0.5 + tolerance), (-tolerance, tolerance)
    each = list(zip(*rates, strict=True))  # value, low, high of every layer
    verdicts = [*(decide(low, high, *edges) for _, low, high in each), decide(*change[1:], *around)]
    probabilities = [chance(*one, *edges, freedom=freedom) for one in each]
    probabilities.append(chance(*change, *around, freedom=freedom))
    reach = float((rates.high - rates.low).max() / 2), (change.high - change.low) / 2
    measured = {name: part.tolist() for name, part in zip(("rate", "low", "high"), rates, strict=True)}
    measured |= {"change": change.value, "change_low": change.low, "change_high": change.high}
    measured |= {"rate_fails": tolerance + reach[0], "change_fails": tolerance + reach[1]}
    words = f"{spread(rates.value)} (± {reach[0]:.2f}), change {within(*change)}"
    return Part(every(verdicts), measured, words, p=joint_chance(verdicts, probabilities))
