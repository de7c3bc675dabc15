"""What page, terminal and README open with: at most four sentences, and "how many tokens?" answered side by side."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
import xarray as xr

from attnlimit.page.answer import SHARE, by_statistic, capital, near_half, spoken, tokens, two_digits
from attnlimit.questions.contexts.fit import longest_run
from attnlimit.stats.estimate import Estimate
from attnlimit.stats.verdicts import FAILS, HOLDS, UNDECIDED

BOUND = ("heads_above", "bound_curve")  # claims: β is at least 1/(2(1+H²))
FALL = ("horizon_dependence", "interventions_horizon", "heads_curve")  # claims: β falls as H grows
FOUND = {HOLDS: "yes for {}", FAILS: "no for {}", UNDECIDED: "undecided for {}"}
CHOSEN = {"random": "random keys", "window": "nearest", "top": "largest weights"}  # patterns of the box
KEPT = {"uniform": "random keys", "sink_recent": "first and last kept", "top": "largest weights"}


class Answer(NamedTuple):
    """One answer to "how many tokens?"."""

    case: str
    number: str
    words: str


def conclusion(
    records: Iterable[Mapping],
    rates: xr.Dataset | None = None,
    contexts: xr.Dataset | None = None,
    keys: xr.Dataset | None = None,
) -> list[str]:
    """Sentences on what this run has: convergence, bounds, what H tells, what it means for text and language models.

    records: those of claims.json;  rates, contexts, keys: fits of these questions.
    """
    tested = {record["id"]: record for record in records if record["verdict"]}
    return [
        *([converges(rates)] if rates is not None else []),
        *of_bounds([tested[name] for name in BOUND if name in tested]),
        *of_horizon([tested[name] for name in FALL if name in tested]),
        *([" ".join([*in_text(contexts), *in_context(keys)])] if contexts is not None or keys is not None else []),
    ]


def converges(rates: xr.Dataset) -> str:
    """To what, and how fast: the mean of the outputs, then their covariance."""
    parts, model = by_statistic(rates), rates.attrs["model"]["name"].rpartition("/")[2]
    mean, sizes = parts["mean"], rates["n"].values
    near = near_half(mean)
    bent = int((near & mean["misfit"]).sum())
    return (
        f"The limit is attention of {model} over a population of {rates.attrs['population']:,} tokens, from which "
        f"samples of n are drawn. For n from {sizes[0]:,} to {sizes[-1]:,}, the error of the mean output falls like "
        f"1/√n in {int(near.sum())} of {mean.sizes['row']} heads (95 % interval of β within 0.05 of 1/2; in {bent} of "
        f"these, log error against log n is bent, and β is an average slope). {capital(tokens(mean, 'mean'))}. "
        f"{capital(tokens(parts['cov'], 'cov'))}."
    )


def of_bounds(records: list[Mapping]) -> list[str]:
    """Whether measured rates lie above the paper's bound, which is for n to infinity."""
    if not records:
        return []
    numbers = "; ".join(f"{record['experiment']}: {record['number']}" for record in records)
    measured = " or ".join(f"of {record['experiment']}" for record in records)
    verdicts = {record["verdict"] for record in records}
    if FAILS in verdicts:
        return [f"Measured rates lie below the paper's bound β ≥ 1/(2(1+H²)), which is for n → ∞ ({numbers})."]
    if UNDECIDED in verdicts:
        return [f"Whether measured rates lie above the paper's bound β ≥ 1/(2(1+H²)) is undecided ({numbers})."]
    aside = [f"{record['experiment']}: {left}" for record in records if (left := record["number"].partition("; ")[2])]
    return [
        f"None of the rates {measured} that can be compared with the paper's bound β ≥ 1/(2(1+H²)) is significantly "
        "below it. That is consistent, no proof: the bound is for n → ∞, and fits are set aside whose error hardly "
        "falls yet at these n, or in which a part of the scores that all queries share (the constant tilt) asks for "
        f"larger n{''.join(f' ({each})' for each in aside)}."
    ]


def of_horizon(records: list[Mapping]) -> list[str]:
    """Where a larger H goes with a smaller rate, and where it does not; the table of claims has the numbers."""
    named = {verdict: [r for r in records if r["verdict"] == verdict] for verdict in FOUND}
    parts = [
        FOUND[verdict].format(" and ".join(each["experiment"] for each in some))
        for verdict, some in named.items()
        if some
    ]
    return [f"Does β fall as H grows? {capital('; '.join(parts))}."] if parts else []


