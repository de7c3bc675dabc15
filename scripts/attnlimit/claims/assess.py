"""The claims of the paper, each tested on stored results: what was measured, against which threshold, and a verdict."""

import json
from pathlib import Path

import xarray as xr

from attnlimit.claims.constants import constants
from attnlimit.claims.hardmax import hardmax
from attnlimit.claims.moments import (
    bound,
    error_fits,
    experiment_above,
    experiment_falls,
    horizon_dependence,
    model_remark,
    moment_rate,
    same_horizon,
)
from attnlimit.claims.normality import normality
from attnlimit.claims.uniform import growth_findings, uniform_growth, uniform_rate
from attnlimit.claims.verdicts import Record, rounded
from attnlimit.files import atomic
from attnlimit.rates.finite_population import without_replacement


def assess(stores: dict[str, xr.Dataset], thresholds: dict) -> list[Record]:
    """Every claim, in the paper's order.

    stores: the fits by source (bert, gaussian, gaussian_published, gaussian_asymptotic, sphere, constants, uniform,
    hardmax, normality).
    """
    sources = ("bert", "gaussian", "gaussian_asymptotic", "sphere", "gaussian_published")
    bert, gaussian, asymptotic, sphere, published = (error_fits(stores[name]) for name in sources)
    exact, finite = (published[published["exact"].astype(bool) == side] for side in (True, False))
    groups = {"Gaussian, d = 1, counted": asymptotic}
    groups |= {f"Gaussian, d = {dimension}": fits for dimension, fits in gaussian.groupby("dimension")}
    groups["sphere"] = sphere
    exact_limits = {} if without_replacement(stores["bert"].attrs) else {"bert": bert}
    exact_limits |= {"gaussian": gaussian, "gaussian_published": exact}
    exact_limits |= {"gaussian_asymptotic": asymptotic, "sphere": sphere}
    return [
        uniform_rate(stores["uniform"], thresholds),
        *uniform_growth(growth_findings(stores["uniform"], thresholds), thresholds),
        moment_rate(asymptotic, thresholds),
        horizon_dependence(groups, same_horizon(gaussian), thresholds),
        bound("bound_theorem", "bound_v1_theorem", "1/(2(1+32 Psi)) (theorem, v1)", exact_limits, thresholds),
        bound("bound_curve", "bound_v3", "1/(2(1+H^2)) (the curve of v3)", exact_limits, thresholds),
        constants(stores["constants"], thresholds),
        *hardmax(stores["hardmax"], thresholds),
        *experiment(
            "gaussian_exact",
            "Gaussian experiment, errors to the exact limit",
            exact,
            ["results/rates/gaussian_published.zarr.zip", "figure gaussian_protocol"],
            f"{int(exact['saturated'].sum())} of {len(exact)} fits are saturated.",
            thresholds,
        ),
        *experiment(
            "gaussian_published",
            "Gaussian experiment as published, errors to a finite reference",
            finite,
            ["results/rates/gaussian_published.zarr.zip", "figure gaussian_protocol"],
            f"The reference, {stores['gaussian_published'].attrs['reference_tokens']} tokens, is itself off the limit, "
            "which bends these slopes.",
            thresholds,
        ),
        *experiment(
            "bert",
            f"BERT experiment, heads of {stores['bert'].attrs['model']['name'].split('/')[-1]}",
            bert,
            ["results/rates/bert.zarr.zip", "figure beta_vs_horizon"],
            model_remark(stores["bert"]),
            thresholds,
        ),
        normality(stores["normality"], thresholds),
    ]


def experiment(name, what, fits, evidence, remark, thresholds) -> list[Record]:
    """An experiment of the paper as two claims: the rate falls with H, and stays at or above the curve."""
    rest = fits, evidence, remark, thresholds
    return [
        experiment_falls(f"{name}_falls", f"{what}: beta falls as H grows.", *rest),
        experiment_above(f"{name}_above", f"{what}: beta is at or above 1/(2(1+H^2)).", *rest),
    ]


def write_json(records: list[Record], path: str | Path) -> None:
    with atomic(path) as temporary:
        content = json.dumps([rounded(record._asdict()) for record in records], indent=2, ensure_ascii=False)
        temporary.write_text(content + "\n")
