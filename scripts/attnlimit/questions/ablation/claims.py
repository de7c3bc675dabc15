"""The claim on heads whose A is scaled, so that the horizon alone changes."""

from attnlimit.stats.claim import Finding, Fits, claim
from attnlimit.stats.horizon_tests import FALL, experiment_falls
from attnlimit.stats.order import correlated, order, ranks_within

HEAD = ["of_layer", "of_head"]


@claim(
    id="ablation_falls",
    statement="Heads of {model} with A scaled and all else kept: β falls as H grows.",
    test="Rank correlation of β with H within each head; interval by resampling heads.",
    fits=("ablation",),
    figure="ablation",
    thresholds=(*FALL, "fewest_groups"),
)
def ablation_falls(fits: Fits, thresholds: dict) -> Finding:
    """Does beta fall with H in one and the same head, when only A is scaled?  Heads are resampled."""
    table = fits.errors("ablation")
    scaled = table[table["tilt_factor"] == 1]
    return experiment_falls(
        scaled,
        thresholds,
        f"Ranks are taken within each of {scaled.groupby(HEAD).ngroups} heads; the interval resamples heads.",
        lambda used: order(ranks_within(used, HEAD), correlated("horizon"), HEAD, fits.resampling),
    )
