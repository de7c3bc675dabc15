"""The claim on the hardmax: planted expectations and draws, through their summary, to the verdict."""

import numpy as np
import pytest

from attnlimit.questions.hardmax.claims import hardmax_logarithm
from attnlimit.stats.verdicts import FAILS, HOLDS, UNDECIDED, rounded
from attnlimit.theory.hardmax import hardmax_error, hardmax_proposition
from support.claims import hardmax_fit, judged


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({}, HOLDS),
        ({"expectation": hardmax_proposition}, HOLDS),
        ({"expectation": lambda log_n, sigma: 1.3 * hardmax_error(log_n, sigma)}, FAILS),  # another constant
        ({"expectation": lambda log_n, sigma: hardmax_error(log_n, sigma) * log_n**-0.1}, FAILS),  # another power
        ({"expectation": lambda log_n, sigma: hardmax_error(log_n, sigma) * np.exp(-1e-4 * log_n)}, FAILS),  # one of n
        ({"expectation": lambda log_n, sigma: 0.3 * np.exp(-1e-4 * log_n)}, FAILS),
        ({"drawn": lambda log_n: 1.1 * hardmax_error(log_n, 1.0)}, FAILS),  # draws that the expectation is not of
        ({"drawn": lambda log_n: 1.1 * hardmax_error(log_n, 1.0), "relative": 0.1}, UNDECIDED),
        ({"relative": 0.2}, UNDECIDED),
    ],
)
def test_hardmax_logarithm(changes, verdict):
    record = judged(hardmax_logarithm, hardmax_fit(**changes))
    assert record.verdict == verdict, record.in_short
    assert (record.p < 0.05) == (verdict != UNDECIDED)
    rounded(record.measured)  # what is written is finite


def test_the_exact_numbers_are_told():
    record = judged(hardmax_logarithm, hardmax_fit())
    assert record.measured["power_of_log"] == pytest.approx(0.5, abs=1e-5)
    assert record.measured["over_formula"] == pytest.approx(1, abs=1e-5)
    assert record.measured["power_of_n"] < 1e-6
