"""The claims on errors of several layers: planted ratios and rates, through their fit, to the verdict."""

import numpy as np
import pytest

from attnlimit.questions.propagation.claims import propagation_depth, propagation_quadrature
from attnlimit.questions.propagation.power import POWER, planted
from attnlimit.stats.verdicts import FAILS, HOLDS, UNDECIDED, chance
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


@pytest.mark.parametrize("claim", [propagation_quadrature, propagation_depth], ids=lambda claim: claim.id)
def test_planted_truths_are_told_apart(claim):
    """One draw of each, as `make power` makes them."""
    make = POWER[claim.id][1]
    found = [judged(claim, *make(truth, np.random.default_rng(1)).values()) for truth in (True, False)]
    assert [record.verdict for record in found] == [HOLDS, FAILS]


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({"noise": 0.05}, HOLDS),
        ({"noise": 0.05, "deepest": 0.48}, HOLDS),
        ({"deepest": 0.3}, FAILS),
        ({"deepest": 0.75}, FAILS),
        ({"deepest": 0.4}, UNDECIDED),  # on the edge
        ({"noise": 0.5}, UNDECIDED),
        ({"scale": 10.0}, UNDECIDED),  # 10 / 16 of the scale after the first layer at n = 256
        ({"blocks": THRESHOLDS["fewest_groups"] - 1}, UNDECIDED),
        ({"layers": 1}, UNDECIDED),
    ],
)
def test_depth(changes, verdict):
    assert judged(propagation_depth, planted(**changes)).verdict == verdict


def test_one_layer_off_is_enough_and_counts_for_all_that_were_asked():
    """The middle one of three leaves the line over the layers as it is; 3 statistics of 3 layers and a line."""
    fits = planted()
    for end in ("", "_low", "_high"):
        fits["late_rate" + end].loc[{"statistic": "cov", "layer": 1}] -= 0.3
    record = judged(propagation_depth, fits)
    assert record.verdict == FAILS and record.measured["cov"]["change_high"] < 0.1
    value, low, high = (float(fits["late_rate" + end].sel(statistic="cov", layer=1)) for end in ("", "_low", "_high"))
    assert record.p == pytest.approx(3 * 4 * chance(value, low, high, 0.4, 0.6, freedom=fits.attrs["blocks"] - 1))


@pytest.mark.parametrize(("deepest", "told"), [(0.75, True), (0.3, False)])
def test_a_rate_above_one_half_is_said_to_contradict_no_bound(deepest, told):
    assert ("not contradicted" in judged(propagation_depth, planted(deepest=deepest)).why) == told


def test_a_saturated_statistic_is_named_and_sizes_that_count_are_told():
    record = judged(propagation_depth, planted(scale=10.0))
    assert "too large for an exponent after layer 0" in record.why and record.measured["n_from"] == 256
    assert record.could_fail == "not here: errors are too large"


def test_a_change_beyond_the_power_figure_is_seen():
    record = judged(propagation_depth, planted(noise=0.05))
    beyond = max(record.measured[name]["change_fails"] for name in ("mean", "cov", "pointwise")) + 0.05
    assert record.could_fail.startswith("yes: ")
    for deepest in (0.5 - beyond, 0.5 + beyond):
        assert judged(propagation_depth, planted(noise=0.05, deepest=deepest)).verdict == FAILS


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
