"""Claims on what orders the rates of a model's heads: the horizon, the constant tilt, and the horizon alone."""

import numpy as np
import pandas as pd
import xarray as xr

from attnlimit.stats.moment_claims import FALL, could, experiment_falls
from attnlimit.stats.order import Resampling, correlated, order, ordered_heads, partly_ranked, rankable, ranks_within
from attnlimit.stats.statements import STATEMENTS
from attnlimit.stats.verdicts import (
    FAILS,
    HOLDS,
    UNTESTED,
    Finding,
    Record,
    asked_to_fall,
    by_statistic,
    every,
    limits_left_out,
    model_name,
    pick,
    signed,
    spoken,
)

HEAD = ["of_layer", "of_head"]
COUPLINGS = {"H": ("horizon", "constant_tilt"), "s₀": ("constant_tilt", "horizon")}  # each with the one held fixed


def heads_falls(model: str, fits: pd.DataFrame, remark: str, thresholds: dict, resampling: Resampling) -> Record:
    """Does H order the heads of this model?  Heads of one layer share their draws, so that layers are resampled."""
    layers = fits["layer"].nunique()
    evidence = ["results/rates/heads.zarr.zip", "figure beta_vs_horizon"]
    remark = f"{remark} The interval resamples the {layers} layers, all heads of a layer together."
    record = experiment_falls(
        "heads_falls",
        STATEMENTS["heads_falls"].format(model=model),
        fits,
        evidence,
        remark,
        thresholds,
        lambda used: ordered_heads(used, thresholds["weakest_horizon"], resampling),
    )
    return record._replace(test="Rank correlation of β with H over unsaturated heads; interval by resampling layers.")


def ablation_falls(rates: xr.Dataset, fits: pd.DataFrame, thresholds: dict, resampling: Resampling) -> Record:
    """Does beta fall with H in one and the same head, when only A is scaled?  Heads are resampled."""
    scaled = fits[fits["tilt_factor"] == 1]
    heads = scaled.groupby(HEAD).ngroups
    record = experiment_falls(
        "ablation_falls",
        STATEMENTS["ablation_falls"].format(model=model_name(rates)),
        scaled,
        ["results/rates/ablation.zarr.zip", "figure ablation"],
        f"Ranks are taken within each of {heads} heads; the interval resamples heads.",
        thresholds,
        lambda used: order(ranks_within(used, HEAD), correlated("horizon"), HEAD, resampling),
    )
    return record._replace(test="Rank correlation of β with H within each head; interval by resampling heads.")


def tilt_order(model: str, fits: pd.DataFrame, thresholds: dict, resampling: Resampling) -> Record:
    """Do H, the constant tilt s0, or both order the rates?  Partial rank correlations, each given the other.

    Holds for a statistic if the interval of one of the two lies below zero; fails if both are surely weaker than the
    weakest that would count as a dependence.
    """
    weakest = thresholds["weakest_correlation"]

    def find(part: pd.DataFrame) -> Finding:
        used = rankable(part, thresholds["weakest_horizon"]).dropna(subset=["constant_tilt"])
        layers = used["layer"].nunique()
        uncertain = int(part["limit_uncertain"].astype(bool).sum())
        measured: dict = {"fits": len(used), "layers": layers, "limit_uncertain": uncertain}
        if len(used) < thresholds["fewest_fits"] or layers < thresholds["fewest_groups"]:
            words = f"only {len(used)} fits of {layers} layer{'' if layers == 1 else 's'}{limits_left_out(uncertain)}"
            return Finding(UNTESTED, measured, words, "only more layers could decide")
        found = {name: order(used, partly_ranked(*columns), "layer", resampling) for name, columns in COUPLINGS.items()}
        if not np.isfinite([number for each in found.values() for number in each]).all():
            return Finding(UNTESTED, measured, "one of the two tells all there is", "only other heads could decide")
        measured |= {name: {"partial": o.correlation, "low": o.low, "high": o.high} for name, o in found.items()}
        words = ", ".join(
            f"{name} {signed(o.correlation)} [{signed(o.low)}, {signed(o.high)}]" for name, o in found.items()
        )
        falls = [name for name, o in found.items() if o.high < 0]
        weak = all(o.low > -weakest for o in found.values())
        verdict = HOLDS if falls else FAILS if weak else UNTESTED
        said = f"{' and '.join(falls)} order" + ("s" if len(falls) == 1 else "") if falls else "neither is seen to"
        edge = weakest - max(o.high - o.low for o in found.values()) / 2  # at which an interval still excludes weakest
        power = f"both weaker than {signed(-edge)}" if edge > 0 else "only narrower intervals could fail it"
        return Finding(verdict, measured, f"{words} ({said}){limits_left_out(uncertain)}", power)

    findings = by_statistic(fits, find)
    return Record(
        "tilt_order",
        STATEMENTS["tilt_order"].format(model=model),
        every([finding.verdict for finding in findings.values()]),
        f"partial rank correlations of β: {spoken(findings)}; {asked_to_fall(thresholds, 'one below 0')}",
        {name: finding.measured for name, finding in findings.items()},
        "Partial rank correlations of β with H given s₀ and with s₀ given H; intervals by resampling layers.",
        pick(thresholds, *FALL, "fewest_groups"),
        ["results/rates/heads.zarr.zip", "figure beta_vs_horizon"],
        f"Partial rank correlations of β: {spoken(findings)}. H tells how the tilt varies over tokens, "
        "s₀ = |Σ½(Am + b)| how large it is at the mean token, which H does not see.",
        could(findings),
    )
