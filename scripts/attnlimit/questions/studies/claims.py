"""Our questions on several studies: what of the heads of a model stays the same from text to text, and over models."""

from collections.abc import Callable, Iterator

import numpy as np
import xarray as xr

from attnlimit.stats.claim import Finding, Fits, claim
from attnlimit.stats.verdicts import (
    FAILS,
    HOLDS,
    STATISTIC_NAMES,
    UNDECIDED,
    Part,
    Parts,
    asked_to_fall,
    decide,
    every_part,
    measured_of,
    powers,
    signed,
    spoken,
    within,
)

STEEPEST = 4  # the paper's curve 1/(2(1+H²)) changes by at most 1/4 for each unit of ln H
ENDS = ("", "_low", "_high")


def together(parts: Parts, asked: str, **fitted_with: float) -> Finding:
    """Of a claim whose parts must all hold; one part that fails is enough to fail."""
    words = spoken(parts)
    finding = every_part(parts), f"{words}; {asked}", measured_of(parts), f"{words}.", could_fail(parts)
    return Finding(*finding, fitted_with=fitted_with)


def could_fail(parts: Parts) -> str:
    """What would have failed the parts that could fail; if none could, what that takes."""
    able = {name: part for name, part in parts.items() if part.power}
    return f"yes: {powers(able)}" if able else "not here: only more texts, models, layers or replicates could"


def ends(fits: xr.Dataset, name: str, **place) -> tuple[float, float, float]:
    value, low, high = (float(fits[name + end].sel(place)) for end in ENDS)
    return value, low, high


def models(fits: xr.Dataset) -> list[str]:
    return [str(name) for name in fits["model"].values]


def by_model(fits: xr.Dataset, thresholds: dict, find: Callable[[xr.Dataset], Part]) -> Parts:
    """The finding on each model and statistic; undecided with one text, or with too few layers for an interval."""
    parts: Parts = {}
    for model in models(fits):
        for statistic, words in STATISTIC_NAMES.items():
            parts[f"{model}, {words}"] = too_few(fits, model, thresholds) or find(
                fits.sel(model=model, statistic=statistic)
            )
    return parts


def too_few(fits: xr.Dataset, model: str, thresholds: dict) -> Part | None:
    """Why nothing can be said of a model between texts, if so."""
    texts = int((fits["model_of_study"] == model).sum())
    if texts < 2:
        return Part(UNDECIDED, {"texts": texts}, "one text only")
    layers = int(fits["layers_compared"].sel(model=model).min())
    if layers < thresholds["fewest_groups"]:
        return Part(UNDECIDED, {"texts": texts, "layers": layers}, f"{layers} layers, too few for an interval")
    return None


@claim(
    id="studies_rates_order",
    statement="A head that is slow on one text is slow on another: the rates of a model's heads have one order on all "
    "texts (our question, not the paper's).",
    test="Rank correlation of β over heads between two texts, mean over pairs; intervals by leaving out layers.",
    fits=("studies",),
    figure="studies_heads",
    thresholds=("agreement", "fewest_groups"),
)
def studies_rates_order(fits: Fits, thresholds: dict) -> Finding:
    """Do the heads of a model have the same order of rates on all texts?  Mean rank correlation over pairs of texts.

    Holds: its interval lies above `agreement`; sampling noise only lowers it.  Fails: corrected for sampling noise it
    still lies below.
    """
    data = fits.stores["studies"]
    least = thresholds["agreement"]

    def find(fit: xr.Dataset) -> Part:
        seen, fair, share = (
            ends(fit, f"{name}") for name in ("agreement_overall", "agreement_corrected", "reliability")
        )
        measured = {"correlation": seen[0], "low": seen[1], "high": seen[2], "heads": int(fit["heads_compared"])}
        measured |= {"layers": int(fit["layers_compared"])}
        known = bool(np.isfinite(fair).all())
        measured |= {"corrected": fair[0], "corrected_low": fair[1], "corrected_high": fair[2]} if known else {}
        measured |= {"reliability": share[0]} if np.isfinite(share[0]) else {}
        verdict = HOLDS if seen[1] >= least else FAILS if known and fair[2] < least else UNDECIDED
        beside = f", corrected for noise {signed(fair[0])}" if known else ", too noisy to correct"
        edge = least - (fair[2] - fair[0])
        power = f"a corrected correlation below {signed(edge)}" if known and edge > -1 else ""
        return Part(verdict, measured, f"{within(*seen)}{beside}", power)

    return together(by_model(data, thresholds, find), f"required: above {least:g}")


