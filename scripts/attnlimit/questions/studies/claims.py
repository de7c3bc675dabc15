"""Our questions on several studies: what of the heads of a model stays the same from text to text, and over models."""

from collections.abc import Callable, Iterator

import numpy as np
import xarray as xr

from attnlimit.stats.statements import STATEMENTS
from attnlimit.stats.verdicts import (
    FAILS,
    HOLDS,
    STATISTIC_NAMES,
    UNTESTED,
    Finding,
    Record,
    asked_to_fall,
    decide,
    every,
    pick,
    powers,
    signed,
    spoken,
)

EVIDENCE = "results/rates/studies.zarr.zip"
STEEPEST = 4  # the paper's curve 1/(2(1+H²)) changes by at most 1/4 for each unit of ln H
ENDS = ("", "_low", "_high")


def record(claim: str, findings: dict[str, Finding], asked: str, test: str, threshold: dict, *figures: str) -> Record:
    """The record of a claim whose parts must all hold; one part that fails is enough to fail."""
    words = spoken(findings)
    return Record(
        claim,
        STATEMENTS[claim],
        every([finding.verdict for finding in findings.values()]),
        f"{words}; {asked}",
        {name: finding.measured for name, finding in findings.items()},
        test,
        threshold,
        [EVIDENCE, "results/studies.html", *(f"figure {name}" for name in figures)],
        f"{words}.",
        could_fail(findings),
    )


def could_fail(findings: dict[str, Finding]) -> str:
    """What would have failed the parts that could fail; if none could, what that takes."""
    able = {name: finding for name, finding in findings.items() if finding.power}
    return f"yes: {powers(able)}" if able else "not here: only more texts, models, layers or replicates could"


def ends(fits: xr.Dataset, name: str, **place) -> tuple[float, float, float]:
    value, low, high = (float(fits[name + end].sel(place)) for end in ENDS)
    return value, low, high


def within(value: float, low: float, high: float, digits: int = 2) -> str:
    return f"{signed(value, digits)} [{signed(low, digits)}, {signed(high, digits)}]"


def models(fits: xr.Dataset) -> list[str]:
    return [str(name) for name in fits["model"].values]


def by_model(fits: xr.Dataset, thresholds: dict, find: Callable[[xr.Dataset], Finding]) -> dict[str, Finding]:
    """The finding on each model and statistic; undecided with one text, or with too few layers for an interval."""
    findings: dict[str, Finding] = {}
    for model in models(fits):
        for statistic, words in STATISTIC_NAMES.items():
            findings[f"{model}, {words}"] = too_few(fits, model, thresholds) or find(
                fits.sel(model=model, statistic=statistic)
            )
    return findings


def too_few(fits: xr.Dataset, model: str, thresholds: dict) -> Finding | None:
    """Why nothing can be said of a model between texts, if so."""
    texts = int((fits["model_of_study"] == model).sum())
    if texts < 2:
        return Finding(UNTESTED, {"texts": texts}, "one text only")
    layers = int(fits["layers_compared"].sel(model=model).min())
    if layers < thresholds["fewest_groups"]:
        return Finding(UNTESTED, {"texts": texts, "layers": layers}, f"{layers} layers, too few for an interval")
    return None


def studies_rates_order(fits: xr.Dataset, thresholds: dict) -> Record:
    """Do the heads of a model have the same order of rates on all texts?  Mean rank correlation over pairs of texts.

    Holds: its interval lies above `agreement`; sampling noise only lowers it.  Fails: corrected for sampling noise it
    still lies below.
    """
    least = thresholds["agreement"]

    def find(fit: xr.Dataset) -> Finding:
        seen, fair, share = (
            ends(fit, f"{name}") for name in ("agreement_overall", "agreement_corrected", "reliability")
        )
        measured = {"correlation": seen[0], "low": seen[1], "high": seen[2], "heads": int(fit["heads_compared"])}
        measured |= {"layers": int(fit["layers_compared"])}
        known = bool(np.isfinite(fair).all())
        measured |= {"corrected": fair[0], "corrected_low": fair[1], "corrected_high": fair[2]} if known else {}
        measured |= {"reliability": share[0]} if np.isfinite(share[0]) else {}
        verdict = HOLDS if seen[1] >= least else FAILS if known and fair[2] < least else UNTESTED
        beside = f", corrected for noise {signed(fair[0])}" if known else ", too noisy to correct"
        edge = least - (fair[2] - fair[0])
        power = f"a corrected correlation below {signed(edge)}" if known and edge > -1 else ""
        return Finding(verdict, measured, f"{within(*seen)}{beside}", power)

    test = "Rank correlation of β over heads between two texts, mean over pairs; intervals by leaving out layers."
    threshold = pick(thresholds, "agreement", "fewest_groups")
    found = by_model(fits, thresholds, find)
    return record("studies_rates_order", found, f"required: above {least:g}", test, threshold, "studies_heads")


