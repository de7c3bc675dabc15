"""Claims on the largest error: suprema of a planted rate and growth, through their fit, to the verdict."""

import numpy as np
import pytest

from attnlimit.questions.uniform.claims import uniform_growth, uniform_rate
from attnlimit.stats.verdicts import FAILS, HOLDS, UNTESTED
from support.claims import (
    THRESHOLDS,
    uniform,
)


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({}, HOLDS),
        ({"rate": 0.3}, FAILS),
        ({"rate": 0.7}, FAILS),
        ({"noise": 1.0}, UNTESTED),
        ({"carriers": 10}, UNTESTED),
        ({"rate": 0.3, "carriers": 10}, UNTESTED),
    ],
)
def test_uniform_rate(changes, verdict):
    assert uniform_rate(uniform(np.exp, **changes), THRESHOLDS).verdict == verdict


@pytest.mark.parametrize(
    ("constant", "changes", "verdict"),
    [
        (lambda r: np.exp(2 * r), {}, HOLDS),
        (lambda r: (1 + r) ** 3, {}, HOLDS),
        (lambda r: 0.6 - 0.1 * np.exp(-5 * r), {}, HOLDS),  # bounded
        (lambda r: 1 + 0.01 * r, {}, HOLDS),  # hardly any growth
        (lambda r: np.exp(r**2), {}, FAILS),
        (lambda r: np.exp(r**2 / 2), {}, FAILS),
        (np.exp, {"carriers": 10}, UNTESTED),
        (lambda r: np.exp(r**2), {"compact": False}, UNTESTED),  # told, not judged
    ],
)
def test_growth_of_the_uniform_constant(constant, changes, verdict):
    record = uniform_growth(uniform(constant, **changes), THRESHOLDS)
    assert record.verdict == verdict
    assert record.could_fail.startswith("not here" if verdict == UNTESTED else "yes")


def test_the_law_is_named_and_its_growth_given():
    record = uniform_growth(uniform(np.exp), THRESHOLDS)
    measured = record.measured["interval, d = 1"]
    assert measured["total_growth"] == pytest.approx(np.exp(1.25), rel=0.02)
    assert measured["mean_growth"] == pytest.approx(1, rel=0.02) == measured["upper_growth"]
    assert "interval, d = 1 ×3.49" in record.in_short
    unbounded = uniform_growth(uniform(np.exp, compact=False), THRESHOLDS)
    assert "not judged: interval, d = 1 ×3.49" in unbounded.why and "exp(R²/2)" in unbounded.why