@claim(
    id="studies_rates_level",
    statement="The rates of a model's heads have one mean on all texts (our question, not the paper's).",
    test="Mean over layers of the difference of β between two texts, each pair; Student's intervals over layers.",
    fits=("studies",),
    figure="studies_heads",
    thresholds=("slope_tolerance", "fewest_groups"),
)
def studies_rates_level(fits: Fits, thresholds: dict) -> Finding:
    """Is the mean rate the same on all texts?  Mean difference of each pair of texts, within `slope_tolerance` of 0.

    Holds: every pair's 95 % interval lies within.  Fails: one lies outside, at 95 % for all pairs at once.
    """
    data = fits.stores["studies"]
    tolerance = thresholds["slope_tolerance"]

    def find(fit: xr.Dataset) -> Part:
        return level(fit.isel(pair=(fit["model_of_pair"] == fit["model"]).values), "shift", tolerance, 3)

    return together(by_model(data, thresholds, find), f"allowed ±{tolerance:g}")


def level(fit: xr.Dataset, name: str, tolerance: float, digits: int) -> Part:
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
    verdict = HOLDS if inside else FAILS if outside else UNDECIDED
    return Part(verdict, measured, words, f"a difference beyond ±{tolerance + reach:.2f}")


@claim(
    id="studies_horizons",
    statement="The horizons of a model's heads have one order and one size on all texts (our question, not the "
    "paper's).",
    test="Rank correlation of H over heads between two texts, mean over pairs, intervals by leaving out layers; mean "
    "over layers of the difference of ln H, each pair, Student's intervals over layers.",
    fits=("studies",),
    figure="studies_horizon",
    thresholds=("agreement", "slope_tolerance", "fewest_groups"),
)
def studies_horizons(fits: Fits, thresholds: dict) -> Finding:
    """The same two questions of H, which has no sampling noise to speak of.

    In order: mean rank correlation over pairs above `agreement`.  In size: mean difference of ln H within 4
    `slope_tolerance`, for which the paper's curve changes by at most that tolerance.
    """
    data = fits.stores["studies"]
    least, tolerance = thresholds["agreement"], STEEPEST * thresholds["slope_tolerance"]
    parts: Parts = {}
    for model in models(data):
        few = too_few(data, model, thresholds)
        if few:
            parts[model] = few
            continue
        seen = ends(data, "horizon_agreement_overall", model=model)
        measured = {"correlation": seen[0], "low": seen[1], "high": seen[2]}
        power = f"a correlation below {signed(least - (seen[2] - seen[0]))}"
        parts[f"{model}, order"] = Part(decide(seen[1], seen[2], least), measured, within(*seen), power)
        pairs = data.isel(pair=(data["model_of_pair"] == model).values)
        parts[f"{model}, ln H"] = level(pairs, "horizon_shift", tolerance, 2)
    asked = f"required: order above {least:g}, ln H within ±{tolerance:g}"
    return together(parts, asked)


@claim(
    id="studies_variance",
    statement="Rates differ more from head to head than from text to text (our question, not the paper's).",
    test="Variance of β over heads, less that over texts and of head × text, as a share of all; random effects by "
    "moments with known sampling variances, intervals by leaving out layers.",
    fits=("studies",),
    figure="studies_heads",
    thresholds=("fewest_groups",),
)
def studies_variance(fits: Fits, thresholds: dict) -> Finding:
    """Do heads differ more than texts?  Share of variance of heads, less that of texts and of heads between texts.

    Holds: its interval lies above 0.  Fails: below.
    """
    data = fits.stores["studies"]

    def find(fit: xr.Dataset) -> Part:
        margin = ends(fit, "head_margin")
        shares = {str(name): float(fit["variance_share"].sel(component=name)) for name in fit["component"].values}
        measured = {"margin": margin[0], "low": margin[1], "high": margin[2], "shares": shares}
        shown = ", ".join(f"{PARTS[name]} {max(share, 0):.0%}" for name, share in shares.items())
        cut = " (below 0 is shown as 0)" if min(shares.values()) < 0 else ""
        verdict = decide(margin[1], margin[2], 0)
        power = f"a margin below {signed(margin[0] - margin[2])}"
        return Part(verdict, measured, f"{shown}{cut}, margin {within(*margin)}", power)

    return together(by_model(data, thresholds, find), "required: margin above 0")