def studies_rates_level(fits: xr.Dataset, thresholds: dict) -> Record:
    """Is the mean rate the same on all texts?  Mean difference of each pair of texts, within `slope_tolerance` of 0.

    Holds: every pair's 95 % interval lies within.  Fails: one lies outside, at 95 % for all pairs at once.
    """
    tolerance = thresholds["slope_tolerance"]

    def find(fit: xr.Dataset) -> Finding:
        return level(fit.isel(pair=(fit["model_of_pair"] == fit["model"]).values), "shift", tolerance, 3)

    test = "Mean over layers of the difference of β between two texts, each pair; Student's intervals over layers."
    threshold = pick(thresholds, "slope_tolerance", "fewest_groups")
    found = by_model(fits, thresholds, find)
    return record("studies_rates_level", found, f"allowed ±{tolerance:g}", test, threshold, "studies_heads")


def level(fit: xr.Dataset, name: str, tolerance: float, digits: int) -> Finding:
    """Of the pairs of texts of a model: where the intervals of their mean differences lie."""
    largest = int(np.abs(fit[name].values).argmax())
    value, low, high = (float(fit[name + end][largest]) for end in ENDS)
    inside = bool((fit[f"{name}_low"] >= -tolerance).all() and (fit[f"{name}_high"] <= tolerance).all())
    outside = bool(((fit[f"{name}_all_low"] > tolerance) | (fit[f"{name}_all_high"] < -tolerance)).any())
    pair = f"{fit['first'].values[largest]} to {fit['second'].values[largest]}"
    measured = {"pairs": fit.sizes["pair"], "largest": value, "low": low, "high": high, "of": pair}
    reach = float((fit[f"{name}_all_high"] - fit[name]).max())
    measured["fails_beyond"] = tolerance + reach
    words = f"largest of {fit.sizes['pair']}: {within(value, low, high, digits)} ({pair})"
    verdict = HOLDS if inside else FAILS if outside else UNTESTED
    return Finding(verdict, measured, words, f"a difference beyond ±{tolerance + reach:.2f}")


def studies_horizons(fits: xr.Dataset, thresholds: dict) -> Record:
    """The same two questions of H, which has no sampling noise to speak of.

    In order: mean rank correlation over pairs above `agreement`.  In size: mean difference of ln H within 4
    `slope_tolerance`, for which the paper's curve changes by at most that tolerance.
    """
    least, tolerance = thresholds["agreement"], STEEPEST * thresholds["slope_tolerance"]
    findings: dict[str, Finding] = {}
    for model in models(fits):
        few = too_few(fits, model, thresholds)
        if few:
            findings[model] = few
            continue
        seen = ends(fits, "horizon_agreement_overall", model=model)
        measured = {"correlation": seen[0], "low": seen[1], "high": seen[2]}
        power = f"a correlation below {signed(least - (seen[2] - seen[0]))}"
        findings[f"{model}, order"] = Finding(decide(seen[1], seen[2], least), measured, within(*seen), power)
        pairs = fits.isel(pair=(fits["model_of_pair"] == model).values)
        findings[f"{model}, ln H"] = level(pairs, "horizon_shift", tolerance, 2)
    test = (
        "Rank correlation of H over heads between two texts, mean over pairs, intervals by leaving out layers; mean "
        "over layers of the difference of ln H, each pair, Student's intervals over layers."
    )
    threshold = pick(thresholds, "agreement", "slope_tolerance", "fewest_groups")
    asked = f"required: order above {least:g}, ln H within ±{tolerance:g}"
    return record("studies_horizons", findings, asked, test, threshold, "studies_horizon")


def studies_variance(fits: xr.Dataset, thresholds: dict) -> Record:
    """Do heads differ more than texts?  Share of variance of heads, less that of texts and of heads between texts.

    Holds: its interval lies above 0.  Fails: below.
    """

    def find(fit: xr.Dataset) -> Finding:
        margin = ends(fit, "head_margin")
        shares = {str(name): float(fit["variance_share"].sel(component=name)) for name in fit["component"].values}
        measured = {"margin": margin[0], "low": margin[1], "high": margin[2], "shares": shares}
        shown = ", ".join(f"{PARTS[name]} {max(share, 0):.0%}" for name, share in shares.items())
        cut = " (below 0 is shown as 0)" if min(shares.values()) < 0 else ""
        verdict = decide(margin[1], margin[2], 0)
        power = f"a margin below {signed(margin[0] - margin[2])}"
        return Finding(verdict, measured, f"{shown}{cut}, margin {within(*margin)}", power)

    test = (
        "Variance of β over heads, less that over texts and of head × text, as a share of all; random effects by "
        "moments with known sampling variances, intervals by leaving out layers."
    )
    found = by_model(fits, thresholds, find)
    return record(
        "studies_variance", found, "required: margin above 0", test, pick(thresholds, "fewest_groups"), "studies_heads"
    )


