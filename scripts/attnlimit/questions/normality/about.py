"""Is the error at one query normal, with a variance that the tokens themselves tell?"""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from attnlimit.base.about import About, Cost, Model, Section, Words
from attnlimit.base.section_types import DISTINCT, Positive, Replicates, Sizes
from attnlimit.base.words import LABELS

NORMALITY_SPEED = 3.4e7  # pairs of a token and a tilt a second: simulate_normality of the default run


class SimulateNormality(Section):
    """Attention at one query: is its error normal?"""

    sizes: Sizes = Field(description="The sample sizes n, increasing.")
    tilts: Annotated[list[Annotated[float, Field(ge=0, le=10)]], Field(min_length=3), DISTINCT] = Field(
        description="Lengths |t| of the tilt, in standard deviations of the tokens."
    )
    replicates: Replicates = Field(description="Samples for each n.")


class Thresholds(Section):
    """Of the claims about normality."""

    carriers: Positive = Field(description="Tokens that must carry the variance before normality is tested.")
    coverage_tolerance: Positive = Field(lt=0.5, description="Allowed difference of the coverage from 95 %.")
    distance_tolerance: Positive = Field(
        lt=0.5, description="Allowed difference of a distribution function from the normal one."
    )


def cost(config: Mapping[str, Any], model: Model) -> dict[str, Cost]:
    section = config["simulate_normality"]
    pairs = section["replicates"] * len(section["tilts"]) * sum(section["sizes"])
    return {"simulate_normality": Cost(job_seconds=pairs / NORMALITY_SPEED)}


# Words of the variables, by store.
QUERIES: Words = {
    "coordinate": "coordinate of the output, along the tilt or across it",
    "tilt": "length of the tilt, in standard deviations of the tokens",
}
STORES: dict[str, Words] = {
    "synthetic/normality": LABELS
    | QUERIES
    | {
        "deviation": "sqrt(n) times the error at the query",
        "plug_in": "estimate of the deviation's covariance from the tokens themselves",
        "effective": "effective sample size 1 / sum of squared weights, at the query [tokens]",
        "mass": "mean of exp<t, X> over its expectation",
    },
    "rates/normality": LABELS
    | QUERIES
    | {
        "clt_covariance": "limit of n times the covariance of the error",
        "clt_bias": "limit of n times the bias",
        "covariance": "covariance of the deviation over replicates",
        "variance_ratio": "variance over replicates, over its limit",
        "plug_in_ratio": "mean of the plug-in variance, over its limit",
        "n_bias": "n times the bias",
        "coverage": "share of replicates whose 95 % interval holds the limit",
        "effective_mean": "mean effective sample size [tokens]",
        "carriers": "tokens that carry the variance, effective^2 / n [tokens]",
        "probability": "number of the quantile",
        "error_quantile": "quantile of the deviation, over its limiting standard deviation",
        "normal_quantile": "quantile of the normal law",
        "distance": "largest difference of the deviation's distribution function from the normal's",
    },
}

ABOUT = About(
    title="normality at one query",
    question="Is the error at one query normal, with a variance that the tokens themselves tell?",
    chapter="theory",
    place=4,
    figures={"normality": "Gaussian: normality at one query"},
    sections={"simulate_normality": SimulateNormality},
    thresholds=Thresholds,
    cost=cost,
    stores=STORES,
)
