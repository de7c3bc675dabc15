"""Claims on the hardmax: errors of a planted law, through their summary, to the verdict."""

import numpy as np
import pytest

from attnlimit.claims.hardmax import hardmax
from attnlimit.claims.verdicts import FAILS, HOLDS, UNTESTED
from support.claims import (
    THRESHOLDS,
    hardmax_fit,
    proposed,
)


@pytest.mark.parametrize(
    ("error", "changes", "verdicts"),
    [
        (proposed, {}, (HOLDS, HOLDS)),
        (lambda n: 1.3 * proposed(n), {}, (FAILS, HOLDS)),
        (lambda n: 0.9 * proposed(1e11) * (n / 1e11) ** -0.1, {}, (FAILS, FAILS)),
        (lambda n: proposed(1e11) * (np.log(n) / np.log(1e11)) ** -1, {}, (HOLDS, FAILS)),
        (proposed, {"relative": 0.2}, (UNTESTED, UNTESTED)),
        (proposed, {"n": np.array([10.0, 100, 1000])}, (UNTESTED, UNTESTED)),
    ],
)
def test_hardmax(error, changes, verdicts):
    assert tuple(record.verdict for record in hardmax(hardmax_fit(error, **changes), THRESHOLDS)) == verdicts
