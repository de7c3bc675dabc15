"""What page, terminal and README open with: a few plain sentences, and "how many tokens?" answered side by side."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
import xarray as xr

from attnlimit.page.answer import NEAR, SHARE, by_statistic, capital, near_half, spoken, tokens, two_digits
from attnlimit.questions.contexts.fit import layers_measured, longest_run
from attnlimit.stats.estimate import Estimate
from attnlimit.stats.verdicts import FAILS, HOLDS, UNDECIDED

BOUND = ("heads_above", "bound_curve")  # claims: β is at least 1/(2(1+H²))
CURVE = "β ≥ 1/(2(1+H²))"
TILTED = "those in which the constant tilt, a part of the scores that all queries share, needs larger n"
FALL = ("horizon_dependence", "interventions_horizon", "heads_curve")  # claims: β falls as H grows
FOUND = {HOLDS: "yes for {}", FAILS: "no for {}", UNDECIDED: "undecided for {}"}
CHOSEN = {"random": "random keys", "window": "nearest", "top": "largest weights"}  # patterns of the box
KEPT = {"uniform": "random keys", "sink_recent": "first and last kept", "top": "largest weights"}


class Sentence(NamedTuple):
    """A plain sentence on one finding, and what a careful reader must know beside it."""

    says: str
    detail: str = ""


class Answer(NamedTuple):
    """One answer to "how many tokens?": numbers by what is drawn (empty where there is one number only)."""

    case: str
    numbers: dict[str, str]
    words: str


def conclusion(
    records: Iterable[Mapping],
    rates: xr.Dataset | None = None,
    contexts: xr.Dataset | None = None,
    keys: xr.Dataset | None = None,
) -> list[Sentence]:
    """What this run has of: convergence, the bound, what H tells, neighbours in text, keys of a language model.

    records: those of claims.json;  rates, contexts, keys: fits of these questions.
    """
    tested = {record["id"]: record for record in records if record["verdict"]}
    return [
        *([converges(rates)] if rates is not None else []),
        *of_bounds([tested[name] for name in BOUND if name in tested]),
        *of_horizon([tested[name] for name in FALL if name in tested]),
        *in_text(contexts),
        *in_context(keys),
    ]


def converges(rates: xr.Dataset) -> Sentence:
    """To what, and how fast: the mean of the outputs, then their covariance."""
    parts, model = by_statistic(rates), rates.attrs["model"]["name"].rpartition("/")[2]
    mean, sizes = parts["mean"], rates["n"].values
    near = near_half(mean)
    bent = int((near & mean["misfit"]).sum())
    (half, *slowest), covariance = tokens(mean, "mean"), "; ".join(tokens(parts["cov"], "cov"))
    details = [
        f"The limit is attention over a population of {rates.attrs['population']:,} tokens, from which samples of "
        f"{sizes[0]:,} to {sizes[-1]:,} are drawn",
        f"Like 1/√n: the 95 % interval of β is within {NEAR:g} of 1/2"
        + (f" (in {bent} of these heads log error against log n is bent, and β is an average slope)" if bent else ""),
        *map(capital, slowest),
        f"The covariance: {covariance}",
    ]
    return Sentence(
        f"The error of the mean output falls like 1/√n, as that of an ordinary average, in {int(near.sum())} of "
        f"{mean.sizes['row']} heads of {model}; {half}.",
        f"{'. '.join(details)}.",
    )


def of_bounds(records: list[Mapping]) -> list[Sentence]:
    """Whether measured rates lie above the paper's bound, which is for n to infinity."""
    if not records:
        return []
    numbers = capital("; ".join(f"{record['experiment']}: {record['number']}" for record in records)) + "."
    verdicts = {record["verdict"] for record in records}
    if FAILS in verdicts:
        return [Sentence(f"Some measured rates lie below {CURVE}, the paper's bound for n → ∞.", numbers)]
    if UNDECIDED in verdicts:
        return [Sentence(f"Whether measured rates lie above the paper's bound {CURVE} is undecided.", numbers)]
    measured = " or ".join(f"of {record['experiment']}" for record in records)
    simulated = "bound_curve" in [record["id"] for record in records]
    tilted = f" and, for simulated tokens, {TILTED}" if simulated else ""
    sizes = "finite n; heads see a finite population, over which every β tends to 1/2"
    aside = [f"{record['experiment']}: {left}" for record in records if (left := record["number"].partition("; ")[2])]
    return [
        Sentence(
            f"In this run, no rate {measured} that can be compared with the paper's bound {CURVE} is significantly "
            "below it.",
            f"This is consistent with the bound and does not prove it: it is for n → ∞, and these are {sizes}. "
            f"Excluded are fits whose error has barely started to fall at these n{tilted}"
            f"{''.join(f' ({each})' for each in aside)}.",
        )
    ]


