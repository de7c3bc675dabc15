"""The claim on errors of several layers: planted ratios, through their fit, to the verdict."""

import numpy as np
import pytest

from attnlimit.questions.propagation.claims import propagation_quadrature
from attnlimit.questions.propagation.power import POWER, planted
from attnlimit.stats.verdicts import FAILS, HOLDS, UNDECIDED
from support.claims import THRESHOLDS, judged


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({}, HOLDS),
        ({"ratio": 1.05, "noise": 0.07}, HOLDS),
        ({"ratio": 0.577}, FAILS),  # three equal errors in step: sqrt(3) / 3
        ({"ratio": 1.4}, FAILS),
        ({"ratio": 0.86}, UNDECIDED),
        ({"noise": 0.5}, UNDECIDED),
        ({"blocks": THRESHOLDS["fewest_groups"] - 1}, UNDECIDED),
        ({"layers": 1}, UNDECIDED),
    ],
)
def test_quadrature(changes, verdict):
    assert judged(propagation_quadrature, planted(**changes)).verdict == verdict


def test_planted_truths_are_told_apart():
    """One draw of each, as `make power` makes them."""
    make = POWER["propagation_quadrature"][1]
    found = [judged(propagation_quadrature, *make(truth, np.random.default_rng(1)).values()) for truth in (True, False)]
    assert [record.verdict for record in found] == [HOLDS, FAILS]


def test_a_deviation_beyond_the_power_figure_is_seen():
    record = judged(propagation_quadrature, planted())
    assert record.could_fail.startswith("yes: ") and "errors in step would give 0.58" in record.could_fail
    below = min(record.measured[name]["fails_below"] for name in ("mean", "cov", "pointwise"))
    above = max(record.measured[name]["fails_above"] for name in ("mean", "cov", "pointwise"))
    for ratio in (below - 0.02, above + 0.05):
        assert judged(propagation_quadrature, planted(ratio=ratio)).verdict == FAILS


def test_smaller_sizes_are_shown_and_do_not_count():
    fits = planted()
    fits["quadrature"].loc[{"single_n": 64}] = 3.0
    record = judged(propagation_quadrature, fits)
    assert record.verdict == HOLDS and "n = 64: 3.00" in record.why and record.measured["n"] == 1024


def test_a_ratio_without_an_interval_is_refused():
    fits = planted()
    fits["quadrature_low"] = fits["quadrature_low"] * float("nan")
    with pytest.raises(ValueError, match=r"^results/rates/propagation\.zarr\.zip: a ratio without an interval; run"):
        judged(propagation_quadrature, fits)
