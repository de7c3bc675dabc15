"""The claim on the downstream task, tried on truths that hold, fail, and decide nothing."""

import numpy as np
import pytest
import xarray as xr

from attnlimit.questions.downstream.claims import downstream_rate
from attnlimit.questions.downstream.power import POWER, fitted, planted
from attnlimit.stats.verdicts import FAILS, HOLDS, UNDECIDED, rounded
from support.claims import judged


def downstream_fit(**changes) -> xr.Dataset:
    return fitted(planted(**changes), np.random.default_rng(1))


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({}, HOLDS),
        ({"rate": 0.4}, FAILS),
        ({"rate": 0.455}, UNDECIDED),  # the interval lies across 0.45
        ({"rate": 0.4, "bend": 0.25}, FAILS),  # about 1/2 on the whole, and no power of n
        ({"articles": 4}, UNDECIDED),
    ],
)
def test_the_rate_is_a_half_and_straight_or_not(changes, verdict):
    record = judged(downstream_rate, downstream_fit(**changes))
    assert record.verdict == verdict, record.in_short
    assert (record.p <= 0.05) == (verdict != UNDECIDED)
    rounded(record._asdict())  # every number is finite


def test_a_bend_alone_fails_the_rate():
    record = judged(downstream_rate, downstream_fit(rate=0.4, bend=0.25))
    assert record.measured["low"] > 0.45 and record.measured["high"] < 0.55 and record.measured["bend_low"] > 0.1


def test_planted_truths_are_told_apart():
    """One draw of each, as `make power` makes them."""
    make = POWER["downstream_rate"][1]
    found = [judged(downstream_rate, *make(truth, np.random.default_rng(1)).values()) for truth in (True, False)]
    assert [record.verdict for record in found] == [HOLDS, FAILS]


def test_a_subset_of_the_keys_is_told():
    assert "without replacement" in judged(downstream_rate, downstream_fit().assign_attrs(replacement=False)).why