PARTS = {"head": "head", "text": "text", "head_text": "head × text", "sampling": "sampling"}


def over_models(fits: xr.Dataset, couplings: tuple[str, ...], thresholds: dict) -> dict[str, Finding]:
    """Do couplings order the heads, over models?  One of them must, for both statistics.

    Holds: the interval of one lies below 0.  Fails: all are surely weaker than `weakest_correlation`.  One model says
    nothing of others.
    """
    weakest, findings = thresholds["weakest_correlation"], {}
    for statistic, words in STATISTIC_NAMES.items():
        fit = fits.sel(statistic=statistic)
        each = {
            model: {name: ends(fit, "order_of_model", model=model, coupling=name) for name in couplings}
            for model in models(fits)
        }
        shown = "; ".join(
            f"{model} {', '.join(f'{called(name)} {within(*number)}' for name, number in of.items())}"
            for model, of in each.items()
            if np.isfinite(list(of.values())).all()
        )
        pooled = {name: ends(fit, "order_over_models", coupling=name) for name in couplings}
        measured: dict = {
            "models": {model: {name: list(number) for name, number in of.items()} for model, of in each.items()}
            if shown
            else {}
        }
        few = int(fits["layers"].min()) < thresholds["fewest_groups"]
        if few or len(each) < 2 or not np.isfinite(list(pooled.values())).all():
            reason = "one model only" if len(each) < 2 else "too few layers for an interval"
            findings[words] = Finding(UNTESTED, measured, f"{reason} ({shown})" if shown else reason)
            continue
        measured["pooled"] = {name: list(number) for name, number in pooled.items()}
        falls = any(number[2] < 0 for number in pooled.values())
        weak = all(number[1] > -weakest for number in pooled.values())
        said = ", ".join(f"{called(name)} {within(*number)}" for name, number in pooled.items())
        verdict = HOLDS if falls else FAILS if weak else UNTESTED
        edge = weakest - max(number[0] - number[1] for number in pooled.values())
        power = f"correlations weaker than {signed(-edge)}" if edge > 0 else ""  # else no interval excludes the weakest
        findings[words] = Finding(verdict, measured, f"{said} over {len(each)} models ({shown})", power)
    return findings


def called(coupling: str) -> str:
    return coupling.replace("s0", "s₀")


POOLING = (
    "on Fisher's scale: mean over the texts of a model, layers left out of all of them at once; over models random "
    "effects with Hartung and Knapp's interval."
)


def studies_horizon_order(fits: xr.Dataset, thresholds: dict) -> Record:
    found = over_models(fits, ("H",), thresholds)
    threshold = pick(thresholds, "weakest_correlation", "fewest_groups")
    test = f"Rank correlation of β with H over unsaturated heads, {POOLING}"
    return record("studies_horizon_order", found, asked_to_fall(thresholds), test, threshold, "studies_horizon")


def studies_tilt_order(fits: xr.Dataset, thresholds: dict) -> Record:
    found = over_models(fits, ("H given s0", "s0 given H"), thresholds)
    threshold = pick(thresholds, "weakest_correlation", "fewest_groups")
    test = f"Partial rank correlations of β with H given s₀ and with s₀ given H, {POOLING}"
    return record(
        "studies_tilt_order", found, asked_to_fall(thresholds, "one below 0"), test, threshold, "studies_horizon"
    )


