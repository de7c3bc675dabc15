"""What does convergence to the limit look like?"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Field, Tag, model_validator

from attnlimit.base.about import About, Cost, Known, Words
from attnlimit.base.section_types import (
    BY_KIND,
    DISTINCT,
    INCREASING,
    Count,
    Head,
    InDtype,
    refuse,
    require_heads,
    require_studied,
)
from attnlimit.base.words import COUPLINGS

Listed = Annotated[list[Head], Field(min_length=1, max_length=4), DISTINCT, Tag("list")]


class MeasureClouds(InDtype):
    """Outputs of a weak and a strong head at a few n and in the limit, for a picture of convergence."""

    heads: Annotated[Annotated[Literal["extremes"], Tag("str")] | Listed, BY_KIND] = Field(
        description="`extremes`: the heads with the smallest and the largest H; or a list of [layer, head]."
    )
    sizes: Annotated[list[Count], Field(min_length=1, max_length=4), INCREASING] = Field(
        description="The sample sizes n, increasing: as many tokens as the largest are drawn, and cut into samples of "
        "each size, which must divide it."
    )
    mapped: int = Field(
        ge=10, le=5000, description="Tokens of the t-SNE map, for each n and the limit; at most the largest size."
    )
    perplexity: float = Field(
        ge=1, le=1000, description="Of t-SNE: about how many neighbours count as near; below `mapped`."
    )

    @model_validator(mode="after")
    def a_map_that_samples_fill(self) -> Self:
        drawn = self.sizes[-1]
        for size in self.sizes:
            if drawn % size:
                refuse("sizes", f"{size} does not divide the largest, {drawn}; take one that does")
        if self.mapped > drawn:
            refuse("mapped", f"{self.mapped} exceeds the largest of sizes, {drawn}")
        if self.perplexity >= self.mapped:
            refuse("perplexity", f"{self.perplexity:g} is not below mapped {self.mapped}")
        return self


def check(config: Mapping[str, Any], known: Known) -> None:
    """Heads of the model, in layers that are studied where the chapter runs."""
    key, heads = "measure_clouds.heads", config["measure_clouds"]["heads"]
    require_heads(key, heads, known)
    if "contexts" in config["chapters"] and isinstance(heads, list):
        require_studied(key, [layer for layer, _ in heads], config["layers"])


# Words of the variables, by store.
STORES: dict[str, Words] = {
    "clouds/outputs": COUPLINGS
    | {
        "cloud": "tokens that a query attends to: n of a sample, or all, the limit",
        "of_layer": "layer of the head",
        "of_head": "head whose outputs they are",
        "plane": "outputs along the two leading directions of those in the limit, their mean at 0",
        "tsne": "outputs in a t-SNE map that all clouds of a head share",
    },
}

ABOUT = About(
    title="clouds of outputs",
    question="What does convergence to the limit look like?",
    chapter="contexts",
    place=1,
    uses=("corpus/blocks", "models/heads", "geometry/layer_{layer}"),
    figures={"clouds": "contexts: what convergence looks like"},
    sections={"measure_clouds": MeasureClouds},
    cost=lambda config, model: {"measure_clouds": Cost(job_seconds=12.0, on_gpu=True)},
    check=check,
    stores=STORES,
)
