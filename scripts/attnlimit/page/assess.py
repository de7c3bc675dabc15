"""The claims of the paper, each tested on stored results: what was measured, against which threshold, and a verdict."""

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from attnlimit.base.files import atomic
from attnlimit.questions.contexts.claims import contexts_share
from attnlimit.questions.downstream.claims import downstream_horizon, downstream_rate
from attnlimit.questions.hardmax.claims import hardmax_constant, hardmax_logarithm
from attnlimit.questions.heads.claims import ablation_falls, heads_falls, tilt_order
from attnlimit.questions.normality.claims import normality
from attnlimit.questions.patterns.claims import patterns_random_rate
from attnlimit.questions.propagation.claims import propagation_quadrature
from attnlimit.questions.sphere.claims import constants
from attnlimit.questions.studies.claims import (
    studies_horizon_order,
    studies_horizons,
    studies_rates_level,
    studies_rates_order,
    studies_same_sign,
    studies_shared_noise,
    studies_sub_gaussian,
    studies_tilt_order,
    studies_variance,
)
from attnlimit.questions.uniform.claims import uniform_growth, uniform_rate
from attnlimit.stats.fits import without_replacement
from attnlimit.stats.moment_claims import (
    bound,
    error_fits,
    experiment_above,
    experiment_falls,
    finite_reference_slope,
    horizon_dependence,
    model_remark,
    moment_rate,
    same_horizon,
    untilted,
)
from attnlimit.stats.order import Resampling
from attnlimit.stats.statements import STATEMENTS
from attnlimit.stats.verdicts import Record, model_name, rounded

EXACT = ("heads", "gaussian", "gaussian_published", "gaussian_asymptotic", "sphere")  # with limits known exactly
BOUNDS = {"bound_theorem": "bound_v1_theorem", "bound_curve": "bound_v3"}  # the claim, and its bound's column


class Fits(NamedTuple):
    """What claims are tested on: the stores of the fits by source, their tables, and how to resample these."""

    stores: dict[str, xr.Dataset]
    tables: dict[str, pd.DataFrame]
    resampling: Resampling


class Test(NamedTuple):
    """Claims that are tested together, on which fits, and how; with `any_of`, on those of the fits that are there."""

    claims: tuple[str, ...]
    sources: tuple[str, ...]
    judge: Callable[[Fits, dict], Iterable[Record]]
    any_of: bool = False


def assess(
    stores: dict[str, xr.Dataset], thresholds: dict, chapters: Mapping[str, str] | None = None, seed: int = 0
) -> list[Record]:
    """Every claim, in the paper's order; one whose fits are not there is left out, with no verdict.

    stores: the fits by source, those of chapters.JUDGED; chapters: of each source that the run leaves out, the chapter
    that would bring it.
    """
    chapters = chapters or {}
    tests = [
        test for test in TESTS if ("studies" in test.sources) == ("studies" in stores)
    ]  # a comparison stands apart
    if unknown := {name for test in tests for name in test.sources} - set(stores) - set(chapters):
        raise LookupError(f"results/rates/{min(unknown)}.zarr.zip: a claim needs it; run `make reproduce`")
    tables = {name: error_fits(stores[name]) for name in (*EXACT, "ablation") if name in stores}
    fits = Fits(stores, tables, Resampling(thresholds["bootstrap"], seed))
    records: list[Record] = []
    for test in tests:
        missing = [name for name in test.sources if name not in stores]
        chapter = " or ".join(dict.fromkeys(chapters[name] for name in missing))
        if not missing:
            records += test.judge(fits, thresholds)
        elif test.any_of and len(missing) < len(test.sources):
            less = f" Without {', '.join(missing)} (chapter {chapter})."
            records += [record._replace(why=record.why + less) for record in test.judge(fits, thresholds)]
        else:
            records += [left_out(claim, chapter) for claim in test.claims]
    sources = {claim: test.sources for test in tests for claim in test.claims}
    return [record._replace(**origin(record.id, sources[record.id])) for record in records]


def left_out(claim: str, chapter: str) -> Record:
    """The record of a claim that the run does not test."""
    words = f"left out; chapter {chapter} tests it"
    claim_words = STATEMENTS[claim].format(model="the model")
    return Record(claim, claim_words, None, words, {}, "", {}, [], words, words, left_out=chapter)


