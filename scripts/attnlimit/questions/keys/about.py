"""How many keys of its context does a query of a language model need?"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from attnlimit.attention.key_protocols import PROTOCOLS
from attnlimit.base.about import About, Cost, Known, Model, Section, Words
from attnlimit.base.costs import DRAWN_FLOPS, START_BYTES
from attnlimit.base.section_types import DISTINCT, INCREASING, Count, InParts, Integer, Number, Positive, Sizes, refuse
from attnlimit.base.words import COUPLINGS, LABELS, WINDOWS

CHAPTER = "language"
READERS = (CHAPTER, "entry")  # chapters of runs that have these stores
NEEDED = ("uniform", "sink", "recent", "sink_recent")  # what gains are computed from
ELEMENT_SECONDS = 5e-9  # of one score of one drawn variant: sum, exponential, product with the values


class PrepareWindows(Section):
    """The first tokens of some articles, read by a causal model."""

    windows: Integer = Field(ge=2, description="Articles, one window each; the intervals are over windows.")
    window: Count = Field(description="Tokens of a window: the longest context.")
    left_out: list[str] = Field(description="Titles of articles that are not taken.")


class MeasureKeys(InParts):
    """Queries in the last half of a context read all keys before them, or some of them."""

    contexts: Annotated[list[Count], Field(min_length=1), INCREASING] = Field(
        description="First tokens of a window that are a context of their own, increasing: for these the exact first "
        "order is computed, which tells how the number of keys grows with the context."
    )
    context: Count = Field(description="The one of `contexts` at which keys are drawn.")
    queries: Count = Field(description="Queries, evenly spaced in the last half of a context; all of it if fewer.")
    protocols: Annotated[list[Literal[PROTOCOLS]], Field(min_length=1), DISTINCT] = Field(  # type: ignore[valid-type]
        description="Which keys a query reads for certain, the others being sampled and weighted so that sums are "
        "unbiased. `uniform`: none; `sink`: the first; `recent`: the last; `sink_recent`: both; `heavy_recent`: the "
        "last, and of each head those that earlier queries read most; `reservoir`: as sink_recent, with one sample "
        "carried from query to query. Without a sample, as many as sink_recent reads: `window`, the last; "
        "`sink_window`, the first and the last; `top`, those of the largest weights."
    )
    first: Count = Field(description="Keys at the beginning of the text that are kept: the sink.")
    last: Count = Field(description="Last keys that are kept, the query's own among them.")
    heavy: Number = Field(description="Keys of each head that heavy_recent keeps besides the last.")
    sizes: Sizes = Field(description="The numbers n of drawn keys, increasing. They may exceed the context.")
    replicates: Count = Field(description="Independent draws for each window.")

    @model_validator(mode="after")
    def kept_keys_leave_others(self) -> Self:
        if self.context not in self.contexts:
            refuse("context", f"{self.context} is not among contexts {self.contexts}; take one of them")
        if self.first + self.last > self.contexts[0] // 2:
            why = f"{self.first} first and {self.last} last keys are more than half of the context {self.contexts[0]}"
            refuse("last", f"{why}; lower it, or leave out short contexts")
        for name in NEEDED:
            if name not in self.protocols:
                refuse("protocols", f"no {name}: the others are compared with it; add it")
        return self


class Thresholds(Section):
    """Of the claims about keys of a context."""

    keys_tolerance: Positive = Field(
        lt=1,
        description="How far from 1 the median ratio of n(5 %) by first order to n(5 %) measured may be: the first "
        "order then predicts how many keys a head needs.",
    )
    growth_power: Positive = Field(
        description="Power of the context from which on the number of keys counts as growing with it; 0 would be a "
        "limit in the sense of the paper."
    )


def check(config: Mapping[str, Any], known: Known) -> None:
    """Windows that the model reads and that hold every context; asked only where the chapter runs."""
    if not {*READERS} & {*config["chapters"]}:
        return
    window, contexts = config["prepare_windows"]["window"], config["measure_keys"]["contexts"]
    if known.longest is not None and window > known.longest:
        refuse("prepare_windows.window", f"{window} tokens, but the model reads at most {known.longest}; lower it")
    if CHAPTER in config["chapters"] and len(contexts) < 2:
        refuse("measure_keys.contexts", "one tells nothing of how keys grow with the context; add another")
    if contexts[-1] > window:
        why = f"{contexts[-1]} tokens are more than prepare_windows.window {window}; lower it, or take longer windows"
        refuse("measure_keys.contexts", why)
    if config["measure_keys"]["parts"] > (windows := config["prepare_windows"]["windows"]):
        refuse("measure_keys.parts", f"more jobs than prepare_windows.windows {windows}; lower it")


def cost(config: Mapping[str, Any], model: Model) -> dict[str, Cost]:
    """Of each window: one pass of the model, and every drawn variant of the scores of the queries."""
    section, windows, length = (
        config["measure_keys"],
        *(config["prepare_windows"][key] for key in ("windows", "window")),
    )
    layers, features, heads = model
    passes = length * layers * (24.0 * features**2 + 4.0 * length * features) / DRAWN_FLOPS
    scores = float(len(config["layers"]) * heads * section["queries"] * section["context"])
    variants = len(section["protocols"]) * len(section["sizes"]) * section["replicates"]
    orders = 20.0 * len(section["protocols"]) * sum(section["contexts"]) / section["context"]
    held = 12.0 * layers * features**2 * 4 + 40.0 * length * features
    held += 8.0 * 8 * heads * min(section["queries"], 64) * length
    return {
        "measure_keys": Cost(
            section["parts"],
            windows * (passes + scores * ELEMENT_SECONDS * (variants + orders)),
            bytes=START_BYTES + held,
            on_gpu=True,
            cut_by="measure_keys.parts",
        ),
        "merge_parts": Cost(),
        "fit_keys": Cost(job_seconds=5.0),
    }


# Words of the variables, by store.
READ: Words = LABELS | {
    "n": "number of drawn keys [keys]",
    "head": "query head of the layer, from 0",
    "kv_head": "head of keys and values that the query head reads, from 0",
    "protocol": "which keys are kept for certain, the others sampled",
    "context": "tokens of the context [tokens]",
    "quantile": "level of the quantile over queries",
    "largest": "number of the largest weights of a query",
    "horizon": "horizon H = ||C_q^1/2 C_k^1/2||_2 / sqrt(width) of queries and keys as the scores see them",
    "constant_tilt": "s0 = |C_k^1/2 E q| / sqrt(width), standard deviation over keys of the mean query's scores",
    "first_weight": "weight of the first key of the text, mean over queries",
    "entropy": "entropy of the weights of a query, mean over queries",
    "effective_keys": "effective keys 1 / sum p^2 of a query, mean over queries",
    "largest_mass": "weight of so many largest weights of a query together, mean over queries",
    "spread": "scale of the error, S = sqrt(tr Cov v) over the context",
    "stratum": "keys m that are not kept, mean over queries",
    "error_quantile": "quantile over queries of the error of the output, relative to S",
    "output_error": "root mean square over queries of the error of the output, relative to the output itself",
    "second_moment": "E u^2 = m sum p^2 over the keys that are not kept, mean over queries: the first order holds well "
    "above it",
}
ERRORS: Words = (
    COUPLINGS
    | READ
    | WINDOWS
    | {
        "error": "root mean square over queries of the error of the output, relative to S, each replicate",
        "first_order": "n times the expected squared error by exact first order, relative to S^2, mean over queries",
        "first_order_output": "n times the expected squared error by exact first order, relative to the squared output",
    }
)
STORES: dict[str, Words] = {
    "keys/windows": WINDOWS
    | {"token_id": "number of the word piece in the vocabulary", "page_id": "number of the article"},
    "keys/errors": ERRORS,
    "rates/keys": READ
    | {
        "eps": "wanted error, relative to S",
        "budget": "keys that a query reads, kept ones included [keys]",
        "rms": "root mean square error of the output over windows, replicates and queries, relative to S",
        "beta": "rate: minus the slope of log error on log n",
        "median_beta": "rate, median over heads",
        "keys": "drawn keys n(eps) from which on the error is at most eps, measured [keys]",
        "median_keys": "drawn keys n(eps), measured, median over heads [keys]",
        "keys_extrapolated": "whether the measured n(eps) lies beyond the largest n",
        "first_order_keys": "drawn keys n(eps) by exact first order [keys]",
        "median_first_order_keys": "drawn keys n(eps) by exact first order, median over heads [keys]",
        "first_order_reliable": "whether n(eps) by first order is at least 10 E u^2, from where on it may be used",
        "beyond": "share of heads whose queries must read as many keys as the context has, or more, kept ones included",
        "cache_share": "share N / (N + m) of the keys that are not kept that a cache needs, N = n(eps) by first order",
        "first_order_ratio": "n(eps) by first order over n(eps) measured, where the first order may be used",
        "median_first_order_ratio": "n(eps) by first order over n(eps) measured, median over heads and protocols",
        "gain": "mean squared error of uniform draws over that of the protocol, at the largest n",
        "median_gain": "mean squared error of uniform draws over that of the protocol, median over heads",
        "joint_gain": "gain of first and last keys together over the product of their single gains, median over heads",
        "growth": "power of the context that n(eps) by first order grows with",
        "median_growth": "power of the context that n(eps) by first order grows with, median over heads",
    },
}
PARTS: dict[str, Words] = {"keys/parts/part_{part}": ERRORS}

ABOUT = About(
    title="keys of a context",
    question="How many keys of its context does a query of a language model need?",
    chapter=CHAPTER,
    place=0,
    exclusive=True,
    causal=True,
    figures={
        "keys": "language: errors of drawn keys, and what theory says",
        "keys_by_layer": "language: keys for 5 %, layer by layer",
        "keys_by_context": "language: keys for 5 % against the context",
    },
    tables={"keys": "keys for 5 % of each head, by protocol, and how it spreads its weights"},
    sections={"prepare_windows": PrepareWindows, "measure_keys": MeasureKeys},
    thresholds=Thresholds,
    cost=cost,
    check=check,
    stores=STORES,
    parts=PARTS,
)
