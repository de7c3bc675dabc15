"""Claims on the rates of a model's heads against the paper's curve."""

import xarray as xr

from attnlimit.stats.claim import Finding, Fits, claim
from attnlimit.stats.fits import WITHOUT_REPLACEMENT, without_replacement
from attnlimit.stats.horizon_tests import (
    ABOVE,
    ABOVE_TEST,
    FALL,
    FALL_TEST,
    TILT,
    experiment_falls,
    few_below,
    stays_above,
)

PAPER_MODEL = "bert-base-uncased"


@claim(
    id="heads_above",
    headline="β is at least 1/(2(1+H²))",
    experiment="heads of {model}",
    statement="BERT experiment, heads of {model}: β is at or above 1/(2(1+H²)).",
    test=ABOVE_TEST,
    fits=("heads",),
    figure="beta_vs_horizon",
    thresholds=ABOVE,
)
def heads_above(fits: Fits, thresholds: dict) -> Finding:
    table = fits.errors("heads")
    part = stays_above(table, table["bound_v3"], thresholds)
    tilted = f" {part.measured['below_with_large_tilt']} of those below have {TILT}." if part.measured["below"] else ""
    return Finding(
        part.verdict,
        part.words,
        part.measured,
        f"Against 1/(2(1+H²)) {part.words}.{tilted} {model_remark(fits.stores['heads'])}",
        f"{part.able}: {part.power}",
        p=part.p,
        number=few_below(part),
    )


@claim(
    id="heads_curve",
    headline="β falls as H grows (our reading of a figure)",
    experiment="heads of {model} as they are",
    after_a_look=True,
    statement="BERT experiment: within the layers of {model}, heads with a larger H have a smaller β (our reading of "
    "the paper's figure; the bound does not imply it).",
    test=f"{FALL_TEST} Here a is free in each layer, and replicates are the noise: it speaks of these heads.",
    fits=("heads",),
    figure="beta_vs_horizon",
    thresholds=FALL,
)
def heads_curve(fits: Fits, thresholds: dict) -> Finding:
    """Do rates fall with H within layers?  Heads of one layer share their draws.

    What these do to all of them alike drops out within the layer, so that noise taken as independent is too large, if
    anything: the interval is on the safe side.
    """
    remark = f"It speaks of these heads, of no other layers. {model_remark(fits.stores['heads'])}"
    return experiment_falls(fits.errors("heads"), thresholds, remark, ["layer"], these=True)


def model_remark(rates: xr.Dataset) -> str:
    """Which model this is, what a finite population means, and what draws without replacement do."""
    name, population = rates.attrs["model"]["name"], rates.attrs["population"]
    other = "" if PAPER_MODEL in name else f", which is not the paper's {PAPER_MODEL}"
    if without_replacement(rates.attrs):
        finite = WITHOUT_REPLACEMENT
    else:
        finite = "with finitely many tokens the rate for n to infinity is 1/2 in every head"
    return f"The model is {name}{other}, on {population:,} tokens, n up to {int(rates['n'][-1]):,}; {finite}."