def origin(claim: str, sources: tuple[str, ...]) -> dict[str, Any]:
    """From claim to code: the rules that made the evidence, the function that judges it, and where that is tested."""
    made_by = dict.fromkeys((*EXACT, "ablation"), "fit_rates") | {"studies": "compare_studies"}
    rules = dict.fromkeys(made_by.get(name, f"fit_{name}") for name in sources)
    module = JUDGES[claim].__module__.removeprefix("attnlimit.").split(".")
    function = f"{'/'.join(module)}.py: {JUDGES[claim].__name__}"
    test_file = "/".join(["tests", *module[:-1], f"test_{module[-1]}.py"])
    return {"rule": ", ".join(rules), "function": function, "test_file": test_file}


def dependence(fits: Fits, thresholds: dict) -> list[Record]:
    """On the horizon: tokens of each dimension, from draws and from counts, and tokens on a sphere."""
    groups = {"Gaussian, d = 1, counted": fits.tables["gaussian_asymptotic"]}
    drawn = untilted(fits.tables["gaussian"])
    groups |= {f"Gaussian, d = {dimension}": table for dimension, table in drawn.groupby("dimension")}
    groups["sphere"] = fits.tables["sphere"]
    return [horizon_dependence(groups, same_horizon(drawn), thresholds)]


def bounds(fits: Fits, thresholds: dict) -> list[Record]:
    """Against every limit that is known exactly."""
    tables = {name: fits.tables[name] for name in EXACT if name in fits.tables}
    if "heads" in tables and without_replacement(fits.stores["heads"].attrs):
        del tables["heads"]  # attention over the population is then not the limit of the draws
    if "gaussian_published" in tables:
        tables["gaussian_published"] = of_reference(fits, exact=True)
    return [bound(name, column, STATEMENTS[name], tables, thresholds) for name, column in BOUNDS.items()]


def of_reference(fits: Fits, exact: bool) -> pd.DataFrame:
    """Of the published experiment: errors to the exact limit, or to a finite reference."""
    table = fits.tables["gaussian_published"]
    return table[table["exact"].astype(bool) == exact]


def gaussian_exact(fits: Fits, thresholds: dict) -> list[Record]:
    table, evidence = of_reference(fits, exact=True), ["results/rates/gaussian_published.zarr.zip"]
    remark = f"{int(table['saturated'].sum())} of {len(table)} fits are saturated."
    return experiment("gaussian_exact", table, [*evidence, "figure gaussian_protocol"], remark, thresholds)


def gaussian_published(fits: Fits, thresholds: dict) -> list[Record]:
    table, store = of_reference(fits, exact=False), fits.stores["gaussian_published"]
    evidence = ["results/rates/gaussian_published.zarr.zip", "figure gaussian_protocol"]
    tokens = store.attrs["reference_tokens"]
    slope = finite_reference_slope(store["n"].values, tokens)
    remark = (
        f"This is about the protocol and not the paper's curve: a reference of {tokens:,} tokens is itself off the "
        f"limit, and alone turns a rate of 1/2 into {slope:.3f} over these n, whatever the attention."
    )
    return experiment("gaussian_published", table, evidence, remark, thresholds, slope)


def heads(fits: Fits, thresholds: dict) -> list[Record]:
    rates, table = fits.stores["heads"], fits.tables["heads"]
    name, remark = model_name(rates), model_remark(rates)
    above, evidence = (
        STATEMENTS["heads_above"].format(model=name),
        ["results/rates/heads.zarr.zip", "figure beta_vs_horizon"],
    )
    return [
        heads_falls(name, table, remark, thresholds, fits.resampling),
        experiment_above("heads_above", above, table, evidence, remark, thresholds),
        tilt_order(name, table, thresholds, fits.resampling),
    ]


def experiment(
    name: str, table: pd.DataFrame, evidence: list, remark: str, thresholds: dict, reference_slope: float = np.inf
) -> list[Record]:
    """An experiment of the paper as two claims: the rate falls with H, and stays at or above the curve."""
    rest = table, evidence, remark, thresholds
    falls, above = of_pair(name)
    return [
        experiment_falls(falls, STATEMENTS[falls], *rest),
        experiment_above(above, STATEMENTS[above], *rest, reference_slope),
    ]


def of_pair(name: str) -> tuple[str, str]:
    return f"{name}_falls", f"{name}_above"


def alone(judge: Callable[[xr.Dataset, dict], Record], source: str) -> Callable[[Fits, dict], list[Record]]:
    """The test of a claim on one store."""
    return lambda fits, thresholds: [judge(fits.stores[source], thresholds)]


