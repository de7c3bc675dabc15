"""The claim on normality: coverage and distance made right or wrong, tilts beyond the size left out."""

import pytest

from attnlimit.claims.normality import normality
from attnlimit.claims.verdicts import FAILS, HOLDS, UNTESTED
from support.claims import (
    THRESHOLDS,
    normality_fit,
)


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({}, HOLDS),
        ({"coverage": 0.85}, FAILS),
        ({"spread": 1.6}, FAILS),
        ({"replicates": 100}, UNTESTED),
        ({"carriers": (20, 10, 1)}, UNTESTED),
    ],
)
def test_normality(changes, verdict):
    assert normality(normality_fit(**changes), THRESHOLDS).verdict == verdict


def test_tilts_beyond_the_size_are_named():
    assert "Tilts 3 are not tested" in normality(normality_fit(), THRESHOLDS).why
