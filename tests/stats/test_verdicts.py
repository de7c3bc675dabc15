"""Intervals, counts and correlations become verdicts without favour."""

import numpy as np
import pytest

from attnlimit.base.seeds import generator
from attnlimit.stats.horizon_tests import correlation_interval
from attnlimit.stats.verdicts import (
    FAILS,
    HOLDS,
    UNDECIDED,
    decide,
    every,
    most,
    rounded,
)


def test_an_interval_is_inside_outside_or_across():
    assert decide(0.46, 0.54, 0.45, 0.55) == HOLDS
    assert decide(0.56, 0.60, 0.45, 0.55) == decide(0.1, 0.44, 0.45, 0.55) == FAILS
    assert decide(0.5, 0.56, 0.45, 0.55) == decide(0.4, 0.6, 0.45, 0.55) == UNDECIDED


def test_parts_are_joined_without_favour():
    assert every([HOLDS, HOLDS]) == HOLDS
    assert every([HOLDS, UNDECIDED]) == every([]) == UNDECIDED
    assert every([HOLDS, UNDECIDED, FAILS]) == FAILS
    assert most([HOLDS, UNDECIDED], 0.5) == HOLDS
    assert most([HOLDS, UNDECIDED, UNDECIDED], 0.5) == most([], 0.5) == UNDECIDED
    assert most([HOLDS, HOLDS, HOLDS, FAILS], 0.5) == FAILS


def test_the_interval_of_a_correlation_covers_as_often_as_it_says():
    draws = generator(3, "coverage").multivariate_normal([0, 0], [[1, -0.6], [-0.6, 1]], size=(400, 20))
    ranks = draws.argsort(1).argsort(1)
    true = 6 / np.pi * np.arcsin(-0.3)  # Spearman's of a normal pair
    found = [np.corrcoef(pair.T)[0, 1] for pair in ranks]
    covered = [low <= true <= high for low, high in (correlation_interval(value, 20, 0.95) for value in found)]
    assert 0.91 < np.mean(covered) < 0.99


def test_numbers_are_short_and_finite():
    assert rounded({"a": np.float64(0.123456), "b": [np.int64(3), True], "c": "x"}) == {
        "a": 0.1235,
        "b": [3, True],
        "c": "x",
    }
    with pytest.raises(ValueError, match="not a finite number"):
        rounded({"a": [float("nan")]})
