"""The chance of a verdict on several parts."""

import pytest

from attnlimit.stats.verdicts import FAILS, HOLDS, UNDECIDED, joint_chance


def test_all_must_hold():
    assert joint_chance([HOLDS, HOLDS, HOLDS], [0.001, 0.02, 0.0]) == 0.02


def test_one_failure_is_paid_for_by_the_number_of_tests():
    assert joint_chance([HOLDS, FAILS, FAILS], [0.0, 0.02, 0.001]) == pytest.approx(0.003)
    assert joint_chance([FAILS] * 3, [0.5] * 3) == 1


def test_some_may_stay_undecided():
    """Four of five must hold: the fourth smallest, times two."""
    verdicts = [HOLDS, HOLDS, HOLDS, HOLDS, UNDECIDED]
    assert joint_chance(verdicts, [0.01, 0.02, 0.003, 0.0, 0.6], share=0.8) == pytest.approx(0.04)
    assert joint_chance(verdicts, [0.01, 0.02, 0.003, 0.0, 0.6]) == 0.6


def test_nothing_is_no_evidence():
    assert joint_chance([], []) == 1
