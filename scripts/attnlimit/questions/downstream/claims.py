"""Claims on what the user of a model sees when every layer attends to drawn keys: ours, after the paper's code."""

import numpy as np
import xarray as xr

from attnlimit.questions.downstream.fit import DECLARED
from attnlimit.stats.claim import Finding, Fits, claim
from attnlimit.stats.verdicts import AFTER_A_LOOK, FAILS, HOLDS, UNDECIDED, decide, every, signed, within
from attnlimit.theory.bounds import predictions

TOO_FEW = "too few texts for an interval"
FEW = "not here: only more texts could decide"
EXACT = "Keys are drawn with replacement, so that the dense model is the exact limit."
SUBSET = (
    "Keys are drawn without replacement, as published: at the length of a text the error vanishes, which steepens β."
)


@claim(
    id="downstream_rate",
    statement="Keys drawn in every layer of {model}: the error of a text's embedding falls like 1/√n (our question, "
    "after an experiment in the paper's public code).",
    test="Mean over texts of minus the slope of log error on log n; its change from the lower to the upper half of n.",
    fits=("downstream",),
    figure="downstream",
    thresholds=("slope_tolerance", "fewest_groups"),
)
def downstream_rate(fits: Fits, thresholds: dict) -> Finding:
    """A power of n, with which rate?  Two parts, both of the mean over texts, with intervals over groups of them.

    The rate within the tolerance of 1/2; the bend, which is the rate over the upper half of the sizes less that over
    the lower, within twice the tolerance of 0: as far as two rates within the tolerance can lie apart.
    """
    data, tolerance = fits.stores["downstream"], thresholds["slope_tolerance"]
    measured: dict = counted(data) | {"n_from": int(data["n"][0]), "n_to": int(data["n"][-1])}
    verdict, words, power, beside = UNDECIDED, TOO_FEW, FEW, ""
    if data.attrs["groups"] >= thresholds["fewest_groups"]:
        (beta, low, high), (bend, bend_low, bend_high) = ends(data, "beta"), ends(data, "bend")
        measured |= {"beta": beta, "low": low, "high": high, "bend": bend, "bend_low": bend_low, "bend_high": bend_high}
        measured |= {name: data[name].values.tolist() for name in ("embedding_error", "local_slope")}
        between = ", ".join(f"{slope:.2f}" for slope in measured["local_slope"])
        first, far = measured["embedding_error"][0], float(data["unrelated_distance"])
        beside = (
            f" Between neighbouring n the rate is {between}; at the smallest the error is {first:.2f}, two unrelated"
        )
        beside += f" texts are {far:.2f} apart."
        straight = decide(bend_low, bend_high, -2 * tolerance, 2 * tolerance)
        verdict = every([decide(low, high, 0.5 - tolerance, 0.5 + tolerance), straight])
        words = f"β {beta:.3f} [{low:.3f}, {high:.3f}], bend {within(bend, bend_low, bend_high)}"
        reach, bend_reach = (high - low) / 2, (bend_high - bend_low) / 2
        power = (
            f"yes: a rate off 1/2 by {tolerance + reach:.2f}, or a bend of {2 * tolerance + bend_reach:.2f}, fails it"
        )
    return Finding(
        verdict,
        f"{words}; allowed {0.5 - tolerance:g} to {0.5 + tolerance:g}, bend within ±{2 * tolerance:g}",
        measured,
        f"{of_groups(data)}, n from {measured['n_from']:,} to {measured['n_to']:,}: {words}.{beside} "
        f"{EXACT if data.attrs['replacement'] else SUBSET}",
        power,
    )


