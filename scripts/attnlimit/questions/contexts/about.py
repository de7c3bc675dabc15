"""How many independent tokens is a run of neighbouring ones worth?"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Field, Tag, model_validator

from attnlimit.base.about import About, Cost, Known, Model, Words
from attnlimit.base.costs import ERROR_FLOPS, START_BYTES
from attnlimit.base.parts import FEWEST_POINTS, chosen_layers
from attnlimit.base.section_types import (
    BY_KIND,
    DISTINCT,
    Count,
    Grouped,
    InDtype,
    Number,
    Replicates,
    Sizes,
    refuse,
    require_studied,
)
from attnlimit.base.words import ERRORS, FITS

Length = Annotated[Annotated[Count, Tag("int")] | Annotated[Literal["document"], Tag("str")], BY_KIND]
Listed = Annotated[list[Number], Field(min_length=1), DISTINCT, Tag("list")]


class MeasureContexts(Grouped, InDtype):
    """Samples made of runs of consecutive tokens at random places: how many independent tokens are neighbours worth?"""

    runs: Annotated[list[Length], Field(min_length=2, max_length=20), DISTINCT] = Field(
        description="g: how many consecutive tokens make a run, at most a block; 1, independent tokens, is what the "
        "others are compared with. `document`: all runs of a sample come from one article."
    )
    document_run: Count = Field(description="Tokens of a run of `document`.")
    layers: Annotated[Annotated[Count, Tag("int")] | Listed, BY_KIND] = Field(
        description="How many layers, spread evenly from the first of `layers` to the last, all if there are fewer; or "
        "a list of some of them."
    )
    sizes: Sizes = Field(
        description="The sample sizes n, increasing. A run is measured at the sizes from g on: three at least, each a "
        "multiple of g."
    )
    replicates: Replicates = Field(description="Independent samples for each run; a multiple of `group`.")

    @model_validator(mode="after")
    def one_run_of_single_tokens(self) -> Self:
        if 1 not in self.runs:
            refuse("runs", "no 1: runs are compared with independent tokens; add it")
        return self


def lengths_of(section: Mapping[str, Any]) -> list[tuple[str, int]]:
    """Of each run: the key that says how long it is, and how many tokens."""
    return [
        ("runs", run) if isinstance(run, int) else ("document_run", section["document_run"]) for run in section["runs"]
    ]


def check(config: Mapping[str, Any], known: Known) -> None:
    """Where the chapter runs: runs fit into a block, and into sizes enough for a rate; layers are studied."""
    section, block, layers = config["measure_contexts"], config["tokenize_corpus"]["block"], config["layers"]
    if "contexts" not in config["chapters"]:
        return
    for key, length in lengths_of(section):
        if length > block:
            why = f"{length} tokens are more than tokenize_corpus.block {block}; lower it or leave out chapter contexts"
            refuse(f"measure_contexts.{key}", why)
        served = [size for size in section["sizes"] if size >= length]
        if len(served) < FEWEST_POINTS:
            refuse("measure_contexts.sizes", f"fewer than {FEWEST_POINTS} from {key} {length} on; add larger ones")
        for size in served:
            if size % length:
                refuse("measure_contexts.sizes", f"{size} is not made of whole runs of {length}; take a multiple")
    require_studied("measure_contexts.layers", chosen_layers(section["layers"], layers), layers)


def cost(config: Mapping[str, Any], model: Model) -> dict[str, Cost]:
    """Of each layer and run: as many as for plain samples of these sizes, which are nested."""
    section, features = config["measure_contexts"], model.features
    sizes, replicates, group = (section[key] for key in ("sizes", "replicates", "group"))
    layers = len(chosen_layers(section["layers"], config["layers"]))
    one = 4.0 * features * sizes[-1] ** 2 + 2.0 * features**2 * sum(sizes)
    drawn = min(config["tokenize_corpus"]["population"], replicates * sizes[-1])
    return {
        "measure_contexts": Cost(
            layers,
            layers * len(section["runs"]) * replicates * one / ERROR_FLOPS,
            bytes=START_BYTES + 5 * 4.0 * drawn * features + 12.0 * replicates / group * len(sizes) * features**2,
            on_gpu=True,
        ),
        "merge_parts": Cost(),
        "fit_contexts": Cost(job_seconds=5.0),
    }


# Words of the variables, by store.
RUNS: Words = {
    "run": "how the tokens of a sample neighbour each other: length of a run of consecutive ones, or document",
    "run_length": "consecutive tokens of a run [tokens]",
    "repeated_share": "share of the tokens in blocks shorter than the run, which it repeats",
}
STORES: dict[str, Words] = {
    "contexts/errors": ERRORS | RUNS,
    "rates/contexts": FITS
    | RUNS
    | {
        "share": "effective share of a token among neighbours: mean squared error of independent tokens over theirs",
        "share_slope": "power of n that the effective share goes with",
        "size_share": "effective share of a token at each n",
        "median_share": "effective share of a token, median over the heads of the layer",
        "overall_share": "effective share of a token, median over the heads of all layers measured",
    },
}
PARTS: dict[str, Words] = {"contexts/parts/layer_{layer}": ERRORS | RUNS}

ABOUT = About(
    title="tokens that are neighbours",
    question="How many independent tokens is a run of neighbouring ones worth?",
    chapter="contexts",
    place=0,
    uses=("corpus/blocks", "models/heads", "geometry/layer_{layer}"),
    figures={"contexts": "contexts: what a token among neighbours is worth"},
    sections={"measure_contexts": MeasureContexts},
    cost=cost,
    check=check,
    stores=STORES,
    parts=PARTS,
)
