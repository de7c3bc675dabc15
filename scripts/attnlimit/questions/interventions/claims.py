"""Claims on all heads of a model with one thing changed: causal where a correlation over heads is not."""

import numpy as np
import xarray as xr

from attnlimit.questions.interventions.fit import counted, strongest
from attnlimit.stats.claim import Finding, Fits, claim
from attnlimit.stats.estimate import Estimate
from attnlimit.stats.verdicts import (
    FAILS,
    HOLDS,
    NOT_HERE,
    STATISTIC_NAMES,
    UNDECIDED,
    Part,
    chance,
    could_fail,
    every_p,
    every_part,
    measured_of,
    signed,
    spoken,
    within,
)

TEST = (
    "Paired change in every head, on the same samples: its mean over heads, interval from replicates, and the heads "
    "whose change is significant (Holm over heads)."
)


@claim(
    id="interventions_horizon",
    headline="β falls as H grows (our reading of a figure)",
    experiment="the same heads with H made larger",
    statement="Heads of {model} with H made larger and the constant tilt kept: β falls.",
    test=TEST,
    fits=("interventions",),
    figure="interventions",
    thresholds=("level", "rate_change", "same_direction"),
)
def interventions_horizon(fits: Fits, thresholds: dict) -> Finding:
    """Does beta fall when H alone is made larger, by the largest factor measured?  Saturated heads are left out."""
    data = strongest(fits.stores["interventions"])
    return falls(data, "beta_change", "β", thresholds["rate_change"], thresholds)


@claim(
    id="interventions_centred",
    headline="Centred queries lower the error",
    experiment="heads of {model}",
    ours=True,
    statement="Heads of {model} with their queries centred and H kept: the error falls.",
    test=TEST,
    fits=("interventions",),
    figure="interventions_tilt",
    thresholds=("level", "error_change", "same_direction"),
)
def interventions_centred(fits: Fits, thresholds: dict) -> Finding:
    """Does the error at the largest n, relative to its scale, fall when the constant tilt is taken off?  All heads."""
    data = fits.stores["interventions"]
    centred = data.isel(variant=int(data["tilt_factor"].values.argmin()))
    return falls(centred, "error_change", "ln error", thresholds["error_change"], thresholds)


def falls(fits: xr.Dataset, name: str, quantity: str, smallest: float, thresholds: dict) -> Finding:
    """Does a quantity fall in the heads of one variant?  Judged for mean and covariance, both must hold.

    Of the mean change over heads, replicates as noise: fails if its interval lies above -smallest, so that a fall is
    less than would count; else holds if it lies below 0.  A mean that falls decides nothing if fewer than
    `same_direction` of the heads that change significantly fall: then a few speak for others that go the other way.
    p has the tails of replicates - 1 degrees of freedom, the fewest that the interval can have.
    """
    found = {str(each): counted(fits.sel(statistic=each), name, thresholds["level"]) for each in STATISTIC_NAMES}

    def find(statistic: str) -> Part:
        here, like = (Estimate.of(fits, f"mean_{name}{whose}", statistic=statistic) for whose in ("", "_layers"))
        counts = found[statistic]
        measured: dict = {"fallen": counts.fallen, "risen": counts.risen, "open": counts.open}
        measured |= {"saturated": counts.saturated}
        if not np.isfinite(here).all():
            words, only = "every head is saturated", "only heads that are not saturated could decide"
            return Part(UNDECIDED, measured, words, only, NOT_HERE)
        by_mean = FAILS if here.low > -smallest else HOLDS if here.high < 0 else UNDECIDED
        changed = counts.fallen + counts.risen
        mixed = counts.fallen < thresholds["same_direction"] * changed
        verdict = UNDECIDED if mixed and by_mean == HOLDS else by_mean
        edge = {HOLDS: 0.0, FAILS: -smallest}.get(verdict)
        p = 1.0 if edge is None else chance(*here, most=edge, freedom=fits.attrs["replicates"] - 1)
        measured = {"change": here.value, "low": here.low, "high": here.high} | measured
        words = f"{within(*here, digits=3)}; {counts.words}"
        if np.isfinite(like.low):
            measured |= {"layers_low": like.low, "layers_high": like.high}
            words += f" (layers like these [{signed(like.low, 3)}, {signed(like.high, 3)}])"
        edge = smallest - (here.value - here.low)
        power = f"a mean change above {signed(-edge, 3)} fails it" if edge > 0 else "only a rise fails it"
        return Part(verdict, measured, words, power, p=p)

    parts = {name: find(name) for name in STATISTIC_NAMES}
    variant, n = str(fits["variant"].item()), int(fits["n"][-1])
    left_out = sorted({head for counts in found.values() for head in counts.saturated})
    apart = f" Left out as saturated, layer.head: {', '.join(left_out)}." if left_out else ""
    return Finding(
        every_part(parts),
        f"{variant}, mean change of {quantity}: {spoken(parts)}; required: below 0",
        {"variant": variant} | measured_of(parts),
        f"{variant}, all else kept: change of {quantity}: {spoken(parts)}. The same samples before and after, n up to "
        f"{n:,}, over {fits.attrs['population']:,} tokens; each variant has its own exact limit.{apart} The interval "
        "that decides is for these heads; the one for layers like these is beside it.",
        could_fail(parts),
        p=every_p(parts),
        number=f"{variant.replace(' x ', ' × ')}: {quantity} changes by {parts['mean'].words.partition(';')[0]}"
        if "change" in parts["mean"].measured
        else "",
    )