@claim(
    id="downstream_horizon",
    statement="Keys drawn in every layer of {model}: texts with a larger H, the largest over heads and layers, "
    "converge more slowly (our question, after the paper's public code).",
    test="Rank correlation, over texts, of β with the largest H over heads and layers, a pair that was declared before "
    "any result.",
    fits=("downstream",),
    figure="downstream",
    thresholds=("weakest_correlation", "fewest_groups", "fewest_fits", "level"),
)
def downstream_horizon(fits: Fits, thresholds: dict) -> Finding:
    """Do texts with a larger horizon have a lower rate?  The one rank correlation that was declared, with its interval.

    Holds: the interval lies below 0.  Fails: it excludes the weakest correlation that would count, times the largest
    that these texts could show: were rates to follow the paper's curve c(H) on top of all that scatters them, a
    correlation of sqrt(v / (v + s^2)), v the variance of c(H) over the texts, s^2 that of their rates.  Else undecided.
    """
    data = fits.stores["downstream"]
    outcome, aggregation = DECLARED
    row = data.sel(outcome=outcome, aggregation=aggregation)
    value, low, high = ends(row, "correlation")
    reliability = float(row["reliability"])
    others = data["corrected_probability"].where(~data["declared"])
    seen = int((others < 1 - thresholds["level"]).sum())
    measured: dict = counted(data) | {"reliability": reliability, "others": listed(data), "others_seen": seen}
    verdict, words, power, beside = UNDECIDED, TOO_FEW, FEW, ""
    enough = data.sizes["text"] >= thresholds["fewest_fits"] and data.attrs["groups"] >= thresholds["fewest_groups"]
    if enough and np.isfinite([value, low, high]).all():
        horizon = data["text_horizon"].values
        curve, scatter = predictions(horizon, horizon**2)["bound_v3"].var(), data["text_rate"].values.var(ddof=1)
        visible = float(np.sqrt(curve / (curve + scatter))) if curve else 0.0
        weakest = thresholds["weakest_correlation"] * visible
        fails_above = value - low - weakest  # there the interval would exclude the weakest
        slower = dict(zip(("tertiles", "tertiles_low", "tertiles_high"), ends(data, "tertile_difference"), strict=True))
        measured |= {"correlation": value, "low": low, "high": high, "visible": visible, "fails_above": fails_above}
        measured |= {name: number for name, number in slower.items() if np.isfinite(number)}
        measured |= {"horizon_low": np.quantile(horizon, 0.1), "horizon_high": np.quantile(horizon, 0.9)}
        verdict = HOLDS if high < 0 else FAILS if low > -weakest else UNDECIDED
        words = within(value, low, high)
        power = f"yes: a correlation above {signed(fails_above)} fails it"
        if fails_above > 0:
            span = f"{measured['horizon_low']:.1f} to {measured['horizon_high']:.1f}"
            power = f"hardly: H is {span} in the middle 80 % of the texts, too alike to order them; only a correlation "
            power += f"above {signed(fails_above)} fails it"
        beside = (
            f" From the third of the texts with the lowest H to that with the highest β changes by "
            f"{within(*ends(data, 'tertile_difference'))}. {reliability:.0%} of the variance of their rates is "
            f"no noise of the draws. Of {len(measured['others'])} other pairs of an outcome and a way to sum up H, "
            f"{seen} remain after Holm's correction."
        )
    return Finding(
        verdict,
        f"rank correlation of β with H: {words}; required: below 0",
        measured,
        f"{of_groups(data)}: {words}.{beside}{AFTER_A_LOOK}",
        power,
    )


def ends(data: xr.Dataset, name: str) -> tuple[float, float, float]:
    """A number and its interval."""
    value, low, high = (float(data[name + ending]) for ending in ("", "_low", "_high"))
    return value, low, high


def listed(data: xr.Dataset) -> dict[str, dict[str, float]]:
    """The correlations that were not declared, with probabilities that are corrected for their number."""
    found = {}
    for outcome in data["outcome"].values:
        for aggregation in data["aggregation"].values:
            one = data.sel(outcome=outcome, aggregation=aggregation)
            if not one["declared"] and np.isfinite(one["corrected_probability"]):
                numbers = {"correlation": float(one["correlation"]), "p_holm": float(one["corrected_probability"])}
                found[f"{outcome}, {aggregation}"] = numbers
    return found


def counted(data: xr.Dataset) -> dict:
    return {"texts": data.sizes["text"], "groups": data.attrs["groups"], "draws": data.attrs["replicates"]}


def of_groups(data: xr.Dataset) -> str:
    """64 blocks of 32 articles, or 64 texts."""
    articles = f"{data.sizes['text']} blocks of {data.attrs['groups']} articles"
    return articles if data.attrs["task"] == "retrieval" else f"{data.sizes['text']} texts"