PARTS = {"head": "head", "text": "text", "head_text": "head × text", "sampling": "sampling"}


def over_models(fits: xr.Dataset, couplings: tuple[str, ...], thresholds: dict) -> Parts:
    """Do couplings order the heads, over models?  One of them must, for both statistics.

    Holds: the interval of one lies below 0.  Fails: all are surely weaker than `weakest_correlation`.  One model says
    nothing of others.
    """
    weakest, parts = thresholds["weakest_correlation"], {}
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
            parts[words] = Part(UNDECIDED, measured, f"{reason} ({shown})" if shown else reason)
            continue
        measured["pooled"] = {name: list(number) for name, number in pooled.items()}
        falls = any(number[2] < 0 for number in pooled.values())
        weak = all(number[1] > -weakest for number in pooled.values())
        said = ", ".join(f"{called(name)} {within(*number)}" for name, number in pooled.items())
        verdict = HOLDS if falls else FAILS if weak else UNDECIDED
        edge = weakest - max(number[0] - number[1] for number in pooled.values())
        power = f"correlations weaker than {signed(-edge)}" if edge > 0 else ""  # else no interval excludes the weakest
        parts[words] = Part(verdict, measured, f"{said} over {len(each)} models ({shown})", power)
    return parts


def called(coupling: str) -> str:
    return coupling.replace("s0", "s₀")


POOLING = (
    "on Fisher's scale: mean over the texts of a model, layers left out of all of them at once; over models random "
    "effects with Hartung and Knapp's interval."
)


@claim(
    id="studies_horizon_order",
    statement="H orders the heads of models alike: over models and texts, β falls as H grows.",
    test=f"Rank correlation of β with H over unsaturated heads, {POOLING}",
    fits=("studies",),
    figure="studies_horizon",
    thresholds=("weakest_correlation", "fewest_groups"),
)
def studies_horizon_order(fits: Fits, thresholds: dict) -> Finding:
    parts = over_models(fits.stores["studies"], ("H",), thresholds)
    return together(parts, asked_to_fall(thresholds))


@claim(
    id="studies_tilt_order",
    statement="Over models and texts, H or the constant tilt s₀ orders the heads, β falls as one grows and the other "
    "is held fixed (our question, not the paper's).",
    test=f"Partial rank correlations of β with H given s₀ and with s₀ given H, {POOLING}",
    fits=("studies",),
    figure="studies_horizon",
    thresholds=("weakest_correlation", "fewest_groups"),
)
def studies_tilt_order(fits: Fits, thresholds: dict) -> Finding:
    parts = over_models(fits.stores["studies"], ("H given s0", "s0 given H"), thresholds)
    return together(parts, asked_to_fall(thresholds, "one below 0"))


@claim(
    id="studies_same_sign",
    statement="β goes the same way with H in every study (our question, not the paper's).",
    test="Rank correlation of β with H in each study, interval by leaving out layers.",
    fits=("studies",),
    figure="studies_horizon",
    thresholds=("weakest_horizon", "fewest_groups"),
)
def studies_same_sign(fits: Fits, thresholds: dict) -> Finding:
    """Has the rank correlation of beta with H the same sign in every study?

    Holds: all intervals lie on one side of 0.  Fails: two lie on different sides.
    """
    data = fits.stores["studies"]
    parts: Parts = {}
    for statistic, words in STATISTIC_NAMES.items():
        fit = data.sel(statistic=statistic, coupling="H")
        value, low, high = (fit[f"order{end}"].values for end in ENDS)
        few = int(data["layers"].min()) < thresholds["fewest_groups"]
        if few or not np.isfinite([low, high]).all() or len(value) < 2:
            parts[words] = Part(UNDECIDED, {"studies": len(value)}, "too few studies, or layers for an interval")
            continue
        falls, rises = int((high < 0).sum()), int((low > 0).sum())
        sides = {falls, rises}
        verdict = HOLDS if len(value) in sides else FAILS if falls and rises else UNDECIDED
        measured: dict = {"studies": len(value), "below_0": falls, "above_0": rises}
        measured |= {
            str(name): list(map(float, ends)) for name, *ends in zip(names(data), value, low, high, strict=True)
        }
        said = (
            f"{signed(float(value.min()))} to {signed(float(value.max()))} in {len(value)} studies, surely below 0 in "
        )
        power = "two studies whose intervals lie on different sides of 0"
        parts[words] = Part(verdict, measured, f"{said}{falls}, above in {rises}", power)
    return together(parts, "required: one sign in all")


