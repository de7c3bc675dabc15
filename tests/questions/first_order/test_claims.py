"""The claim on first order: shares made to hold, to fail, and to decide nothing."""

import numpy as np
import pytest

from attnlimit.questions.first_order.claims import first_order_predicts
from attnlimit.questions.first_order.power import planted
from attnlimit.stats.verdicts import FAILS, HOLDS, UNDECIDED
from support.claims import judged


def first_order_fit(ratios, noise=0.02, few=0):
    return planted(ratios, np.random.default_rng(3), noise, few)


@pytest.mark.parametrize(
    ("ratios", "noise", "verdict"),
    [
        ([1.0], 0.02, HOLDS),
        ([1.0] * 9 + [1.3], 0.02, HOLDS),  # nine of ten
        ([1.0] * 8 + [1.3] * 4, 0.02, FAILS),  # two of three
        ([1.2], 0.02, FAILS),
        ([0.8], 0.02, FAILS),
        ([1.1, 0.9, 1.0, 1.0, 1.0], 0.02, UNDECIDED),  # two of five on the edge
        ([1.0] * 9 + [1.3], 0.2, UNDECIDED),  # noise alone moves heads out of the band: it fails nothing
    ],
)
def test_first_order_predicts(ratios, noise, verdict):
    finding = judged(first_order_predicts, first_order_fit(ratios, noise))
    assert finding.verdict == verdict
    assert (0 < finding.p < 0.05) == (verdict != UNDECIDED)


def test_heads_are_told_apart():
    measured = judged(first_order_predicts, first_order_fit([1.0] * 5 + [1.3], few=2)).measured
    assert measured["heads"] == 70 and measured["on_few_tokens"] == 2
    assert measured["interval_outside"] == 12 and measured["interval_within"] <= 58
    assert measured["share"] == pytest.approx(58 / 70) and measured["high"] >= 58 / 70 - 1e-9


def test_heads_on_few_tokens_decide_nothing():
    finding = judged(first_order_predicts, first_order_fit([1.0], few=40))
    assert finding.verdict == UNDECIDED and "only 32 of 72 heads" in finding.in_short


def test_the_power_that_is_told_is_there():
    """A share that is told to hold holds."""
    words = judged(first_order_predicts, first_order_fit([1.0] * 9 + [1.3])).could_fail
    above = float(words.split("above ")[1].split(" ")[0])
    right = int(np.ceil(72 * above)) + 1
    assert judged(first_order_predicts, first_order_fit([1.0] * right + [1.3] * (72 - right))).verdict == HOLDS
