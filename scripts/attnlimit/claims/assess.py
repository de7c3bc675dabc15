"""The claims of the paper, each tested on stored results: what was measured, against which threshold, and a verdict."""

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import pandas as pd
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
from attnlimit.claims.statements import STATEMENTS
from attnlimit.claims.uniform import growth_findings, uniform_growth, uniform_rate
from attnlimit.claims.verdicts import Record, rounded
from attnlimit.files import atomic
from attnlimit.rates.finite_population import without_replacement

EXACT = ("bert", "gaussian", "gaussian_published", "gaussian_asymptotic", "sphere")  # with limits known exactly
BOUNDS = {"bound_theorem": "bound_v1_theorem", "bound_curve": "bound_v3"}  # the claim, and its bound's column


class Fits(NamedTuple):
    """What claims are tested on: the stores of the fits by source, and their tables."""

    stores: dict[str, xr.Dataset]
    tables: dict[str, pd.DataFrame]


class Test(NamedTuple):
    """Claims that are tested together, on which fits, and how; with `any_of`, on those of the fits that are there."""

    claims: tuple[str, ...]
    sources: tuple[str, ...]
    judge: Callable[[Fits, dict], Iterable[Record]]
    any_of: bool = False


def assess(stores: dict[str, xr.Dataset], thresholds: dict, chapters: Mapping[str, str] | None = None) -> list[Record]:
    """Every claim, in the paper's order; one whose fits are not there is left out, with no verdict.

    stores: the fits by source (bert, gaussian, gaussian_published, gaussian_asymptotic, sphere, constants, uniform,
    hardmax, normality); chapters: of each source that the run leaves out, the chapter that would bring it.
    """
    chapters = chapters or {}
    if unknown := {name for test in TESTS for name in test.sources} - set(stores) - set(chapters):
        raise LookupError(f"results/rates/{min(unknown)}.zarr.zip: a claim needs it; run `make reproduce`")
    fits = Fits(stores, {name: error_fits(stores[name]) for name in EXACT if name in stores})
    records: list[Record] = []
    for test in TESTS:
        missing = [name for name in test.sources if name not in stores]
        chapter = " or ".join(dict.fromkeys(chapters[name] for name in missing))
        if not missing:
            records += test.judge(fits, thresholds)
        elif test.any_of and len(missing) < len(test.sources):
            less = f" Without {', '.join(missing)} (chapter {chapter})."
            records += [record._replace(why=record.why + less) for record in test.judge(fits, thresholds)]
        else:
            records += [left_out(claim, chapter) for claim in test.claims]
    return records


def left_out(claim: str, chapter: str) -> Record:
    """The record of a claim that the run does not test."""
    words = f"left out; chapter {chapter} tests it"
    return Record(claim, STATEMENTS[claim].format(model="the model"), None, words, {}, "", {}, [], words, chapter)


def dependence(fits: Fits, thresholds: dict) -> list[Record]:
    """On the horizon: tokens of each dimension, from draws and from counts, and tokens on a sphere."""
    groups = {"Gaussian, d = 1, counted": fits.tables["gaussian_asymptotic"]}
    drawn = fits.tables["gaussian"]
    groups |= {f"Gaussian, d = {dimension}": table for dimension, table in drawn.groupby("dimension")}
    groups["sphere"] = fits.tables["sphere"]
    return [horizon_dependence(groups, same_horizon(drawn), thresholds)]


def bounds(fits: Fits, thresholds: dict) -> list[Record]:
    """Against every limit that is known exactly."""
    tables = {name: fits.tables[name] for name in EXACT if name in fits.tables}
    if "bert" in tables and without_replacement(fits.stores["bert"].attrs):
        del tables["bert"]  # attention over the population is then not the limit of the draws
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
    table, evidence = of_reference(fits, exact=False), ["results/rates/gaussian_published.zarr.zip"]
    tokens = fits.stores["gaussian_published"].attrs["reference_tokens"]
    remark = f"The reference, {tokens} tokens, is itself off the limit, which bends these slopes."
    return experiment("gaussian_published", table, [*evidence, "figure gaussian_protocol"], remark, thresholds)


def bert(fits: Fits, thresholds: dict) -> list[Record]:
    rates, evidence = fits.stores["bert"], ["results/rates/bert.zarr.zip", "figure beta_vs_horizon"]
    model = rates.attrs["model"]["name"].split("/")[-1]
    return experiment("bert", fits.tables["bert"], evidence, model_remark(rates), thresholds, model=model)


def experiment(name: str, table: pd.DataFrame, evidence: list, remark: str, thresholds: dict, **words) -> list[Record]:
    """An experiment of the paper as two claims: the rate falls with H, and stays at or above the curve."""
    rest = table, evidence, remark, thresholds
    claims = {part: STATEMENTS[f"{name}_{part}"].format(**words) for part in ("falls", "above")}
    return [
        experiment_falls(f"{name}_falls", claims["falls"], *rest),
        experiment_above(f"{name}_above", claims["above"], *rest),
    ]


def uniform(fits: Fits, thresholds: dict) -> list[Record]:
    store = fits.stores["uniform"]
    return [uniform_rate(store, thresholds), *uniform_growth(growth_findings(store, thresholds), thresholds)]


def of_pair(name: str) -> tuple[str, str]:
    return f"{name}_falls", f"{name}_above"


TESTS = (
    Test(("uniform_rate", "uniform_growth", "uniform_one_exponential"), ("uniform",), uniform),
    Test(
        ("moment_rate",),
        ("gaussian_asymptotic",),
        lambda fits, thresholds: [moment_rate(fits.tables["gaussian_asymptotic"], thresholds)],
    ),
    Test(("horizon_dependence",), ("gaussian_asymptotic", "gaussian", "sphere"), dependence),
    Test(tuple(BOUNDS), EXACT, bounds, any_of=True),
    Test(("constants",), ("constants",), lambda fits, thresholds: [constants(fits.stores["constants"], thresholds)]),
    Test(
        ("hardmax_constant", "hardmax_logarithm"),
        ("hardmax",),
        lambda fits, thresholds: hardmax(fits.stores["hardmax"], thresholds),
    ),
    Test(of_pair("gaussian_exact"), ("gaussian_published",), gaussian_exact),
    Test(of_pair("gaussian_published"), ("gaussian_published",), gaussian_published),
    Test(of_pair("bert"), ("bert",), bert),
    Test(("normality",), ("normality",), lambda fits, thresholds: [normality(fits.stores["normality"], thresholds)]),
)


def write_json(records: list[Record], path: str | Path) -> None:
    with atomic(path) as temporary:
        content = json.dumps([rounded(record._asdict()) for record in records], indent=2, ensure_ascii=False)
        temporary.write_text(content + "\n")
