"""Claims on the largest error: suprema of a planted rate and growth, through their fit, to the verdict."""

import numpy as np
import pytest

from attnlimit.questions.uniform.claims import uniform_growth, uniform_rate
from attnlimit.questions.uniform.figures import uniform as figure_of
from attnlimit.stats.verdicts import FAILS, HOLDS, UNDECIDED
from support.claims import judged, uniform


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({}, HOLDS),
        ({"rate": 0.3}, FAILS),
        ({"rate": 0.7}, FAILS),
        ({"noise": 1.0}, UNDECIDED),
        ({"carriers": 10}, UNDECIDED),
        ({"rate": 0.3, "carriers": 10}, UNDECIDED),
    ],
)
def test_uniform_rate(changes, verdict):
    assert judged(uniform_rate, uniform(np.exp, **changes)).verdict == verdict


@pytest.mark.parametrize(
    ("constant", "changes", "verdict"),
    [
        (lambda r: np.exp(2 * r), {}, HOLDS),
        (lambda r: (1 + r) ** 3, {}, HOLDS),
        (lambda r: 0.6 - 0.1 * np.exp(-5 * r), {}, HOLDS),  # bounded
        (lambda r: 1 + 0.01 * r, {}, HOLDS),  # hardly any growth
        (lambda r: np.exp(r**2), {}, FAILS),
        (lambda r: np.exp(r**2 / 2), {}, FAILS),
        (np.exp, {"carriers": 10}, UNDECIDED),
        (lambda r: np.exp(r**2), {"compact": False}, UNDECIDED),  # told, not judged
    ],
)
def test_growth_of_the_uniform_constant(constant, changes, verdict):
    record = judged(uniform_growth, uniform(constant, **changes))
    assert record.verdict == verdict
    assert record.could_fail.startswith("not here" if verdict == UNDECIDED else "hardly")


def test_a_growth_across_the_edge_is_undecided_by_its_interval_and_not_for_want_of_data():
    data = uniform(np.exp)
    data["upper_growth_high"] += 1
    record = judged(uniform_growth, data)
    assert record.verdict == UNDECIDED and record.could_fail.startswith("hardly") and record.p > 0.05


def test_a_run_without_compact_laws_says_so():
    record = judged(uniform_growth, uniform(np.exp, compact=False))
    assert record.number == "no law of compact support was run" and record.number in record.could_fail


@pytest.mark.parametrize("carriers", [1000, 10])  # with few, no radius is reached, and no line is fitted
def test_the_figure_shows_the_growth_where_there_is_one(carriers):
    fits = uniform(np.exp, carriers=carriers, compact=False)
    _, axis = figure_of(fits).axes
    labels = axis.get_legend_handles_labels()[1]
    assert any("fit" in label for label in labels) == np.isfinite(fits["growth"]).all() == (carriers == 1000)
    assert not any("nan" in label for label in labels)


def test_the_law_is_named_and_its_growth_given():
    record = judged(uniform_growth, uniform(np.exp))
    measured = record.measured["interval, d = 1"]
    assert measured["total_growth"] == pytest.approx(np.exp(1.25), rel=0.02)
    assert measured["mean_growth"] == pytest.approx(1, rel=0.02) == measured["upper_growth"]
    assert "interval, d = 1 by a factor of 3.49" in record.in_short
    unbounded = judged(uniform_growth, uniform(np.exp, compact=False))
    assert "not judged: interval, d = 1 by a factor of 3.49" in unbounded.why and "exp(R²/2)" in unbounded.why
