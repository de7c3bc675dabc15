"""The claim on normality: coverage and distance made right or wrong, tilts beyond the size left out."""

import pytest

from attnlimit.questions.normality.claims import normality
from attnlimit.stats.verdicts import FAILS, HOLDS, UNDECIDED
from support.claims import judged, normality_fit


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({}, HOLDS),
        ({"coverage": 0.935}, HOLDS),
        ({"coverage": 0.85}, FAILS),
        ({"spread": 1.6}, FAILS),
        ({"coverage": 0.931}, UNDECIDED),  # inside, but not surely
        ({"spread": 1.24}, UNDECIDED),  # a distance above what is allowed, not surely
        ({"replicates": 100}, UNDECIDED),
        ({"carriers": (20, 10, 1)}, UNDECIDED),
        ({"carriers": (20, 10, 1), "coverage": 0.85}, UNDECIDED),  # too few tokens carry the variance
    ],
)
def test_normality(changes, verdict):
    record = judged(normality, normality_fit(**changes))
    assert record.verdict == verdict, record.in_short
    assert (record.p is not None and record.p < 0.05) == (verdict != UNDECIDED)


def test_one_case_that_is_surely_off_fails():
    data = normality_fit()
    data["coverage"][1, 0, 1] = 0.92
    record = judged(normality, data)
    assert record.verdict == FAILS and 0 < record.p < 1e-5


def test_the_shortfall_is_told_with_its_interval():
    record = judged(normality, normality_fit())
    assert "0.010 [0.008, 0.012] at 1,000 of them" in record.why and "−0.50 [−0.60, −0.40]" in record.why
    assert record.measured["left_out"] == 2
    unsure = normality_fit().assign(shortfall_power_low=-0.1)
    assert "−0.50 [−0.60, +0.10]" in judged(normality, unsure).why


def test_what_the_power_figure_says_fails():
    record = judged(normality, normality_fit())
    off = float(record.could_fail.split("off by ")[1].split(",")[0])
    assert judged(normality, normality_fit(coverage=0.95 - 1.1 * off)).verdict == FAILS
