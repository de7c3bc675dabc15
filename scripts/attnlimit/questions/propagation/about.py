"""How does the error of a layer propagate through later layers?"""

from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from attnlimit.base.about import About, Cost, Known, Model, Section, Words
from attnlimit.base.costs import DRAWN_FLOPS, START_BYTES, token_bytes
from attnlimit.base.parts import REPLICATES_AT_ONCE
from attnlimit.base.section_types import INCREASING, Count, InParts, Positive, Sizes, refuse
from attnlimit.base.words import LABELS, LINE, POINTWISE


class MeasurePropagation(InParts):
    """The whole model on real blocks, its queries attending to n drawn keys: in all layers at once, or in one alone."""

    blocks: int = Field(
        ge=2,
        le=100_000,
        description="Blocks of text, at most; one of each article is taken before a second one of any. The intervals "
        "are over blocks.",
    )
    shortest: Positive = Field(le=1, description="Share of `tokenize_corpus.block` that a block must have to be taken.")
    sizes: Sizes = Field(
        description="The numbers of keys n, increasing, drawn in all layers at once. They may exceed the block."
    )
    single_sizes: Annotated[list[Count], Field(min_length=1), INCREASING] = Field(
        description="Those of `sizes` at which each layer is also drawn alone, the others dense: what the gains and "
        "the test of quadrature are from."
    )
    replicates: Count = Field(description="Independent draws for each block and size.")
    replacement: bool = Field(
        description="Draw the keys with replacement, so that the dense model is the exact limit. `false` takes a "
        "subset of them, as published: every size must then be below the shortest block."
    )

    @model_validator(mode="after")
    def alone_where_all_are_drawn(self) -> Self:
        for size in self.single_sizes:
            if size not in self.sizes:
                refuse("single_sizes", f"{size} is not among sizes")
        return self


class Thresholds(Section):
    """Of the claims about errors after several layers."""

    quadrature_tolerance: Positive = Field(
        lt=1,
        description="How far from 1 the root of the sum of squared errors of single layers, over the error with all "
        "layers drawn, may be: errors of different layers then add in quadrature.",
    )
    depth_tolerance: Positive = Field(
        lt=0.5,
        description="How far from 1/2 the rate after a layer may be, with all layers drawn and over the upper two "
        "thirds of n, and how much it may change from the first layer to the last: it is then 1/2 at every depth.",
    )


def check(config: Mapping[str, Any], known: Known) -> None:
    """A subset of the keys is not all of them."""
    section = config["measure_propagation"]
    shortest, largest = round(section["shortest"] * config["tokenize_corpus"]["block"]), section["sizes"][-1]
    if not section["replacement"] and largest >= shortest:
        why = (
            f"{largest} without replacement, but a block may have {shortest} tokens (shortest * tokenize_corpus.block)"
        )
        refuse("measure_propagation.sizes", why)


def cost(config: Mapping[str, Any], model: Model) -> dict[str, Cost]:
    """All layers at each size, and at some each layer with all after it, 26 D^2 + 4 block D a token with its moments.

    Memory, of the replicates of a block in one layer: 16 D numbers a token with its feed-forward, 2 D^2 with moments;
    scores of all heads, a share of D of them about 1/32, where attention is not fused; and the dense states.
    """
    (layers, features, _), block = model, config["tokenize_corpus"]["block"]
    section = config["measure_propagation"]
    passes = len(section["sizes"]) * layers + len(section["single_sizes"]) * layers * (layers + 1) / 2
    flops = section["blocks"] * section["replicates"] * passes * block * (26 * features**2 + 4 * block * features)
    together = min(section["replicates"], REPLICATES_AT_ONCE)
    one = block * (16 * features + 2 * block * features / 32) + 4 * features**2
    held = 4.0 * (together * one + 3 * layers * (block * features + features**2))
    return {
        "measure_propagation": Cost(
            section["parts"],
            flops / DRAWN_FLOPS,
            bytes=START_BYTES + 12 * layers * features**2 * 4 + held + token_bytes(config),
            cut_by="measure_propagation.parts",
        ),
        "merge_parts": Cost(),
    }


# Words of the variables, by store.
DRAWN: Words = {
    "drawn_layer": "layer whose keys were drawn, all others dense",
    "single_n": "sample size at which layers were drawn alone [tokens]",
}
STATES: Words = (
    LABELS
    | POINTWISE
    | DRAWN
    | {
        "error": "distance of the states after the layer to the dense ones, keys drawn in all layers, each replicate",
        "single_error": "error after the layer with the keys of one layer drawn, each replicate",
        "limit_scale": "scale of the error: spread of the dense states; of cov, norm of their covariance",
    }
)
STORES: dict[str, Words] = {
    "propagation/errors": STATES,
    "rates/propagation": LABELS
    | POINTWISE
    | DRAWN
    | LINE
    | {
        "rms": "root mean square of the error over blocks and replicates, relative to limit_scale",
        "single_rms": "root mean square of the error, relative to limit_scale, with the keys of one layer drawn",
        "gain": "error after the layer over the error after the drawn layer, root mean squares",
        "quadrature": "root of the sum of squared errors of single layers, over the error with all layers drawn",
        "quadrature_in_step": "what quadrature would be if all errors pointed the same way",
        "late_rate": "rate over the upper two thirds of the sizes, keys drawn in all layers",
        "late_saturated": "whether the error at the smallest size of late_rate is still about as large as its scale",
        "depth_change": "change of late_rate from the first layer to the last, of a line over the layers",
    },
}
PARTS: dict[str, Words] = {"propagation/parts/part_{part}": STATES}

ABOUT = About(
    title="what becomes of an error in later layers",
    question="How does the error of a layer propagate through later layers?",
    chapter="whole_model",
    place=0,
    uses=("corpus/blocks", "models/heads"),
    figures={
        "propagation": "the whole model: errors after every layer",
        "propagation_gain": "the whole model: how an error passes on, and rates",
    },
    sections={"measure_propagation": MeasurePropagation},
    thresholds=Thresholds,
    cost=cost,
    check=check,
    stores=STORES,
    parts=PARTS,
)
