"""How fast does each attention head of a model converge to its limit as it reads more tokens?"""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from attnlimit.base.about import About, Cost, Known, Model, Words
from attnlimit.base.costs import ERROR_FLOPS, START_BYTES, sample_pairs
from attnlimit.base.parts import TOKENS_AT_ONCE
from attnlimit.base.section_types import Count, Replicates, Sampled, refuse
from attnlimit.base.words import ERRORS, FITS


class MeasureErrors(Sampled):
    """Attention on n tokens drawn from the population, and its distance to the limit."""

    replicates: Replicates = Field(description="Independent samples for each n; a multiple of `group`.")
    group: Count = Field(
        description="Replicates in a group, whose mean difference to the limit is stored for bias and fluctuation; "
        "whole groups are resampled."
    )
    groups_per_job: Count = Field(description="Groups that one job measures; does not affect results.")
    nested: bool = Field(
        description="All sizes from one draw; false: a draw for each size, as published, and about five times slower."
    )
    replacement: bool = Field(
        description="Draw with replacement. Only then is attention over the population the exact limit."
    )
    dtype: Literal["float32", "float64"] = Field(
        description="Of scores and outputs; moments are always summed in float64."
    )


def check(config: Mapping[str, Any], known: Known) -> None:
    """Without replacement a sample is at most the population."""
    section, population = config["measure_errors"], config["tokenize_corpus"]["population"]
    if not section["replacement"] and (largest := section["sizes"][-1]) > population:
        why = f"{largest} exceeds tokenize_corpus.population {population}; lower it, or draw with replacement"
        refuse("measure_errors.sizes", why)


def cost(config: Mapping[str, Any], model: Model) -> dict[str, Cost]:
    """Of each layer: the attention, and 2 n D^2 for the moments at each size."""
    section, features, layers = config["measure_errors"], model.features, len(config["layers"])
    sizes, replicates, group, groups = (section[key] for key in ("sizes", "replicates", "group", "groups_per_job"))
    flops = 4.0 * features * sample_pairs(section) + replicates * 2.0 * features**2 * sum(sizes)
    drawn = min(config["tokenize_corpus"]["population"], groups * group * sizes[-1])
    at_once = min(drawn, max(TOKENS_AT_ONCE, sizes[-1]))
    return {
        "measure_errors": Cost(
            layers * -(-replicates // (group * groups)),
            layers * flops / ERROR_FLOPS,
            bytes=START_BYTES + 4.0 * (drawn + 6 * at_once) * features + 12.0 * groups * len(sizes) * features**2,
            on_gpu=True,
            cut_by="measure_errors.replicates",
        ),
        "merge_errors": Cost(layers, bytes=START_BYTES + 20.0 * replicates / group * len(sizes) * features**2),
    }


# Words of the variables, by store.
STORES: dict[str, Words] = {"errors/layer_{layer}": ERRORS, "rates/heads": FITS}
PARTS: dict[str, Words] = {"errors/parts/layer_{layer}_part_{part}": ERRORS}

ABOUT = About(
    title="the rates of the model's heads",
    question="How fast does each attention head of a model converge to its limit as it reads more tokens?",
    chapter="heads",
    place=0,
    uses=("corpus/blocks", "models/heads", "geometry/layer_{layer}", "limits/layer_{layer}"),
    errors={"heads": "errors/layer_{layer}"},
    figures={
        "beta_vs_horizon": "heads: rate against horizon, per head",
        "token_complexity": "heads: tokens needed for 10, 5 and 1 %",
        "convergence": "heads: error against n, per layer",
        "heat_map": "heads: rate and horizon, layer by head",
        "local_slopes": "heads: slopes between sizes, per layer",
        "bias_fluctuation": "heads: bias and fluctuation, chosen heads",
    },
    sections={"measure_errors": MeasureErrors},
    cost=cost,
    check=check,
    stores=STORES,
    parts=PARTS,
)
