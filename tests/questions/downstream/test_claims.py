"""Claims on the downstream task, tried on truths that hold, fail, and decide nothing."""

import pytest

from attnlimit.questions.downstream.claims import downstream_horizon, downstream_rate
from attnlimit.stats.verdicts import FAILS, HOLDS, UNDECIDED, rounded
from support.claims import judged
from support.downstream import downstream_fit


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
    rounded(record._asdict())  # every number is finite


def test_a_bend_alone_fails_the_rate():
    record = judged(downstream_rate, downstream_fit(rate=0.4, bend=0.25))
    assert record.measured["low"] > 0.45 and record.measured["high"] < 0.55 and record.measured["bend_low"] > 0.1


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({"fall": 0.1}, HOLDS),
        ({"fall": -0.1}, FAILS),  # larger horizons converge faster
        ({"spread": 0.1, "noise": 0.02, "articles": 60}, FAILS),  # rates differ, and not by the horizon
        ({"noise": 1.0}, UNDECIDED),  # rates that are mostly noise of the draws
        ({"fall": 0.1, "articles": 4}, UNDECIDED),
    ],
)
def test_horizons_order_the_texts_or_not(changes, verdict):
    record = judged(downstream_horizon, downstream_fit(**changes))
    assert record.verdict == verdict, record.in_short
    rounded(record._asdict())


def test_only_horizons_that_differ_can_fail_it():
    """The same rates without order: over H from 1 to 3 that fails the claim, over H near 12 it decides nothing."""
    apart = downstream_fit(spread=0.1, noise=0.02, articles=60)
    alike = apart.assign(text_horizon=12 + 0.1 * apart["text_horizon"])
    assert judged(downstream_horizon, apart).verdict == FAILS
    record = judged(downstream_horizon, alike)
    assert record.verdict == UNDECIDED and record.measured["visible"] < 0.01 and "too alike" in record.could_fail


def test_what_was_not_declared_is_listed_with_its_correction():
    measured = judged(downstream_horizon, downstream_fit(fall=0.1)).measured
    assert len(measured["others"]) == 11 and "rate, largest" not in measured["others"]
    assert measured["others_seen"] == sum(each["p_holm"] < 0.05 for each in measured["others"].values()) > 0


def test_a_subset_of_the_keys_is_told():
    assert "without replacement" in judged(downstream_rate, downstream_fit().assign_attrs(replacement=False)).why
