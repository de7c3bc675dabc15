"""What runs, from which seed, on which device?"""

from typing import Annotated, Literal

from pydantic import Field

from attnlimit.base.about import About, Cost, Section
from attnlimit.base.section_types import DISTINCT, Count, Integer, Number, Positive


class Run(Section):
    """Keys at the top of the config; workflow/config.py adds the chapters and the sections."""

    run: str = Field(
        pattern="^[A-Za-z0-9_.-]*$",
        max_length=100,
        description="Name of the run in `rates.csv`; empty takes that of its folder in `runs/`, or `default`.",
    )
    quick_look: bool = Field(
        description="Whether figures, pages and answer are marked as a quick look. It does not affect results; "
        "configs/quick.yaml sets it."
    )
    seed: Number = Field(description="Of every random draw. Any other seed gives an equally valid run.")
    device: Literal["auto", "cpu", "cuda"] = Field(
        description="Where attention is computed: `auto` takes a CUDA GPU where there is one."
    )
    layers: Annotated[list[Number], Field(min_length=1), DISTINCT] = Field(
        description="Attention layers to study, counted from 0."
    )


class FitRates(Section):
    """Errors to rates β."""

    bootstrap: Integer = Field(ge=100, description="Bootstrap draws for the 95 % intervals.")
    misfit: float = Field(gt=1, description="χ² per degree of freedom above which a fit is marked as no power law.")
    saturated: float = Field(
        gt=0,
        le=1,
        description="A rate is marked as saturated if the error at the largest n, relative to its scale, is above "
        "this …",
    )
    saturated_slope: float = Field(
        gt=0,
        le=0.5,
        description="… and the error also falls more slowly than this there: at 0.1, half the error needs about 1000 "
        "times the tokens.",
    )
    uncertain_limit: float = Field(
        gt=0,
        le=1,
        description="A fit is marked as one to an uncertain limit, and no verdict rests on it, if the standard error "
        "of the limit is above this share of the error at the largest n. An exact limit has none.",
    )


class Thresholds(Section):
    """Thresholds of the verdicts, from statistics and theory; none is computed from the results."""

    level: float = Field(gt=0.5, lt=1, description="Of intervals and tests; the intervals of β are always 95 %.")
    fewest_fits: Integer = Field(ge=4, description="Fewer unsaturated fits than this decide nothing.")
    fewest_groups: Integer = Field(
        ge=3, description="Fewest layers, or heads, that are resampled whole; fewer decide nothing."
    )
    weakest_horizon: float = Field(
        ge=0, description="Tests of the curve leave out smaller H, where the paper's curve is 1/2 to within 1 %."
    )
    weakest_coefficient: float = Field(
        gt=0,
        lt=1,
        description="Of β on the paper's curve, 0 without a dependence and 1 if β falls as the curve does: an "
        "interval below this counts as no decrease.",
    )
    decided_share: float = Field(
        gt=0, le=1, description="Of many tests of the same kind none may fail, and this share must hold."
    )
    strong_horizon: float = Field(
        ge=1, description="H from which the rate must be below 1/2: well above 1, where the heuristic falls below 1/2."
    )
    slope_tolerance: float = Field(gt=0, lt=0.5, description="How far from 1/2 a rate may be and still count as 1/2.")
    fewest_radii: Integer = Field(ge=4, description="Fewest radii to fit a growth with R.")
    independent_share: float = Field(
        gt=0,
        lt=1,
        description="Share of an independent token, or of an independent head: neighbours, and heads of one layer, "
        "whose interval is above this count as no loss.",
    )


class ArchiveResults(Section):
    """The archive of a run."""

    embeddings: bool = Field(
        description="Include the embeddings and the outputs of the limits: its largest part, which model and text give "
        "again."
    )


class BenchAttention(Section):
    """Used by `make bench` only."""

    rounds: Count = Field(description="Times that each contender takes its turn; medians and quartiles over these.")
    scale: Positive = Field(le=1, description="Factor on all sizes.")
    guests: bool = Field(description="Also KeOps and FlexAttention, a round each: they are compiled, KeOps installed.")


ABOUT = About(
    title="the run itself",
    question="What runs, from which seed, on which device?",
    sections={"fit_rates": FitRates, "archive_results": ArchiveResults, "bench_attention": BenchAttention},
    thresholds=Thresholds,
    cost=lambda config, model: {"archive_results": Cost(job_seconds=12.0)},
)
