"""Is the rate only logarithmic when a query reads only the key with the largest score?"""

from typing import Annotated

from pydantic import Field

from attnlimit.base.about import About, Cost, Section, Words
from attnlimit.base.section_types import DISTINCT, INCREASING, Count, Integer, Positive
from attnlimit.base.words import LABELS

Draws = Annotated[Integer, Field(ge=2)]


class SimulateHardmax(Section):
    """Normal tokens under hardmax attention (each query attends to the one token of the largest score), A = I."""

    sigma: Positive = Field(description="Standard deviation of the tokens.")
    sizes: Annotated[list[Annotated[int, Field(ge=3, le=10**12)]], Field(min_length=3), INCREASING] = Field(
        description="The sample sizes n in one and two dimensions, increasing."
    )
    line_replicates: Draws = Field(description="Samples for each n in one dimension.")
    plane_replicates: Draws = Field(
        description="Samples for each n in two dimensions; about a second for 1000 at one n."
    )
    dimensions: Annotated[list[Count], Field(min_length=1), DISTINCT] = Field(
        description="Dimensions in which all tokens are drawn, so that n must be moderate."
    )
    direct_sizes: Annotated[list[Annotated[Integer, Field(ge=3)]], Field(min_length=3), INCREASING] = Field(
        description="The sample sizes n in these dimensions."
    )
    direct_replicates: Draws = Field(description="Samples for each n in these dimensions.")


class FitHardmax(Section):
    """The exact expectation in one dimension, as a function of ln n."""

    log10_largest: float = Field(
        ge=100, le=1e8, description="log₁₀ of the largest n: the expectation is exact however large n is."
    )


class Thresholds(Section):
    """Of the claim about the hardmax regime."""

    hardmax_tolerance: Positive = Field(
        lt=1, description="Allowed relative difference of exact from Proposition 5.1, and of simulated from exact."
    )
    power_tolerance: Positive = Field(lt=0.5, description="How far from 1/2 the power of 1/ln n may be.")


# Words of the variables, by store.
DRAWN: Words = {
    "dimension": "dimension of the tokens",
    "n_direct": "sample size where all tokens are drawn [tokens]",
    "line": "hardmax on a line",
    "plane": "hardmax in a plane",
    "direct": "hardmax, all tokens drawn",
}
STORES: dict[str, Words] = {
    "synthetic/hardmax": LABELS | DRAWN,
    "rates/hardmax": LABELS
    | DRAWN
    | {
        "decades": "log10 of n, exact expectation",
        "exact": "exact expectation on a line",
        "exact_value": "exact E|mean_n|, d = 1",
        "exact_ratio": "exact over proposed",
        "expected": "exact E|mean_n|, d = 1, at the n drawn",
        "proposition": "leading term of Proposition 5.1",
        "ratio": "exact over proposed, at the n drawn",
        "line_ratio": "drawn over exact, d = 1",
    },
}

ABOUT = About(
    title="hardmax",
    question="Is the rate only logarithmic when a query reads only the key with the largest score?",
    chapter="theory",
    place=2,
    figures={"hardmax": "Gaussian: hardmax, error against n, by dimension"},
    sections={"simulate_hardmax": SimulateHardmax, "fit_hardmax": FitHardmax},
    thresholds=Thresholds,
    cost=lambda config, model: {"simulate_hardmax": Cost(job_seconds=12.0)},
    stores=STORES,
)
