"""What is the error of a query that reads only n keys of its block, selected by a pattern?"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from attnlimit.base.about import About, Cost, Known, Model, Section, Words
from attnlimit.base.costs import START_BYTES, token_bytes
from attnlimit.base.parts import FEWEST_POINTS, PUBLISHED_RANDOM
from attnlimit.base.section_types import DISTINCT, INCREASING, Count, InDtype, Positive, Sizes, refuse
from attnlimit.base.words import LABELS, LINE, POINTWISE

PATTERN_FLOPS = 23e9  # a second, of attention by a pattern, its counts included: measure_patterns of the default run
Pattern = Literal[
    "random",
    "random_shared",
    "window",
    "window_random",
    "window_random_50",
    "global_window_random",
    "strided",
    "dilated",
    "pooled",
    "top",
    "herding",
    "published_window",
]


class MeasurePatterns(InDtype):
    """Sparse attention: in real blocks every query reads n keys, chosen by a pattern; errors are to dense attention."""

    patterns: Annotated[list[Pattern], Field(min_length=1), DISTINCT] = Field(
        description="`random`: independent keys, others for each query; `random_shared`: the same for all queries; "
        "`window`: the nearest; `window_random`: half of each; `window_random_50`: a window and 50 random keys of "
        "its own; `global_window_random`: also the first of the block, as in BigBird; `strided`: at even steps; "
        "`dilated`: every second one of a window; `pooled`: means over neighbours; `top`: the largest scores, an "
        "oracle; `herding`: a coreset, the keys whose mean in a kernel of keys and values is nearest to that of all, "
        "the same for all queries; `published_window`: the published experiment, in variables of its own: one window "
        "at the middle of the block and 50 random tokens, which are queries and keys of the moments."
    )
    sizes: Sizes = Field(
        description="The budgets n, increasing: keys that a query reads, at most a block. `window_random_50` and "
        "`published_window` have those above 50, three at least."
    )
    random_sizes: Annotated[list[Count], INCREASING] = Field(
        description="Further budgets of `random` and `random_shared`, increasing from the largest of `sizes`: keys are "
        "drawn with replacement, so that a budget may exceed the block."
    )
    blocks: Count = Field(
        description="How many blocks, spread over those that hold the largest of `sizes`. A text without so many has "
        "smaller budgets, or fewer blocks. Intervals come from resampling them."
    )
    replicates: Count = Field(description="Draws of the random patterns in each block.")

    @model_validator(mode="after")
    def budgets_of_every_pattern(self) -> Self:
        largest = self.sizes[-1]
        if self.random_sizes and self.random_sizes[0] <= largest:
            refuse("random_sizes", f"must increase, from above the largest of sizes, {largest}")
        above = sum(size > PUBLISHED_RANDOM for size in self.sizes)
        with_random = [name for name in ("window_random_50", "published_window") if name in self.patterns]
        for name in with_random if above < FEWEST_POINTS else ():
            why = f"{name} has {PUBLISHED_RANDOM} random tokens: it needs {FEWEST_POINTS} sizes above that"
            refuse("patterns", why)
        return self


class FitPatterns(Section):
    """Rates and budgets of sparse attention."""

    bend: float = Field(
        ge=0,
        description="A curve is marked as no power law if its slope changes by more than this from the lower half of "
        "the budgets to the upper, and the interval of the change excludes 0.",
    )
    slope_tolerance: Positive = Field(
        description="With independent keys, theory predicts a rate of 1/2 once the next-order term is negligible: from "
        "the budget on at which it moves the slope by at most this."
    )


class Thresholds(Section):
    """Of the claim on the largest scores."""

    top_tolerance: Positive = Field(
        lt=1,
        description="How far from the measured share of keys that holds 95 % of a query's weight that of normal scores "
        "may be, relative to it, and count as right.",
    )
    top_share: Positive = Field(lt=1, description="Share of the heads in which it must be right.")


def check(config: Mapping[str, Any], known: Known) -> None:
    """Where the chapter runs, budgets fit into a block."""
    largest, block = config["measure_patterns"]["sizes"][-1], config["tokenize_corpus"]["block"]
    if "contexts" in config["chapters"] and largest > block:
        remedy = "take smaller ones, or leave out chapter contexts"
        refuse("measure_patterns.sizes", f"{largest} exceeds tokenize_corpus.block {block}; {remedy}")


def cost(config: Mapping[str, Any], model: Model) -> dict[str, Cost]:
    """Of each layer: 4 D for every pair of a query and a key, whatever the budget; drawn ones repeat.

    Memory: a strip of 256 queries with scores of 16 heads, sorted; outputs at every budget.
    """
    section, layers, block = config["measure_patterns"], len(config["layers"]), config["tokenize_corpus"]["block"]
    sizes, further, replicates = (section[key] for key in ("sizes", "random_sizes", "replicates"))
    random = [name for name in section["patterns"] if "random" in name]
    passes = len(sizes) * (len(section["patterns"]) + (replicates - 1) * len(random))
    passes += len(further) * replicates * len([name for name in random if "window" not in name])
    flops = 4.0 * model.features * block**2 * section["blocks"] * passes
    budgets = [*sizes, *further]
    held = 256.0 * (16 * 48 * block + 24 * budgets[-1]) + 8.0 * (len(budgets) + 8) * block * model.features
    return {
        "measure_patterns": Cost(
            layers, layers * flops / PATTERN_FLOPS, bytes=START_BYTES + held + token_bytes(config), on_gpu=True
        )
    }


# Words of the variables, by store.
PATTERN: Words = {
    "pattern": "pattern that chooses the keys a query reads",
    "moment": "moment of the outputs: mean (Euclidean norm), cov (Frobenius)",
}
TOP: Words = {
    "delta": "share of a query's weight that the keys read may leave out",
    "left_out": "weight that the largest scores leave out, root mean square over queries",
    "keys_needed": "smallest share of the keys that holds all but delta of a query's weight, mean over queries asked",
    "keys_gaussian": "the same share if scores are normal, 1 - Phi(s + z_delta) with s their standard deviation",
    "score_spread": "standard deviation s of the scores of a query, mean over queries asked",
    "asked": "share of the queries that the law of normal scores is asked of: s >= 1 and 10 exp(s^2) <= length",
}
STORES: dict[str, Words] = {
    "patterns/layer_{layer}": LABELS
    | POINTWISE
    | PATTERN
    | TOP
    | {
        "error": "distance of sparse attention to dense attention of the same block, each replicate",
        "limit_scale": "scale of the error: sqrt(tr V Sigma V^T) over the block; of cov, norm of dense attention's",
        "length": "tokens of the block [tokens]",
        "published_window_error": "distance of the moments of the published window experiment, one window at the "
        "middle of the block and 50 random tokens as queries and keys, to those of dense attention, each replicate",
        "term": "term of the expected square of the error with independent keys; second_size: its parts without signs",
        "expected_square": "n E|error|^2 at a query = first + second / n + …, mean over queries, keys drawn "
        "independently",
    },
    "rates/patterns": LABELS
    | POINTWISE
    | PATTERN
    | TOP
    | LINE
    | {
        "value": "relative error, mean over blocks",
        "bend": "slope of log error over the upper half of the budgets less that over the lower, as rates",
        "eps": "wanted error, relative to its scale",
        "budget": "keys from which on the error is at most eps of its scale; infinite: not within the block [tokens]",
        "median_budget": "keys from which on the error is at most eps of its scale, median over heads [tokens]",
        "median_value": "relative error, median over heads",
        "beats_top": "share of blocks in which the error is smaller than that of the largest scores",
        "theory_value": "relative error of independent keys in theory, sqrt(first / n)",
        "theory_from": "budget from which on theory predicts a rate of 1/2 [tokens]",
        "late_beta": "rate from theory_from on",
        "means_apart": "error of the largest scores over what they leave out, relative: distance of the mean values "
        "of the keys kept and left out",
        "gaussian_ratio": "keys_gaussian over keys_needed",
        "published_window_value": "relative error of the moments of the published window experiment, mean over blocks",
        "published_window_beta": "rate of the error of the moments of the published window experiment",
    },
}

ABOUT = About(
    title="attention to some of the tokens",
    question="What is the error of a query that reads only n keys of its block, selected by a pattern?",
    chapter="contexts",
    place=2,
    uses=("corpus/blocks", "models/heads", "geometry/layer_{layer}"),
    figures={"patterns": "contexts: what sparse attention loses"},
    tables={"patterns": "budgets of sparse attention, a row for each layer and pattern"},
    sections={"measure_patterns": MeasurePatterns, "fit_patterns": FitPatterns},
    thresholds=Thresholds,
    cost=cost,
    check=check,
    stores=STORES,
)
