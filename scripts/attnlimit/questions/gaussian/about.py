"""How does the rate depend on the horizon for Gaussian tokens, whose limit is known exactly?"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from attnlimit.base.about import About, Cost, Model, Section, Words
from attnlimit.base.costs import cost_by_setting
from attnlimit.base.section_types import (
    DISTINCT,
    INCREASING,
    BySetting,
    Count,
    Grouped,
    Positive,
    Positives,
)
from attnlimit.base.words import ERRORS, FITS


class SimulateGaussian(BySetting):
    """Gaussian tokens, errors against the closed-form limit."""

    dimensions: Annotated[list[Count], Field(min_length=1, max_length=7), DISTINCT] = Field(
        description="Dimensions d of the tokens."
    )
    condition: float = Field(
        gt=1,
        description="In the anisotropic case variances go from 1 down to 1 over this number; the isotropic covariance "
        "is the identity.",
    )
    scales: Positives = Field(description="α in A = α Q; Q is scaled so that α is the horizon H.")
    tilted_dimension: Count = Field(description="Dimension of the settings with a constant tilt, which are isotropic.")
    tilted_horizons: Positives = Field(description="Horizons H of the settings with a constant tilt.")
    constant_tilts: Positives = Field(
        description="s₀, the length of the constant tilt b; the other settings have none."
    )

    @staticmethod
    def dimensions_of(section: Mapping[str, Any]) -> list[int]:
        laws = [d for d in section["dimensions"] for _ in range(1 if d == 1 else 2)]  # isotropic, and not
        tilted = len(section["tilted_horizons"]) * len(section["constant_tilts"])
        return [d for d in laws for _ in section["scales"]] + tilted * [section["tilted_dimension"]]


class SimulateGaussianPublished(BySetting):
    """The Gaussian experiment of the paper; the default is small, configs/paper.yaml has the published sizes."""

    dimension: Count = Field(description="Dimension d of the tokens.")
    variance: Positive = Field(description="Of every coordinate.")
    scales: Positives = Field(
        description="α, the factor on A: twelve as published, and nine even in the paper's curve from .49 to .10."
    )
    nested: bool = Field(description="As in `measure_errors`; false is the published protocol.")
    references: Annotated[list[Literal["exact", "finite"]], Field(min_length=1), DISTINCT] = Field(
        description="What errors are measured against: `exact`, the closed form; `finite`, one large sample in its "
        "place, as published."
    )
    reference_tokens: Count = Field(
        description="Tokens of the finite reference; as published, 10/3 of the largest size."
    )

    @staticmethod
    def dimensions_of(section: Mapping[str, Any]) -> list[int]:
        return len(section["scales"]) * [section["dimension"]]


class SimulateGaussianAsymptotic(Grouped):
    """Gaussian tokens in one dimension at very large n, from counts in bins."""

    horizons: Annotated[list[Annotated[float, Field(gt=0, le=10)]], Field(min_length=1), DISTINCT] = Field(
        description="Horizons H."
    )
    sizes: Annotated[list[Annotated[int, Field(ge=1000, le=10**12)]], Field(min_length=3), INCREASING] = Field(
        description="The sample sizes n, increasing."
    )
    bin_width: Positive = Field(
        le=0.5,
        description="Of the wider bins. Results are from bins half as wide, and the difference is stored beside them.",
    )


class Thresholds(Section):
    """Of the claims about Gaussian tokens."""

    asymptotic_n: Count = Field(
        description="Smallest n of a fit that is used for statements about n → ∞, in one dimension."
    )
    reference_tolerance: float = Field(
        gt=0,
        lt=1,
        description="How far from 1 the change of β by a finite reference may be, over that which quadrature gives.",
    )


def cost(config: Mapping[str, Any], model: Model) -> dict[str, Cost]:
    """Attention in each setting; against a finite reference also that of its tokens."""
    gaussian, published = config["simulate_gaussian"], config["simulate_gaussian_published"]
    reference = published["reference_tokens"] ** 2 if "finite" in published["references"] else 0
    return {
        "simulate_gaussian": cost_by_setting(gaussian, SimulateGaussian.dimensions_of(gaussian)),
        "simulate_gaussian_published": cost_by_setting(
            published, SimulateGaussianPublished.dimensions_of(published), reference
        ),
        "simulate_gaussian_asymptotic": Cost(job_seconds=11.0),
        "merge_parts": Cost(2),
    }


# Words of the variables, by store.
TOKENS: Words = {
    "dimension": "dimension of the tokens",
    "isotropic": "whether the tokens' covariance is a multiple of the identity",
}
PROTOCOL: Words = {
    "scale": "scale of the weights",
    "exact": "whether errors are to the closed-form limit (else to a finite reference)",
}
STORES: dict[str, Words] = {
    "synthetic/gaussian": ERRORS | TOKENS,
    "synthetic/gaussian_published": ERRORS | PROTOCOL,
    "synthetic/gaussian_asymptotic": ERRORS,
    "rates/gaussian": FITS | TOKENS,
    "rates/gaussian_published": FITS | PROTOCOL,
    "rates/gaussian_asymptotic": FITS,
}
PARTS: dict[str, Words] = {
    "synthetic/parts/gaussian_part_{part}": ERRORS | TOKENS,
    "synthetic/parts/gaussian_published_part_{part}": ERRORS | PROTOCOL,
}

ABOUT = About(
    title="Gaussian tokens",
    question="How does the rate depend on the horizon for Gaussian tokens, whose limit is known exactly?",
    chapter="theory",
    place=0,
    errors={
        "gaussian": "synthetic/gaussian",
        "gaussian_published": "synthetic/gaussian_published",
        "gaussian_asymptotic": "synthetic/gaussian_asymptotic",
    },
    figures={
        "gaussian_beta_vs_horizon": "Gaussian: rate against horizon, by dimension",
        "gaussian_anisotropic": "Gaussian: rate against horizon, anisotropic tokens",
        "gaussian_local_slopes": "Gaussian: slopes between sizes",
        "gaussian_protocol": "Gaussian: what a finite reference does to the rate",
        "gaussian_asymptotic": "Gaussian: rate up to 10¹⁰ tokens, d = 1",
    },
    sections={
        "simulate_gaussian": SimulateGaussian,
        "simulate_gaussian_published": SimulateGaussianPublished,
        "simulate_gaussian_asymptotic": SimulateGaussianAsymptotic,
    },
    thresholds=Thresholds,
    cost=cost,
    stores=STORES,
    parts=PARTS,
)