def names(fits: xr.Dataset) -> list[str]:
    return [str(name) for name in fits["study"].values]


@claim(
    id="studies_sub_gaussian",
    statement="Tokens of every text are sub-Gaussian along the directions of the heads, with a variance proxy close "
    "to their covariance (the paper assumes them sub-Gaussian; other texts are our question).",
    test="Share of heads along whose leading directions log E exp(s u) ≤ f s²/2, f the sub_gaussian_factor, at every "
    "s that enough tokens carry; interval by leaving out layers. A heavy tail leaves few such s: a lower estimate.",
    fits=("studies",),
    thresholds=("sub_gaussian_share",),
)
def studies_sub_gaussian(fits: Fits, thresholds: dict) -> Finding:
    """Is the variance proxy at most `sub_gaussian_factor` covariances for nearly all heads of every study?

    Holds for a study: the interval of the share of such heads lies above `sub_gaussian_share`.  Fails: below.
    """
    data = fits.stores["studies"]
    least, factor = thresholds["sub_gaussian_share"], float(data["sub_gaussian_factor"])
    parts = {}
    for name in names(data):
        share, low, high = ends(data, "sub_gaussian_share", study=name)
        proxy = data["sub_gaussian"].sel(study=name)
        measured = {"share": share, "largest": float(proxy.max()), "median": float(proxy.median())}
        words = f"{share:.0%} of heads, median {float(proxy.median()):.2f}, largest {float(proxy.max()):.2f}"
        if not np.isfinite([low, high]).all():
            parts[name] = Part(UNDECIDED, measured, f"{words}, one layer")
            continue
        measured |= {"low": low, "high": high}
        parts[name] = Part(decide(low, high, least), measured, words, f"a share below {least - (high - share):.2f}")
    asked = f"required: factor up to {factor:g} in {least:.0%}"
    return together(parts, asked, sub_gaussian_factor=factor)


@claim(
    id="studies_shared_noise",
    statement="Heads of a layer share their errors: it is worth fewer independent heads than it has (our question: "
    "the paper leaves several heads open).",
    test="Mean over heads of the variance over replicates of e²/E e², e the error of a head, over the variance of its "
    "mean over heads, summed over layers; interval by leaving out replicates.",
    fits=("studies",),
    figure="studies_shared_noise",
    thresholds=("independent_share",),
)
def studies_shared_noise(fits: Fits, thresholds: dict) -> Finding:
    """Is a layer worth fewer independent heads than it has?  All layers of a study together, at the largest n.

    Holds: the interval lies below the number of heads.  Fails: above `independent_share` of it.
    """
    data = fits.stores["studies"]
    parts = {}
    for name, statistic, (number, low, high), heads in sharing(data):
        measured = {"effective_heads": number, "low": low, "high": high, "heads": heads}
        edge = thresholds["independent_share"] * heads
        verdict = HOLDS if high < heads else FAILS if low > edge else UNDECIDED
        least = edge * number / low if low > 0 else np.inf
        power = f"more than {least:.1f} of {heads} independent heads" if least < heads else ""
        words = f"{number:.1f} [{low:.1f}, {high:.1f}]"
        parts[f"{name}, {STATISTIC_NAMES[statistic]}"] = Part(verdict, measured, words, power)
    there = sorted({int(each) for each in data["heads"].values})
    asked = f"heads of a layer: {', '.join(map(str, there))}"
    return together(parts, asked)


def sharing(fits: xr.Dataset) -> Iterator[tuple[str, str, tuple[float, float, float], int]]:
    """By study and statistic: effective heads of its layers together, at its largest n, and heads of a layer."""
    for name in names(fits):
        for statistic in STATISTIC_NAMES:
            fit = fits.sel(study=name, statistic=statistic)
            fit = fit.isel(n=np.flatnonzero(fit["effective_heads_overall"].notnull())[-1])
            yield name, statistic, ends(fit, "effective_heads_overall"), int(fit["heads"])
