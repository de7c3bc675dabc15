"""Claims on the hardmax: errors of a planted law, through their summary, to the verdict."""

import numpy as np
import pytest

from attnlimit.questions.hardmax.claims import hardmax_constant, hardmax_logarithm
from attnlimit.stats.verdicts import FAILS, HOLDS, UNDECIDED
from support.claims import FROM_N, hardmax_fit, judged, proposed

LAST = 1e11


@pytest.mark.parametrize(
    ("error", "changes", "verdicts"),
    [
        (proposed, {}, (HOLDS, HOLDS)),
        (lambda n: 1.3 * proposed(n), {}, (FAILS, HOLDS)),
        (lambda n: 0.9 * proposed(LAST) * (n / LAST) ** -0.1, {}, (FAILS, FAILS)),
        (lambda n: proposed(LAST) * (np.log(n) / np.log(LAST)) ** -1, {}, (HOLDS, FAILS)),
        (proposed, {"relative": 0.2}, (UNDECIDED, UNDECIDED)),
        (proposed, {"n": np.array([10.0, 100, 1000])}, (UNDECIDED, UNDECIDED)),
        # A law that is neither a power of n nor of ln n: the better of two bad fits decides nothing.
        (lambda n: proposed(n) * (1 + 0.05 * np.sin(np.log(n))), {"relative": 0.001}, (HOLDS, UNDECIDED)),
    ],
)
def test_hardmax(error, changes, verdicts):
    data = hardmax_fit(error, **changes)
    assert (judged(hardmax_constant, data).verdict, judged(hardmax_logarithm, data).verdict) == verdicts


def test_the_exact_values_stand_beside_the_simulated_ones():
    """At n = 1e12 the exact ratio is 1.0196; its power of 1/ln n is that of the exact values."""
    data = hardmax_fit(proposed, n=10.0 ** np.arange(5, 13))
    record = judged(hardmax_constant, data)
    assert record.measured["exact"] == pytest.approx(1.0196, abs=1e-4)
    assert "exact over formula 1.0196 at n = 1,000,000,000,000, simulated 1.000" in record.in_short
    assert record.measured["simulated_less_exact_in_standard_errors"] == pytest.approx(-0.0196 / 0.002, rel=0.05)
    exact = -np.polyfit(np.log(np.log(data["n"])), np.log(data["expected"]), 1)[0]
    assert judged(hardmax_logarithm, data).measured["exact_power_of_log"] == pytest.approx(exact, abs=1e-3)


def test_the_threshold_is_not_where_the_exact_value_enters_the_tolerance():
    """That is near 14,000; corrections in 1/ln n are below a tenth from e^10 on, and this is the next power of ten."""
    assert 10 ** np.ceil(10 / np.log(10)) == FROM_N


def test_a_constant_off_by_more_than_the_power_figure_is_seen():
    record = judged(hardmax_constant, hardmax_fit(proposed))
    off = float(record.could_fail.split()[-1].rstrip("%")) / 100
    assert record.could_fail.startswith("hardly")
    assert judged(hardmax_constant, hardmax_fit(lambda n: (1 + 1.1 * off) * proposed(n))).verdict == FAILS
    assert judged(hardmax_constant, hardmax_fit(lambda n: (1 - 1.1 * off) * proposed(n))).verdict == FAILS
