"""Intervals, counts and correlations become verdicts without favour."""

import numpy as np
import pytest
from scipy.special import ndtr

from attnlimit.stats.verdicts import (
    FAILS,
    HOLDS,
    UNDECIDED,
    Part,
    at_least,
    chance,
    decide,
    every,
    every_p,
    joint_chance,
    many,
    most,
    p_above,
    p_below,
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


def test_a_share_of_many_by_hand():
    """Four of five: the fourth smallest, times two."""
    assert at_least([0.2, 0.01, 0.03, 0.001, 0.02], 0.8) == pytest.approx(0.06)
    assert at_least([0.01, 0.02], 1) == pytest.approx(0.02) and at_least([0.9, 0.9], 0.5) == 1


def test_a_share_whose_product_is_rounded_up():
    """0.28 times 25 is 7.000000000000001 in floats, and 7 of 25 are that share."""
    verdicts, chances = [HOLDS] * 7 + [UNDECIDED] * 18, [0.001] * 7 + [0.9] * 18
    assert 0.28 * 25 > 7
    assert most(verdicts, 0.28) == HOLDS and most(verdicts, 0.29) == UNDECIDED
    assert joint_chance(verdicts, chances, 0.28) == at_least(chances, 0.28) == pytest.approx(0.019)


def test_many_like_tests_hold_fail_or_decide_nothing():
    sure, open_ = [1e-4] * 8, [0.5] * 2
    assert many(sure + open_, [1.0] * 10, 0.8, 0.95) == (HOLDS, pytest.approx(3e-4))
    assert many(sure + open_, [1.0] * 9 + [0.004], 0.8, 0.95) == (FAILS, pytest.approx(0.04))
    assert many(sure + open_, [1.0] * 9 + [0.006], 0.8, 0.95)[0] == HOLDS  # as one of ten it is chance
    assert many(sure + open_, [1.0] * 10, 0.9, 0.95)[0] == UNDECIDED


def test_of_false_statements_a_share_is_said_to_hold_in_five_per_cent():
    """Ten statements on the edge that share half of their noise: less often than one in twenty all the same."""
    stream = np.random.default_rng(5)
    z = (stream.normal(size=(2000, 10)) + stream.normal(size=(2000, 1))) / np.sqrt(2)
    probabilities = 1 - ndtr(z)
    assert np.mean([at_least(list(each), 0.8) <= 0.05 for each in probabilities]) < 0.06


def test_probabilities_of_parts_are_joined():
    parts = {"a": Part(HOLDS, {}, "", p=0.01), "b": Part(HOLDS, {}, "", p=0.03)}
    assert every_p(parts) == 0.03
    assert every_p(parts | {"c": Part(FAILS, {}, "", p=0.001)}) == pytest.approx(0.003)
    assert every_p(parts | {"c": Part(UNDECIDED, {}, "")}) == 1


def test_beyond_an_edge_or_not_there():
    assert p_above((1.0, 0.0, 2.0), 0.0) == pytest.approx(0.05) == p_below((1.0, 0.0, 2.0), 2.0)
    assert p_above((1.0, 0.9, 1.1), 1.5) == p_below((1.0, 0.9, 1.1), 0.5) == 1


def test_a_number_without_an_interval_decides_nothing_and_may_be_chance():
    """A NaN among probabilities would leave their order, and so the verdict on many, to accident."""
    nan = float("nan")
    assert decide(nan, nan, least=0) == UNDECIDED
    assert chance(1.0, nan, nan, least=0) == p_above((1.0, nan, nan), 0) == p_below((1.0, 0.5, nan), 2) == 1
    assert chance(nan, 0.5, 1.5, least=0) == 1


def test_numbers_are_short_and_finite():
    assert rounded({"a": np.float64(0.123456), "b": [np.int64(3), True], "c": "x"}) == {
        "a": 0.1235,
        "b": [3, True],
        "c": "x",
    }
    with pytest.raises(ValueError, match="not a finite number"):
        rounded({"a": [float("nan")]})