TESTS = (
    Test(("uniform_rate",), ("uniform",), alone(uniform_rate, "uniform")),
    Test(("uniform_growth",), ("uniform",), alone(uniform_growth, "uniform")),
    Test(
        ("moment_rate",),
        ("gaussian_asymptotic",),
        lambda fits, thresholds: [moment_rate(fits.tables["gaussian_asymptotic"], thresholds)],
    ),
    Test(("horizon_dependence",), ("gaussian_asymptotic", "gaussian", "sphere"), dependence),
    Test(tuple(BOUNDS), EXACT, bounds, any_of=True),
    Test(("constants",), ("constants",), alone(constants, "constants")),
    Test(("hardmax_constant",), ("hardmax",), alone(hardmax_constant, "hardmax")),
    Test(("hardmax_logarithm",), ("hardmax",), alone(hardmax_logarithm, "hardmax")),
    Test(of_pair("gaussian_exact"), ("gaussian_published",), gaussian_exact),
    Test(of_pair("gaussian_published"), ("gaussian_published",), gaussian_published),
    Test((*of_pair("heads"), "tilt_order"), ("heads",), heads),
    Test(
        ("ablation_falls",),
        ("ablation",),
        lambda fits, thresholds: [
            ablation_falls(fits.stores["ablation"], fits.tables["ablation"], thresholds, fits.resampling)
        ],
    ),
    Test(("contexts_share",), ("contexts",), alone(contexts_share, "contexts")),
    Test(("patterns_random_rate",), ("patterns",), alone(patterns_random_rate, "patterns")),
    Test(("propagation_quadrature",), ("propagation",), alone(propagation_quadrature, "propagation")),
    Test(("downstream_rate",), ("downstream",), alone(downstream_rate, "downstream")),
    Test(("downstream_horizon",), ("downstream",), alone(downstream_horizon, "downstream")),
    Test(("normality",), ("normality",), alone(normality, "normality")),
    Test(("studies_rates_order",), ("studies",), alone(studies_rates_order, "studies")),
    Test(("studies_rates_level",), ("studies",), alone(studies_rates_level, "studies")),
    Test(("studies_horizons",), ("studies",), alone(studies_horizons, "studies")),
    Test(("studies_variance",), ("studies",), alone(studies_variance, "studies")),
    Test(("studies_horizon_order",), ("studies",), alone(studies_horizon_order, "studies")),
    Test(("studies_tilt_order",), ("studies",), alone(studies_tilt_order, "studies")),
    Test(("studies_same_sign",), ("studies",), alone(studies_same_sign, "studies")),
    Test(("studies_sub_gaussian",), ("studies",), alone(studies_sub_gaussian, "studies")),
    Test(("studies_shared_noise",), ("studies",), alone(studies_shared_noise, "studies")),
)
JUDGES: dict[str, Callable] = {  # the function that gives each claim its verdict
    "uniform_rate": uniform_rate,
    "uniform_growth": uniform_growth,
    "moment_rate": moment_rate,
    "horizon_dependence": horizon_dependence,
    "bound_theorem": bound,
    "bound_curve": bound,
    "constants": constants,
    "hardmax_constant": hardmax_constant,
    "hardmax_logarithm": hardmax_logarithm,
    "gaussian_exact_falls": experiment_falls,
    "gaussian_exact_above": experiment_above,
    "gaussian_published_falls": experiment_falls,
    "gaussian_published_above": experiment_above,
    "heads_falls": heads_falls,
    "heads_above": experiment_above,
    "tilt_order": tilt_order,
    "ablation_falls": ablation_falls,
    "contexts_share": contexts_share,
    "patterns_random_rate": patterns_random_rate,
    "propagation_quadrature": propagation_quadrature,
    "downstream_rate": downstream_rate,
    "downstream_horizon": downstream_horizon,
    "normality": normality,
    "studies_rates_order": studies_rates_order,
    "studies_rates_level": studies_rates_level,
    "studies_horizons": studies_horizons,
    "studies_variance": studies_variance,
    "studies_horizon_order": studies_horizon_order,
    "studies_tilt_order": studies_tilt_order,
    "studies_same_sign": studies_same_sign,
    "studies_sub_gaussian": studies_sub_gaussian,
    "studies_shared_noise": studies_shared_noise,
}


def write_json(records: list[Record], path: str | Path) -> None:
    with atomic(path) as temporary:
        content = json.dumps([rounded(record._asdict()) for record in records], indent=2, ensure_ascii=False)
        temporary.write_text(content + "\n")