def of_horizon(records: list[Mapping]) -> list[Sentence]:
    """Where a larger H goes with a smaller rate, and where it does not; the table of claims has the numbers."""
    named = {verdict: [r for r in records if r["verdict"] == verdict] for verdict in FOUND}
    parts = [
        FOUND[verdict].format(" and ".join(each["experiment"] for each in some))
        for verdict, some in named.items()
        if some
    ]
    return [Sentence(f"Does β fall as H grows? {capital('; '.join(parts))}.")] if parts else []


def in_text(contexts: xr.Dataset | None) -> list[Sentence]:
    """What a neighbour is worth."""
    if contexts is None or not np.isfinite((worth := share_of(contexts)).value):
        return []
    length = longest_run(contexts)[1]
    most = int(contexts["n"].max()) // length
    return [
        Sentence(
            f"In running text neighbours repeat each other: for the mean, a token in runs of {length} is worth "
            f"{worth.value:.2f} [{worth.low:.2f}, {worth.high:.2f}] of an independent one.",
            f"Median over the heads of {layers_measured(contexts)}; samples of at most {most} runs.",
        )
    ]


def in_context(keys: xr.Dataset | None) -> list[Sentence]:
    """What a query of a language model needs."""
    if keys is None:
        return []
    model, context = keys.attrs["model"]["name"].rpartition("/")[2], keys.attrs["context"]
    power, shortest = Estimate.of(keys, "median_growth", protocol="uniform"), int(keys["context"].min())
    longest, tested, windows = int(keys["context"].max()), int(keys["n"].max()), keys.attrs["windows"]
    return [
        Sentence(
            f"A query of {model} with a context of {context:,} tokens needs {keys_read(keys, 'uniform')} random keys "
            f"for an error of {100 * SHARE:g} %, or {keys_read(keys, 'sink_recent')} keys in all if its first and last "
            "keys are always among them.",
            f"Median head, {windows} windows of text; keys are drawn with replacement. Predicted by the leading term "
            f"in 1/n (first order), which was tested where at most {tested:,} keys are enough. The random keys needed "
            f"grow like the length of the context to the power {power.value:.2f} [{power.low:.2f}, {power.high:.2f}], "
            f"from {shortest:,} to {longest:,} tokens.",
        )
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
        found.append(Answer("independent tokens", {"": number}, "for the mean over all outputs, half of the heads"))
    if contexts is not None and np.isfinite((worth := share_of(contexts)).value):
        length = longest_run(contexts)[1]
        number = f"{1 / worth.value:.1f} times as many"
        found.append(Answer("running text", {"": number}, f"the same mean, tokens in runs of {length}"))
    if patterns is not None:
        block = patterns.attrs["block"]
        chosen = {words: budget(patterns, name) for name, words in CHOSEN.items() if name in patterns["pattern"].values}
        found.append(Answer("one query", chosen, of_context(block)))
    if keys is not None:
        chosen = {words: keys_read(keys, name) for name, words in KEPT.items() if name in keys["protocol"]}
        words = of_context(keys.attrs["context"])
        found.append(Answer("one query of a language model", chosen, words))
    return found


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
