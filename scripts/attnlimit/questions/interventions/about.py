"""What happens to a head when only its horizon, or only its constant tilt, is changed?"""

from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from attnlimit.base.about import About, Cost, Model, Section, Words
from attnlimit.base.costs import ERROR_FLOPS, LIMIT_FLOPS, START_BYTES, pair_flops, sample_pairs, token_bytes
from attnlimit.base.section_types import DISTINCT, Count, Positive, Sampled, refuse
from attnlimit.base.words import ERRORS, FITS

Stronger = Annotated[list[Annotated[float, Field(gt=1, le=100)]], Field(min_length=1, max_length=10), DISTINCT]
Factors = Annotated[list[Annotated[float, Field(ge=0, le=100)]], Field(min_length=1, max_length=10), DISTINCT]


class MeasureInterventions(Sampled):
    """All heads of all layers with one thing changed: t(x) = α A (x − m) + τ t₀, t₀ = A m + b, m the mean token."""

    horizon_factors: Stronger = Field(
        description="α: H becomes α H, and the constant tilt stays; the claim is on the largest."
    )
    tilt_factors: Factors = Field(
        description="τ, not 1: the constant tilt s₀ becomes τ s₀, and H stays; 0, which the claim is on, centres the "
        "queries."
    )
    population: Count = Field(
        description="Tokens: the first whole blocks that reach this number, or all. Every variant of a layer has a "
        "limit of its own over them, which costs the square."
    )

    @model_validator(mode="after")
    def centred_and_not_as_it_is(self) -> Self:
        if 1 in self.tilt_factors:
            refuse("tilt_factors", "1 changes nothing, and heads as they are are measured anyhow; leave it out")
        if 0 not in self.tilt_factors:
            refuse("tilt_factors", "no 0: a claim is on centred queries; add it")
        return self


class Thresholds(Section):
    """Of the claims about changed heads."""

    rate_change: Positive = Field(
        lt=1, description="Mean change of β over heads; if the whole interval is smaller, it counts as none."
    )
    error_change: Positive = Field(
        lt=1,
        description="Mean change of ln error over heads, error at the largest n relative to its scale; if the whole "
        "interval is smaller, it counts as none.",
    )
    same_direction: float = Field(
        gt=0.5,
        le=1,
        description="Share of the significantly changed heads that must change as the claim says; with fewer, a mean "
        "change decides nothing.",
    )


def cost(config: Mapping[str, Any], model: Model) -> dict[str, Cost]:
    """Of each layer and variant: a limit over the population and the samples, all heads together.

    Memory: the tokens, their queries, keys and values twice, and group means of covariances of one variant.
    """
    section, features, layers = config["measure_interventions"], model.features, len(config["layers"])
    population = float(min(section["population"], config["tokenize_corpus"]["population"]))
    sizes, groups = section["sizes"], section["replicates"] / section["group"]
    variants = 1 + len(section["horizon_factors"]) + len(section["tilt_factors"])
    samples = sample_pairs(section) * pair_flops(features) + 2.0 * section["replicates"] * features**2 * sum(sizes)
    seconds = variants * (population**2 * pair_flops(features) / LIMIT_FLOPS + samples / ERROR_FLOPS)
    held = 12 * 4.0 * population * features + 16.0 * groups * len(sizes) * features**2
    return {
        "measure_interventions": Cost(
            layers, layers * seconds, bytes=START_BYTES + held + token_bytes(config), on_gpu=True
        ),
        "fit_interventions": Cost(job_seconds=20.0),
    }


# Words of the variables, by store.
VARIANTS: Words = {
    "variant": "what is changed in a head: its horizon H, or its constant tilt",
    "alpha": "factor on H",
    "tilt_factor": "factor on the constant tilt s0",
}
CHANGES: Words = {
    "beta_change": "change of beta against the same head as it is, on the same samples",
    "error_change": "change of ln error at the largest n, relative to its scale, against the same head as it is",
    "beta_change_p": "two-sided probability of such a change of beta by chance, from replicates",
    "error_change_p": "two-sided probability of such a change of ln error by chance, from replicates",
    "slope_known": "whether the head is saturated neither as it is nor changed, so that its change of beta counts",
    "mean_beta_change": "mean change of beta over the heads whose slopes are known; interval for these heads",
    "mean_error_change": "mean change of ln error over all heads; interval for these heads",
    "mean_beta_change_layers": "mean change of beta over heads; interval for layers like these",
    "mean_error_change_layers": "mean change of ln error over heads; interval for layers like these",
}
STORES: dict[str, Words] = {
    "interventions/layer_{layer}": ERRORS | VARIANTS,
    "rates/interventions": FITS | VARIANTS | CHANGES,
}

ABOUT = About(
    title="all heads with their horizon or their constant tilt changed",
    question="What happens to a head when only its horizon, or only its constant tilt, is changed?",
    chapter="interventions",
    uses=("corpus/blocks", "models/heads"),
    figures={
        "interventions": "interventions: what a larger horizon does to each head",
        "interventions_tilt": "interventions: what the horizon does not see",
    },
    sections={"measure_interventions": MeasureInterventions},
    thresholds=Thresholds,
    cost=cost,
    stores=STORES,
)
