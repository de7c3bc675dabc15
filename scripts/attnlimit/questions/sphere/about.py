"""How do rate and constant depend on the size of a bounded support?"""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from attnlimit.base.about import About, Cost, Model, Section, Words
from attnlimit.base.costs import cost_by_setting
from attnlimit.base.section_types import DISTINCT, BySetting, Integer, Positive, Positives
from attnlimit.base.words import ERRORS, FITS, LABELS


class SimulateSphere(BySetting):
    """Tokens uniform on a sphere, errors against the closed-form limit."""

    dimension: Integer = Field(ge=2, description="Dimension d of the tokens.")
    radius: Positive = Field(description="Radius of the sphere.")
    horizons: Positives = Field(description="Horizons H; the query and key weights are scaled to have these.")
    scales: Annotated[list[Positive], DISTINCT] = Field(
        description="Scales of the query and key weights, as published: H from about 30 up, in effect a hardmax."
    )

    @staticmethod
    def dimensions_of(section: Mapping[str, Any]) -> list[int]:
        return len(section["horizons"] + section["scales"]) * [section["dimension"]]


class FitConstants(Section):
    """How the constant C′(R) grows with the radius."""

    slope_tolerance: Positive = Field(
        lt=0.5, description="A radius is used if the late slope is 1/2 within this and two standard errors."
    )
    polynomial_degree: int = Field(ge=2, le=8, description="Largest degree of the polynomials that C′(R) may be.")


class Thresholds(Section):
    """Of the claims about growth with a radius."""

    radius_factor: float = Field(
        ge=1, description="Largest over smallest radius that is needed to distinguish a power from an exponential."
    )
    exponential_rate: Positive = Field(description="c in exp(cR): the slowest growth that counts as exponential.")


def cost(config: Mapping[str, Any], model: Model) -> dict[str, Cost]:
    section = config["simulate_sphere"]
    dimensions = SimulateSphere.dimensions_of(section)
    return {"simulate_sphere": cost_by_setting(section, dimensions), "merge_parts": Cost()}


# Words of the variables, by store.
SCALES: Words = {
    "scale": "scale of the weights",
    "published": "whether the scale is one of the published ones",
    "attended": "tokens that a query attends to: 1 / sum of squared weights, mean over queries [tokens]",
}
STORES: dict[str, Words] = {
    "synthetic/sphere": ERRORS | SCALES,
    "rates/sphere": FITS | SCALES,
    "rates/constants": LABELS
    | {
        "power": "slope of ln C' on ln R",
        "power_chi2": "chi squared of a power of R",
        "exponential_chi2": "chi squared of ln C' = a + c R",
        "mixed_rate": "c of ln C' = a + p ln R + c R",
        "mixed_chi2": "chi squared of ln C' = a + p ln R + c R",
        "polynomial_chi2": "chi squared of a polynomial in R without negative coefficients",
        "polynomial_dof": "degrees of freedom of the polynomial",
        "radii": "radii used: the error falls like 1/sqrt(n) there",
        "unsaturated_radii": "radii at which the error is not saturated",
        "radius_factor": "largest over smallest radius",
    },
}
PARTS: dict[str, Words] = {"synthetic/parts/sphere_part_{part}": ERRORS | SCALES}

ABOUT = About(
    title="tokens on a sphere",
    question="How do rate and constant depend on the size of a bounded support?",
    chapter="theory",
    place=1,
    errors={"sphere": "synthetic/sphere"},
    figures={"sphere_beta_vs_horizon": "sphere: rate against horizon"},
    sections={"simulate_sphere": SimulateSphere, "fit_constants": FitConstants},
    thresholds=Thresholds,
    cost=cost,
    stores=STORES,
    parts=PARTS,
)
