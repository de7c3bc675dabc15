"""Claims on the largest error: suprema of a planted rate and growth, through their fit, to the verdict."""

import numpy as np
import pytest

from attnlimit.claims.uniform import growth_findings, uniform_growth, uniform_rate
from attnlimit.claims.verdicts import FAILS, HOLDS, UNTESTED
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
    ("constant", "changes", "verdicts"),
    [
        (lambda r: np.exp(2 * r), {}, (HOLDS, HOLDS)),
        (lambda r: np.exp(r**2), {}, (HOLDS, FAILS)),
        (lambda r: (1 + r) ** 3, {}, (FAILS, HOLDS)),
        (lambda r: r**2, {}, (FAILS, HOLDS)),
        (lambda r: np.exp(-r), {}, (FAILS, FAILS)),
        (np.exp, {"carriers": 10}, (UNTESTED, UNTESTED)),
    ],
)
def test_growth_of_the_uniform_constant(constant, changes, verdicts):
    changed = growth_findings(uniform(constant, **changes), THRESHOLDS)
    assert tuple(record.verdict for record in uniform_growth(changed, THRESHOLDS)) == verdicts
