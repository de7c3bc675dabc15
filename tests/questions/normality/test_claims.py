"""The claim on normality: coverage and distance made right or wrong, tilts beyond the size left out."""

import pytest

from attnlimit.questions.normality.claims import normality
from attnlimit.stats.verdicts import FAILS, HOLDS, UNDECIDED
from support.claims import (
    judged,
    normality_fit,
)


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({}, HOLDS),
        ({"coverage": 0.85}, FAILS),
        ({"spread": 1.6}, FAILS),
        ({"coverage": 0.935}, UNDECIDED),  # inside, but not surely
        ({"spread": 1.25}, UNDECIDED),  # a distance above what is allowed, not surely
        ({"replicates": 100}, UNDECIDED),
        ({"carriers": (20, 10, 1)}, UNDECIDED),
    ],
)
def test_normality(changes, verdict):
    assert judged(normality, normality_fit(**changes)).verdict == verdict


def test_tilts_beyond_the_size_are_named():
    assert "Tilts 3 are not tested" in judged(normality, normality_fit()).why


def test_no_number_outside_what_is_allowed_stands_beside_holds():
    """Three tilts hold, the coverage of one coordinate lies just outside and is undecided."""
    data = normality_fit(carriers=(500, 500, 1))
    assert judged(normality, data).verdict == HOLDS
    data["coverage"][1, 0, 1] = 0.929
    record = judged(normality, data)
    assert record.verdict == UNDECIDED
    assert "Undecided: coverage 0.929 at |t| = 1, coordinate 2." in record.why
    data["coverage"][1, 0, 1] = 0.935  # undecided too, but inside
    assert judged(normality, data).verdict == HOLDS


def test_what_the_power_figure_says_fails():
    record = judged(normality, normality_fit())
    off = float(record.could_fail.split("off by ")[1].split(",")[0])
    assert judged(normality, normality_fit(coverage=0.95 - 1.1 * off)).verdict == FAILS
