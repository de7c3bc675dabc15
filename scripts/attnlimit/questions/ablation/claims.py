"""The claim on heads whose A is scaled, so that the horizon alone changes."""

from attnlimit.stats.claim import Finding, Fits, claim
from attnlimit.stats.horizon_tests import FALL, FALL_TEST, experiment_falls

HEAD = ["of_layer", "of_head"]


@claim(
    id="ablation_falls",
    statement="Heads of {model} with A scaled and all else kept: β falls as H grows.",
    test=FALL_TEST,
    fits=("ablation",),
    figure="ablation",
    thresholds=FALL,
)
def ablation_falls(fits: Fits, thresholds: dict) -> Finding:
    """Does beta fall with H in one and the same head, when only A is scaled?"""
    table = fits.errors("ablation")
    scaled = table[table["tilt_factor"] == 1]
    return experiment_falls(scaled, thresholds, f"Within each of {scaled.groupby(HEAD).ngroups} heads.", HEAD)