def studies_same_sign(fits: xr.Dataset, thresholds: dict) -> Record:
    """Has the rank correlation of beta with H the same sign in every study?

    Holds: all intervals lie on one side of 0.  Fails: two lie on different sides.
    """
    findings: dict[str, Finding] = {}
    for statistic, words in STATISTIC_NAMES.items():
        fit = fits.sel(statistic=statistic, coupling="H")
        value, low, high = (fit[f"order{end}"].values for end in ENDS)
        few = int(fits["layers"].min()) < thresholds["fewest_groups"]
        if few or not np.isfinite([low, high]).all() or len(value) < 2:
            findings[words] = Finding(UNTESTED, {"studies": len(value)}, "too few studies, or layers for an interval")
            continue
        falls, rises = int((high < 0).sum()), int((low > 0).sum())
        sides = {falls, rises}
        verdict = HOLDS if len(value) in sides else FAILS if falls and rises else UNTESTED
        measured: dict = {"studies": len(value), "below_0": falls, "above_0": rises}
        measured |= {
            str(name): list(map(float, ends)) for name, *ends in zip(names(fits), value, low, high, strict=True)
        }
        said = (
            f"{signed(float(value.min()))} to {signed(float(value.max()))} in {len(value)} studies, surely below 0 in "
        )
        power = "two studies whose intervals lie on different sides of 0"
        findings[words] = Finding(verdict, measured, f"{said}{falls}, above in {rises}", power)
    test = "Rank correlation of β with H in each study, interval by leaving out layers."
    threshold = pick(thresholds, "fewest_groups")
    return record("studies_same_sign", findings, "required: one sign in all", test, threshold, "studies_horizon")


def names(fits: xr.Dataset) -> list[str]:
    return [str(name) for name in fits["study"].values]


def studies_sub_gaussian(fits: xr.Dataset, thresholds: dict) -> Record:
    """Is the variance proxy at most `sub_gaussian_factor` covariances for nearly all heads of every study?

    Holds for a study: the interval of the share of such heads lies above `sub_gaussian_share`.  Fails: below.
    """
    least, factor = thresholds["sub_gaussian_share"], float(fits["sub_gaussian_factor"])
    findings = {}
    for name in names(fits):
        share, low, high = ends(fits, "sub_gaussian_share", study=name)
        proxy = fits["sub_gaussian"].sel(study=name)
        measured = {"share": share, "largest": float(proxy.max()), "median": float(proxy.median())}
        words = f"{share:.0%} of heads, median {float(proxy.median()):.2f}, largest {float(proxy.max()):.2f}"
        if not np.isfinite([low, high]).all():
            findings[name] = Finding(UNTESTED, measured, f"{words}, one layer")
            continue
        measured |= {"low": low, "high": high}
        findings[name] = Finding(
            decide(low, high, least), measured, words, f"a share below {least - (high - share):.2f}"
        )
    test = (
        f"Share of heads along whose leading directions log E exp(s u) ≤ {factor:g} s²/2 at every s that enough tokens "
        "carry; interval by leaving out layers. A heavy tail leaves few such s: a lower estimate."
    )
    threshold = pick(thresholds, "sub_gaussian_share") | {"sub_gaussian_factor": factor}
    asked = f"required: factor up to {factor:g} in {least:.0%}"
    return record("studies_sub_gaussian", findings, asked, test, threshold)


def studies_shared_noise(fits: xr.Dataset, thresholds: dict) -> Record:
    """Is a layer worth fewer independent heads than it has?  All layers of a study together, at the largest n.

    Holds: the interval lies below the number of heads.  Fails: above `independent_share` of it.
    """
    findings = {}
    for name, statistic, (number, low, high), heads in sharing(fits):
        measured = {"effective_heads": number, "low": low, "high": high, "heads": heads}
        edge = thresholds["independent_share"] * heads
        verdict = HOLDS if high < heads else FAILS if low > edge else UNTESTED
        least = edge * number / low if low > 0 else np.inf
        power = f"more than {least:.1f} of {heads} independent heads" if least < heads else ""
        words = f"{number:.1f} [{low:.1f}, {high:.1f}]"
        findings[f"{name}, {STATISTIC_NAMES[statistic]}"] = Finding(verdict, measured, words, power)
    test = (
        "Mean over heads of the variance over replicates of e²/E e², e the error of a head, over the variance of its "
        "mean over heads, summed over layers; interval by leaving out replicates."
    )
    threshold = pick(thresholds, "independent_share")
    there = sorted({int(each) for each in fits["heads"].values})
    asked = f"heads of a layer: {', '.join(map(str, there))}"
    return record("studies_shared_noise", findings, asked, test, threshold, "studies_shared_noise")


def sharing(fits: xr.Dataset) -> Iterator[tuple[str, str, tuple[float, float, float], int]]:
    """By study and statistic: effective heads of its layers together, at its largest n, and heads of a layer."""
    for name in names(fits):
        for statistic in STATISTIC_NAMES:
            fit = fits.sel(study=name, statistic=statistic)
            fit = fit.isel(n=np.flatnonzero(fit["effective_heads_overall"].notnull())[-1])
            yield name, statistic, ends(fit, "effective_heads_overall"), int(fit["heads"])
