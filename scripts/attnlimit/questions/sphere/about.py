"""How do rate and constant depend on the size of a bounded support?"""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from attnlimit.base.about import About, Cost, Model, Section, Words
from attnlimit.base.costs import cost_by_setting
from attnlimit.base.section_types import DISTINCT, BySetting, Count, Integer, Positive, Positives, Replicates
from attnlimit.base.words import ERRORS, FITS, LABELS

CONSTANTS_SPEED = 4e8  # pairs of tokens a second: simulate_constants of the default run


class SimulateSphere(BySetting):
    """Tokens uniform on a sphere, errors against the closed-form limit."""

    dimension: Integer = Field(ge=2, description="Dimension d of the tokens.")
    radius: Positive = Field(description="Radius of the sphere.")
    horizons: Positives = Field(description="Horizons H; the query and key weights are scaled to have these.")
    scales: Annotated[list[Positive], DISTINCT] = Field(
        description="Scales of the query and key weights, as published: H from about 30 up, practically a hardmax."
    )

    @staticmethod
    def dimensions_of(section: Mapping[str, Any]) -> list[int]:
        return len(section["horizons"] + section["scales"]) * [section["dimension"]]


class SimulateConstants(Section):
    """Draws that check the exact constants C′(R): tokens uniform on an interval and on a sphere, A = V = I."""

    dimension: Integer = Field(ge=2, description="Dimension of the sphere.")
    radii: Positives = Field(
        description="Radii R. The error has its limit where n is well above R², for small dimensions."
    )
    size: Integer = Field(ge=2, description="Tokens n of a sample.")
    replicates: Replicates = Field(description="Samples for each radius.")


class FitConstants(Section):
    """The exact constants C′(R) on an interval and on spheres."""

    dimensions: Annotated[list[Count], Field(min_length=1), DISTINCT] = Field(
        description="Dimensions d of the tokens: 1 for the interval [−R, R], else the sphere of radius R."
    )
    span: float = Field(
        ge=30,
        le=1000,
        description="Largest R over √d. Attention goes from flat to sharp at R = √d; powers have ended from 30 √d on.",
    )


class Thresholds(Section):
    """Of the claim about growth with a radius."""

    radius_factor: float = Field(gt=1, description="How far apart the radii are whose powers are compared.")
    power_rise: Positive = Field(
        description="How much higher the power of R may be at the larger radius; an exponential's goes with R."
    )


def cost(config: Mapping[str, Any], model: Model) -> dict[str, Cost]:
    section = config["simulate_sphere"]
    dimensions = SimulateSphere.dimensions_of(section)
    checks = config["simulate_constants"]
    pairs = 2 * len(checks["radii"]) * checks["replicates"] * checks["size"] ** 2
    return {
        "simulate_sphere": cost_by_setting(section, dimensions),
        "simulate_constants": Cost(job_seconds=pairs / CONSTANTS_SPEED),
        "merge_parts": Cost(),
    }


# Words of the variables, by store.
SCALES: Words = {
    "scale": "scale of the weights",
    "published": "whether the scale is one of the published ones",
    "attended": "tokens that a query attends to: 1 / sum of squared weights, mean over queries [tokens]",
}
DRAWN: Words = {
    "drawn_dimension": "dimension d of the tokens drawn; 1: uniform on an interval",
    "drawn_radius": "radius R of the tokens drawn",
}
STORES: dict[str, Words] = {
    "synthetic/sphere": ERRORS | SCALES,
    "rates/sphere": FITS | SCALES,
    "synthetic/constants": LABELS | DRAWN | {"error": ERRORS["error"]},
    "rates/constants": LABELS
    | DRAWN
    | {
        "law": "law of the tokens",
        "dimension": "dimension d of the tokens",
        "radius": "radius R of the support",
        "constant": "C'(R): limit of sqrt(n) times the root mean square error, exact",
        "local_power": "d ln C' / d ln R between neighbouring radii",
        "simulated": "sqrt(n) times the root mean square error, drawn",
        "exact": "exact limit of the simulated constant",
    },
}
PARTS: dict[str, Words] = {"synthetic/parts/sphere_part_{part}": ERRORS | SCALES}

ABOUT = About(
    title="tokens on a sphere",
    question="How do rate and constant depend on the size of a bounded support?",
    chapter="theory",
    place=1,
    errors={"sphere": "synthetic/sphere"},
    figures={
        "sphere_beta_vs_horizon": "sphere: rate against horizon",
        "constants": "Bounded tokens: the constant of the moments against the radius",
    },
    sections={
        "simulate_sphere": SimulateSphere,
        "simulate_constants": SimulateConstants,
        "fit_constants": FitConstants,
    },
    thresholds=Thresholds,
    cost=cost,
    stores=STORES,
    parts=PARTS,
)
