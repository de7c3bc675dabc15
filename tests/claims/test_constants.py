"""The claim on constants: a share of draws for a power, enough radii, a range wide enough."""

import numpy as np
import pytest

from attnlimit.claims.constants import constants
from attnlimit.claims.verdicts import FAILS, HOLDS, UNTESTED, rounded
from support.claims import (
    THRESHOLDS,
    constants_fit,
)


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({}, HOLDS),
        ({"share": 0.96}, HOLDS),
        ({"share": 0.0}, FAILS),
        ({"share": 0.04}, FAILS),
        ({"share": 0.5}, UNTESTED),
        ({"radii": 3}, UNTESTED),
        ({"factor": 2.9}, UNTESTED),
        ({"radii": 0, "share": np.nan, "factor": 1.0}, UNTESTED),
    ],
)
def test_constants(changes, verdict):
    record = constants(constants_fit(**changes), THRESHOLDS)
    assert record.verdict == verdict
    rounded(record.measured)  # what is written is finite


def test_one_statistic_against_it_fails_the_claim():
    fit = constants_fit()
    fit["share_power_fits_better"][1] = 0.0
    assert constants(fit, THRESHOLDS).verdict == FAILS
