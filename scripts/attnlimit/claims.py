"""The claims of the paper, each tested on stored results: what was measured, against which threshold, and a verdict."""

import json
import math
from pathlib import Path

import numpy as np
import xarray as xr

from attnlimit.claims_limits import constants, hardmax, normality
from attnlimit.claims_rates import (
    bound,
    error_fits,
    experiment_above,
    experiment_falls,
    horizon_dependence,
    model_remark,
    moment_rate,
    same_horizon,
)
from attnlimit.claims_uniform import growth_changes, uniform_growth, uniform_rate
from attnlimit.files import atomic
from attnlimit.verdicts import Record

DIGITS = 4  # significant ones of the numbers written


def assess(stores: dict[str, xr.Dataset], thresholds: dict, stream: np.random.Generator) -> list[Record]:
    """Every claim, in the paper's order.

    stores: the fitted rates by source (bert, gaussian, gaussian_published, gaussian_asymptotic, sphere, uniform) and
    the simulations {source}_errors, uniform_errors, hardmax, normality.
    """
    labels = {name: stores["gaussian_errors"][name].values for name in ("dimension", "isotropic")}
    gaussian = error_fits(stores["gaussian"], **labels)
    published = error_fits(stores["gaussian_published"], exact=stores["gaussian_published_errors"]["exact"].values)
    exact, finite = published[published["exact"]], published[~published["exact"].astype(bool)]
    bert, asymptotic, sphere = (error_fits(stores[name]) for name in ("bert", "gaussian_asymptotic", "sphere"))
    groups = {"Gaussian, d = 1, counted": asymptotic}
    groups |= {f"Gaussian, d = {dimension}": fits for dimension, fits in gaussian.groupby("dimension")}
    groups["sphere"] = sphere
    exact_limits = {"bert": bert, "gaussian": gaussian, "gaussian_published": exact}
    exact_limits |= {"gaussian_asymptotic": asymptotic, "sphere": sphere}
    changes = growth_changes(stores["uniform"], stores["uniform_errors"], thresholds, stream)
    return [
        uniform_rate(stores["uniform"], thresholds),
        *uniform_growth(changes, thresholds),
        moment_rate(asymptotic, thresholds),
        horizon_dependence(groups, same_horizon(gaussian), thresholds),
        bound("bound_theorem", "bound_v1_theorem", "1/(2(1+32 Psi)) (theorem, v1)", exact_limits, thresholds),
        bound("bound_curve", "bound_v3", "1/(2(1+H^2)) (the curve of v3)", exact_limits, thresholds),
        constants(stores["sphere"], stores["sphere_errors"], thresholds, stream),
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


def rounded(value):
    """Plain numbers of few digits, which JSON can hold; one that is not finite is refused."""
    if isinstance(value, dict):
        return {str(key): rounded(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [rounded(inner) for inner in value]
    if isinstance(value, (float, np.floating)):
        if not math.isfinite(value):
            raise ValueError(f"a claim measured {value}: not a finite number")
        return float(f"{value:.{DIGITS}g}")
    return value.item() if isinstance(value, np.generic) else value


def write_json(records: list[Record], path: str | Path) -> None:
    with atomic(path) as temporary:
        content = json.dumps([rounded(record._asdict()) for record in records], indent=2, ensure_ascii=False)
        temporary.write_text(content + "\n")
