"""Is the error at one query normal, with a variance that can be estimated from the tokens?"""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from attnlimit.base.about import About, Cost, Model, Section, Words
from attnlimit.base.section_types import DISTINCT, AtSizes, Positive
from attnlimit.base.words import LABELS

NORMALITY_SPEED = 1e7  # bins of a sample a second: simulate_normality of the default run
FURTHEST = 7.0  # standard deviations that the bins reach on each side, roughly


class SimulateNormality(AtSizes):
    """Attention at one query: is its error normal?"""

    tilts: Annotated[list[Annotated[float, Field(ge=0, le=10)]], Field(min_length=3), DISTINCT] = Field(
        description="Lengths |t| of the tilt, in standard deviations of the tokens."
    )
    bin_width: float = Field(
        gt=0,
        le=0.2,
        description="Of the bins that tokens are counted in, in standard deviations: the variance at tilt t loses "
        "about (t × width)²/12.",
    )


class Thresholds(Section):
    """Of the claims about normality."""

    carriers: Positive = Field(description="Tokens that must carry the variance before normality is tested.")
    coverage_tolerance: Positive = Field(lt=0.5, description="Allowed difference of the coverage from 95 %.")
    distance_tolerance: Positive = Field(
        lt=0.5, description="Allowed difference of a distribution function from the normal one."
    )


def cost(config: Mapping[str, Any], model: Model) -> dict[str, Cost]:
    section = config["simulate_normality"]
    bins = section["replicates"] * len(section["sizes"]) * 2 * FURTHEST / section["bin_width"]
    return {"simulate_normality": Cost(job_seconds=bins / NORMALITY_SPEED)}


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
        "plug_in": "estimate of the deviation's variance from the tokens themselves",
        "effective": "effective sample size 1 / sum of squared weights, at the query [tokens]",
        "mass": "mean of exp<t, X> over its expectation",
    },
    "rates/normality": LABELS
    | QUERIES
    | {
        "clt_variance": "limit of n times the variance of the error",
        "clt_bias": "limit of n times the bias",
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
        "shortfall": "95 % less the coverage along the tilt at 1,000 carriers, fitted",
        "shortfall_power": "power of 1/carriers with which coverage falls short, fitted",
    },
}

ABOUT = About(
    title="normality at one query",
    question="Is the error at one query normal, with a variance that can be estimated from the tokens?",
    chapter="theory",
    place=4,
    figures={"normality": "Gaussian: normality at one query"},
    sections={"simulate_normality": SimulateNormality},
    thresholds=Thresholds,
    cost=cost,
    stores=STORES,
)
