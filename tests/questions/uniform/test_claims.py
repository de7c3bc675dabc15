"""Claims on the largest error: suprema of a planted rate and growth, through their fit, to the verdict."""

import numpy as np
import pytest

from attnlimit.questions.uniform.claims import uniform_growth, uniform_rate
from attnlimit.stats.verdicts import FAILS, HOLDS, UNDECIDED
from support.claims import (
    judged,
    uniform,
)


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
    assert record.could_fail.startswith("not here" if verdict == UNDECIDED else "yes")


def test_the_law_is_named_and_its_growth_given():
    record = judged(uniform_growth, uniform(np.exp))
    measured = record.measured["interval, d = 1"]
    assert measured["total_growth"] == pytest.approx(np.exp(1.25), rel=0.02)
    assert measured["mean_growth"] == pytest.approx(1, rel=0.02) == measured["upper_growth"]
    assert "interval, d = 1 by a factor of 3.49" in record.in_short
    unbounded = judged(uniform_growth, uniform(np.exp, compact=False))
    assert "not judged: interval, d = 1 by a factor of 3.49" in unbounded.why and "exp(R²/2)" in unbounded.why
