"""Does the rate of a head fall when its attention is made sharper?"""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field, Tag

from attnlimit.base.about import About, Cost, Known, Model, Words
from attnlimit.base.costs import LIMIT_FLOPS, pair_flops, sample_pairs
from attnlimit.base.section_types import BY_KIND, DISTINCT, Count, Head, Positives, Sampled, require_heads
from attnlimit.base.words import ERRORS, FITS

Some = Annotated[int, Field(ge=1, le=10), Tag("int")]
Listed = Annotated[list[Head], Field(min_length=1, max_length=10), DISTINCT, Tag("list")]
Factors = Annotated[list[Annotated[float, Field(ge=0, le=100)]], Field(max_length=20), DISTINCT]


class MeasureAblation(Sampled):
    """Chosen heads with their tilt A x + b changed: A scaled, or the constant part scaled."""

    heads: Annotated[Some | Listed, BY_KIND] = Field(
        description="How many heads, spread evenly over log H; or a list of [layer, head]."
    )
    scales: Positives = Field(description="α: A becomes α A, and H becomes α H; the constant part b of the tilt stays.")
    tilt_factors: Factors = Field(
        description="τ: the constant tilt A m + b, with m the mean token, becomes τ times as long and A stays; 0 "
        "centres the queries."
    )
    population: Count = Field(
        description="Tokens: the first whole blocks that reach this number, or all. Every setting has a limit of its "
        "own over them, which costs the square."
    )


def check(config: Mapping[str, Any], known: Known) -> None:
    require_heads("measure_ablation.heads", config["measure_ablation"]["heads"], known)


def cost(config: Mapping[str, Any], model: Model) -> dict[str, Cost]:
    """A limit over its population and the samples, for each head and scale; a head has its share of the features."""
    section = config["measure_ablation"]
    heads = section["heads"] if isinstance(section["heads"], int) else len(section["heads"])
    pairs = float(section["population"]) ** 2 + sample_pairs(section)
    flops = heads * len(section["scales"]) * pairs * pair_flops(model.features // model.heads)
    return {"measure_ablation": Cost(job_seconds=flops / LIMIT_FLOPS, on_gpu=True)}


# Words of the variables, by store.
CHANGED: Words = {
    "alpha": "factor on A",
    "tilt_factor": "factor on the constant tilt A m + b",
    "of_layer": "layer of the head that was changed",
    "of_head": "head that was changed",
}
STORES: dict[str, Words] = {"ablation/errors": ERRORS | CHANGED, "rates/ablation": FITS | CHANGED}

ABOUT = About(
    title="chosen heads with their attention scaled",
    question="Does the rate of a head fall when its attention is made sharper?",
    chapter="ablation",
    uses=("corpus/blocks", "models/heads", "geometry/layer_{layer}"),
    errors={"ablation": "ablation/errors"},
    figures={
        "ablation": "heads: rate of chosen ones, A scaled",
        "constant_tilt": "ablation: what the horizon does not see",
    },
    sections={"measure_ablation": MeasureAblation},
    cost=cost,
    check=check,
    stores=STORES,
)