def in_text(contexts: xr.Dataset | None) -> list[str]:
    """What a neighbour is worth."""
    if contexts is None or not np.isfinite((worth := share_of(contexts)).value):
        return []
    length = longest_run(contexts)[1]
    return [
        f"In running text neighbours repeat each other: a token in runs of {length} is worth {worth.value:.2f} of an "
        "independent one."
    ]


def in_context(keys: xr.Dataset | None) -> list[str]:
    """What a query of a language model needs."""
    if keys is None:
        return []
    model, context = keys.attrs["model"]["name"].rpartition("/")[2], keys.attrs["context"]
    power, shortest = float(keys["median_growth"].sel(protocol="uniform")), int(keys["context"].min())
    longest, tested = int(keys["context"].max()), int(keys["n"].max())
    return [
        f"A query of {model} with a context of {context:,} tokens needs {keys_read(keys, 'uniform')} keys of it, drawn "
        f"at random with replacement, for an error of {100 * SHARE:g} % (median head; predicted by exact first order, "
        f"the leading term in 1/n, which was tested up to {tested:,} keys). If its first and last keys are always "
        f"among them, {keys_read(keys, 'sink_recent')} keys in all are enough. The random keys needed grow like the "
        f"length of the context to the power {power:.2f}, from {shortest:,} to {longest:,} tokens."
    ]


def answers(
    rates: xr.Dataset | None = None,
    contexts: xr.Dataset | None = None,
    patterns: xr.Dataset | None = None,
    keys: xr.Dataset | None = None,
) -> list[Answer]:
    """How many tokens for an error of 5 %: independent ones, in running text, at one query of a context."""
    found = []
    if rates is not None:
        mean = by_statistic(rates)["mean"]
        needed = np.sort(mean["tokens_needed"].sel(eps=SHARE).values)
        half = float(needed[(len(needed) - 1) // 2])
        number = "unknown" if np.isnan(half) else spoken(half, mean["n"].values)
        found.append(Answer("independent tokens", number, "for the mean over all outputs, half of the heads"))
    if contexts is not None and np.isfinite((worth := share_of(contexts)).value):
        length = longest_run(contexts)[1]
        found.append(
            Answer("running text", f"{1 / worth.value:.1f} times as many", f"the same mean, tokens in runs of {length}")
        )
    if patterns is not None:
        block = patterns.attrs["block"]
        chosen = {words: budget(patterns, name) for name, words in CHOSEN.items() if name in patterns["pattern"].values}
        found.append(Answer("one query", listed(chosen), of_context(block)))
    if keys is not None:
        chosen = {words: keys_read(keys, name) for name, words in KEPT.items() if name in keys["protocol"]}
        words = of_context(keys.attrs["context"])
        found.append(Answer("one query of a language model", listed(chosen), words))
    return found


def listed(chosen: Mapping[str, str]) -> str:
    return "; ".join(f"{words}: {number}" for words, number in chosen.items())


def of_context(length: int) -> str:
    return f"for its output, in a context of {length:,} tokens, median head"


def share_of(contexts: xr.Dataset) -> Estimate:
    """What a token of the longest runs is worth, for the mean, median over heads."""
    return Estimate.of(contexts, "overall_share", run=longest_run(contexts)[0], statistic="mean")


def budget(patterns: xr.Dataset, name: str) -> str:
    """Keys until the error at a query is 5 % of its scale, median over all heads."""
    of = patterns.sel(pattern=name, statistic="pointwise")
    needed = float(of["budget"].sel(eps=SHARE).median(("layer", "head")))
    if np.isfinite(needed):
        return f"about {two_digits(needed)}"
    largest = float(of["n"].where(of["median_value"].notnull().any("layer")).max())
    return (
        "more than the context has"
        if largest >= patterns.attrs["block"]
        else f"more than {largest:,.0f}, the most tried"
    )


def keys_read(keys: xr.Dataset, protocol: str) -> str:
    """Keys that a query of the median head reads for 5 %, kept ones included.

    By exact first order where the protocol samples, else measured; at most as many as the smallest budget tried.
    """
    of = keys.sel(eps=SHARE, protocol=protocol)
    kept = float((of["budget"] - of["n"]).isel(n=0))
    first = float(of["median_first_order_keys"].sel(context=keys.attrs["context"]))
    if np.isfinite(first):
        return f"about {two_digits(first + kept)}"
    measured, smallest = float(of["median_keys"]), float(of["n"][0])
    return f"at most {smallest + kept:,.0f}" if measured <= smallest else f"about {two_digits(measured + kept)}"
