"""Does the attention map converge like C(R)/√n uniformly over queries in a ball?"""

import math
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from attnlimit.base.about import About, Cost, Model, Section, Words
from attnlimit.base.parts import FEWEST_POINTS
from attnlimit.base.section_types import DISTINCT, INCREASING, AtSizes, Count, Positive, Replicates, refuse
from attnlimit.base.words import LABELS, LINE

UNIFORM_SPEED = 3.5e8  # pairs of a token and a grid point a second: simulate_uniform of the default run


def with_gaussian(laws: list[str]) -> list[str]:
    if "gaussian" not in laws:
        refuse("", f"{laws!r:.100}: no gaussian, which the claims are about; add it")
    return laws


class SimulateUniform(AtSizes):
    """The largest error over a ball of queries."""

    laws: Annotated[list[Literal["gaussian", "interval", "circle"]], DISTINCT, AfterValidator(with_gaussian)] = Field(
        description="Laws of the tokens. `gaussian`: N(0, I) on a line and in a plane; `interval`: uniform on [−1, 1]; "
        "`circle`: uniform on the unit circle."
    )
    largest_in_plane: Count = Field(
        description="Larger sizes are run on a line only: a plane costs angles/2 times as much."
    )
    radii: Annotated[list[Annotated[float, Field(gt=0, le=6)]], Field(min_length=3), INCREASING] = Field(
        description="Radii R of the balls for Gaussian tokens: multiples of 2 × step, up to 6."
    )
    compact_radii: Annotated[list[Annotated[float, Field(gt=0, le=16)]], Field(min_length=3), INCREASING] = Field(
        description="Radii R for the interval and the circle: multiples of 2 × compact_step, up to 16."
    )
    step: float = Field(
        ge=0.001,
        description="Distance between the circles of the grid. A grid of every second circle and every second ray "
        "shows how much the grid misses.",
    )
    compact_step: float = Field(
        ge=0.001, description="The same as `step` for the interval and the circle, whose errors vary more slowly."
    )
    angles: int = Field(ge=4, le=4096, multiple_of=2, description="Rays of the grid in a plane.")
    limit_draws: Replicates = Field(description="Draws of the Gaussian process that √n times the error tends to.")

    @model_validator(mode="after")
    def grids_that_serve_both(self) -> Self:
        """The balls end on circles of both grids, and a plane has enough sizes for a fit."""
        for before in ("", "compact_"):
            for radius in getattr(self, f"{before}radii"):
                if abs(math.remainder(radius, 2 * getattr(self, f"{before}step"))) > 1e-9:
                    refuse(f"{before}radii", f"{radius:g} is not a multiple of 2 * {before}step")
        if sum(size <= self.largest_in_plane for size in self.sizes) < FEWEST_POINTS:
            refuse("largest_in_plane", "must leave at least three sizes")
        return self


class FitUniform(Section):
    """Where the error over a ball falls like 1/√n."""

    slope_tolerance: float = Field(
        ge=0,
        description="The scaling counts as not reached if the local slope differs from 1/2 by more than this and by "
        "more than two standard errors.",
    )
    carriers: Positive = Field(description="Nor is it reached if fewer tokens than this carry the variance.")


class Thresholds(Section):
    """Of the claims about a ball of queries."""

    growth_tolerance: Positive = Field(
        description="Relative change of the growth rate of ln C(R) over the radii; less counts as an exponential."
    )


def cost(config: Mapping[str, Any], model: Model) -> dict[str, Cost]:
    """Pairs of a token and a grid point, by law."""
    section = config["simulate_uniform"]
    circles, compact_circles = (section[f"{law}radii"][-1] / section[f"{law}step"] for law in ("", "compact_"))
    on_line = 2 * sum(section["sizes"])  # pairs of a token and a ray
    in_plane = section["angles"] * sum(size for size in section["sizes"] if size <= section["largest_in_plane"])
    pairs = {
        "gaussian": circles * (on_line + in_plane),
        "interval": compact_circles * on_line,
        "circle": compact_circles * in_plane,
    }
    seconds = section["replicates"] * sum(pairs[law] for law in section["laws"]) / UNIFORM_SPEED
    return {"simulate_uniform": Cost(job_seconds=seconds)}


# Words of the variables, by store.
BALLS: Words = {
    "law": "law of the tokens",
    "compact": "whether the tokens are bounded",
    "dimension": "dimension of the tokens",
    "radius": "radius R of the ball of queries",
    "effective": "effective sample size 1 / sum of squared weights, at the edge of the ball [tokens]",
    "clt_edge": "root mean square of sqrt(n) times the error at one edge point, n to infinity",
    "clt_sup": "expected supremum of the limit process over the ball",
}
STORES: dict[str, Words] = {
    "synthetic/uniform": LABELS
    | BALLS
    | {
        "sup": "largest distance to the limit over the ball",
        "sup_coarse": "largest distance to the limit over the ball, on a grid twice as coarse",
    },
    "rates/uniform": LABELS
    | BALLS
    | LINE
    | {
        "of_law": "law that the growth is of",
        "constant": "C(R) = sqrt(n) times the mean supremum",
        "grid_gap": "relative gain of the fine grid on the coarse one",
        "reached": "whether the error falls like 1/sqrt(n) here",
        "carried": "whether enough tokens carry the variance",
        "carried_beta": "rate over the sizes at which enough tokens carry the variance",
        "carried_se": "standard error of carried_beta",
        "growth": "growth rate of ln C(R) with R",
        "growth_intercept": "ln C at R = 0 of the fitted line",
        "growth_chi2": "chi squared of the growth fit",
        "growth_dof": "degrees of freedom of the growth fit",
        "growth_n": "n at which growth was fitted [tokens]",
        "growth_local": "growth rate of ln C(R) from the radius before",
        "clt_growth_local": "growth rate from the radius before, of the limit process",
        "change": "relative change of the growth rate over the radii",
        "change_radii": "radii that the change was measured over",
        "change_n": "n at which the change was measured [tokens]",
        "change_smallest_radius": "smallest radius used",
        "change_largest_radius": "largest radius used",
        "total_growth": "C(R) at the largest over C(R) at the smallest radius used",
        "upper_growth": "growth rate of ln C(R) over the upper half of the radii used",
        "over_clt": "C(R) over that of the limit process",
    },
}

ABOUT = About(
    title="uniform convergence on a ball",
    question="Does the attention map converge like C(R)/√n uniformly over queries in a ball?",
    chapter="theory",
    place=3,
    figures={"uniform": "Simulated: largest error over a ball"},
    sections={"simulate_uniform": SimulateUniform, "fit_uniform": FitUniform},
    thresholds=Thresholds,
    cost=cost,
    stores=STORES,
)
