"""Are the tokens of a model sub-Gaussian, as the paper assumes?"""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from attnlimit.base.about import About, Cost, Model, Section, Words
from attnlimit.base.costs import START_BYTES, token_bytes
from attnlimit.base.section_types import DISTINCT, Count, Positive
from attnlimit.base.words import LABELS

TAILS_FLOPS = 30e9  # a second, reading included: measure_tails of a million tokens


class MeasureTails(Section):
    """Are the tokens sub-Gaussian, as the paper assumes?"""

    directions: Count = Field(description="Leading directions to look at, of the tokens' covariance and of each head.")
    scales: Annotated[list[Annotated[float, Field(ge=0.01, le=100)]], Field(min_length=1), DISTINCT] = Field(
        description="s in E exp(s u), with u the token along a direction in standard deviations; both signs are used. "
        "A head uses s up to a few times H."
    )
    effective: Positive = Field(
        description="Tokens that must carry such a mean, otherwise its value is drawn as unknown: at 50 its relative "
        "error is about 1/√50."
    )


def cost(config: Mapping[str, Any], model: Model) -> dict[str, Cost]:
    """As the geometry, and projections, which are fewer than features."""
    held = START_BYTES + 48.0 * config["compute_limits"]["block"] * model.features + token_bytes(config)
    flops = 2.0 * config["tokenize_corpus"]["population"] * model.features**2
    return {"measure_tails": Cost(len(config["layers"]), job_seconds=flops / TAILS_FLOPS, bytes=held)}


# Words of the variables, by store.
STORES: dict[str, Words] = {
    "tails/layer_{layer}": LABELS
    | {
        "direction": "leading direction, by falling variance",
        "scale": "scale s of the exponent",
        "eigenvalues": "eigenvalues of the tokens' covariance, falling",
        "participation_ratio": "effective rank of the tokens' covariance, (tr S)^2 / tr S^2",
        "variance": "variance of the tokens along the direction; of a head's first direction, H^2",
        "kurtosis": "excess kurtosis of the tokens along the direction",
        "log_mgf_ratio": "log E exp(s u) over s^2 / 2, which is 1 for a Gaussian",
        "effective_tokens": "tokens that carry the mean of exp(s u) [tokens]",
        "sub_gaussian": "largest log_mgf_ratio that enough tokens carry: variance proxy in units of the covariance",
    },
}

ABOUT = About(
    title="how heavy the tails of the tokens are",
    question="Are the tokens of a model sub-Gaussian, as the paper assumes?",
    chapter="tails",
    uses=("corpus/blocks", "models/heads", "geometry/layer_{layer}"),
    figures={"tails": "tokens: spectrum and tails, per layer and head"},
    sections={"measure_tails": MeasureTails},
    cost=cost,
    stores=STORES,
)
