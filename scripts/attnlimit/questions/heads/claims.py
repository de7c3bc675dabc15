"""Claims on what orders the rates of a model's heads: the horizon, the constant tilt, or both."""

import numpy as np
import pandas as pd
import xarray as xr

from attnlimit.stats.claim import Finding, Fits, claim
from attnlimit.stats.fits import WITHOUT_REPLACEMENT, without_replacement
from attnlimit.stats.horizon_tests import (
    ABOVE,
    ABOVE_TEST,
    FALL,
    by_statistic,
    experiment_above,
    experiment_falls,
    limits_left_out,
)
from attnlimit.stats.order import order, ordered_heads, partly_ranked, rankable
from attnlimit.stats.verdicts import (
    FAILS,
    HOLDS,
    NOT_HERE,
    UNDECIDED,
    YES,
    Part,
    asked_to_fall,
    could_fail,
    every_part,
    measured_of,
    signed,
    spoken,
    within,
)

COUPLINGS = {"H": ("horizon", "constant_tilt"), "s₀": ("constant_tilt", "horizon")}  # each with the one held fixed
PAPER_MODEL = "bert-base-uncased"


@claim(
    id="heads_falls",
    statement="BERT experiment: H orders the heads of {model}, β falls as H grows.",
    test="Rank correlation of β with H over unsaturated heads; interval by resampling layers.",
    fits=("heads",),
    figure="beta_vs_horizon",
    thresholds=(*FALL, "fewest_groups"),
)
def heads_falls(fits: Fits, thresholds: dict) -> Finding:
    """Does H order the heads of this model?  Heads of one layer share their draws, so that layers are resampled."""
    table = fits.errors("heads")
    layers = f"The interval resamples the {table['layer'].nunique()} layers, all heads of a layer together."
    return experiment_falls(
        table,
        thresholds,
        f"{model_remark(fits.stores['heads'])} {layers}",
        lambda used: ordered_heads(used, thresholds["weakest_horizon"], fits.resampling),
    )


@claim(
    id="heads_above",
    statement="BERT experiment, heads of {model}: β is at or above 1/(2(1+H²)).",
    test=ABOVE_TEST,
    fits=("heads",),
    figure="beta_vs_horizon",
    thresholds=ABOVE,
)
def heads_above(fits: Fits, thresholds: dict) -> Finding:
    return experiment_above(fits.errors("heads"), thresholds, model_remark(fits.stores["heads"]))


@claim(
    id="tilt_order",
    statement="Heads of {model}: H or the constant tilt s₀ orders the rates, β falls as one grows and the other is "
    "held fixed (our question, not the paper's).",
    test="Partial rank correlations of β with H given s₀ and with s₀ given H; intervals by resampling layers.",
    fits=("heads",),
    figure="beta_vs_horizon",
    thresholds=("fewest_fits", "fewest_groups", "weakest_horizon", "weakest_correlation"),
)
def tilt_order(fits: Fits, thresholds: dict) -> Finding:
    """Do H, the constant tilt s0, or both order the rates?  Partial rank correlations, each given the other.

    Holds for a statistic if the interval of one of the two lies below zero; fails if both are surely weaker than the
    weakest that would count as a dependence.
    """
    weakest = thresholds["weakest_correlation"]

    def find(table: pd.DataFrame) -> Part:
        used = rankable(table, thresholds["weakest_horizon"]).dropna(subset=["constant_tilt"])
        layers = used["layer"].nunique()
        uncertain = int(table["limit_uncertain"].astype(bool).sum())
        measured: dict = {"fits": len(used), "layers": layers, "limit_uncertain": uncertain}
        if len(used) < thresholds["fewest_fits"] or layers < thresholds["fewest_groups"]:
            words = f"only {len(used)} fits of {layers} layer{'' if layers == 1 else 's'}{limits_left_out(uncertain)}"
            return Part(UNDECIDED, measured, words, "only more layers could decide", NOT_HERE)
        found = {
            name: order(used, partly_ranked(*columns), "layer", fits.resampling) for name, columns in COUPLINGS.items()
        }
        if not np.isfinite([number for each in found.values() for number in each]).all():
            words = "one of the two tells all there is"
            return Part(UNDECIDED, measured, words, "only other heads could decide", NOT_HERE)
        measured |= {name: {"partial": o.correlation, "low": o.low, "high": o.high} for name, o in found.items()}
        words = ", ".join(f"{name} {within(o.correlation, o.low, o.high)}" for name, o in found.items())
        falls = [name for name, o in found.items() if o.high < 0]
        weak = all(o.low > -weakest for o in found.values())
        verdict = HOLDS if falls else FAILS if weak else UNDECIDED
        said = f"{' and '.join(falls)} order" + ("s" if len(falls) == 1 else "") if falls else "neither is seen to"
        edge = weakest - max(o.high - o.low for o in found.values()) / 2  # at which an interval still excludes weakest
        power = f"both weaker than {signed(-edge)}" if edge > 0 else "only narrower intervals could fail it"
        able = YES if edge > 0 else NOT_HERE
        return Part(verdict, measured, f"{words} ({said}){limits_left_out(uncertain)}", power, able)

    parts = by_statistic(fits.errors("heads"), find)
    return Finding(
        every_part(parts),
        f"partial rank correlations of β: {spoken(parts)}; {asked_to_fall(thresholds, 'one below 0')}",
        measured_of(parts),
        f"Partial rank correlations of β: {spoken(parts)}. H tells how the tilt varies over tokens, "
        "s₀ = |Σ½(Am + b)| how large it is at the mean token, which H does not see.",
        could_fail(parts),
    )


def model_remark(rates: xr.Dataset) -> str:
    """Which model this is, what a finite population means, and what draws without replacement do."""
    name, population = rates.attrs["model"]["name"], rates.attrs["population"]
    other = "" if PAPER_MODEL in name else f", which is not the paper's {PAPER_MODEL}"
    if without_replacement(rates.attrs):
        finite = WITHOUT_REPLACEMENT
    else:
        finite = "with finitely many tokens the rate for n to infinity is 1/2 in every head"
    return f"The model is {name}{other}, on {population:,} tokens, n up to {int(rates['n'][-1]):,}; {finite}."
