"""The claim on random keys: planted rates, too few heads or blocks, one head off, and what the power figure says."""

import numpy as np
import pytest

from attnlimit.questions.patterns.claims import patterns_random_rate
from attnlimit.questions.patterns.power import POWER, planted
from attnlimit.stats.verdicts import FAILS, HOLDS, UNDECIDED, rounded
from support.claims import judged


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({}, HOLDS),
        ({"beta": 0.52}, HOLDS),
        ({"beta": 0.4}, FAILS),
        ({"beta": 0.6}, FAILS),
        ({"off": 0.4}, FAILS),  # one head is enough
        ({"off": 0.44, "half": 0.008}, HOLDS),  # off at 95 %, but not as one of ten: nine hold
        ({"half": 0.045}, UNDECIDED),
        ({"tested": 5}, UNDECIDED),
        ({"blocks": 4}, UNDECIDED),
        ({"tested": 0}, UNDECIDED),
    ],
)
def test_random_rate(changes, verdict):
    record = judged(patterns_random_rate, planted(**changes))
    assert record.verdict == verdict
    rounded(record._asdict())  # every number is finite


def test_many_heads_ask_for_more():
    """A head 0.44 [0.433, 0.447] is off by itself, and as one of three it would be; of 24 heads one such is chance."""
    few = judged(patterns_random_rate, planted(off=0.44, half=0.0075, tested=6))
    assert few.measured["failing"] == [] and few.verdict == HOLDS
    many = judged(patterns_random_rate, planted(off=0.44, half=0.0035, tested=24))
    assert many.measured["failing"] == ["0.0"] and many.verdict == FAILS


def test_planted_truths_are_told_apart():
    """One draw of each, as `make power` makes them."""
    make = POWER["patterns_random_rate"][1]
    found = [judged(patterns_random_rate, *make(truth, np.random.default_rng(1)).values()) for truth in (True, False)]
    assert [record.verdict for record in found] == [HOLDS, FAILS]


def test_heads_that_are_off_are_named_and_so_is_what_happens_within_the_block():
    record = judged(patterns_random_rate, planted(off=0.3))
    assert record.measured["failing"] == ["0.0"] and "Off (layer.head): 0.0." in record.why
    assert "theory asks for 1/2 in 10 of 24 heads only, and the rate is 0.40" in record.why


def test_what_the_power_figure_says_fails():
    record = judged(patterns_random_rate, planted())
    off = float(record.could_fail.split("a rate ")[1].split(" off")[0])
    assert judged(patterns_random_rate, planted(off=0.5 - 1.02 * off)).verdict == FAILS
    assert judged(patterns_random_rate, planted(off=0.5 - 0.9 * off)).verdict != FAILS


def test_without_the_pattern_nothing_is_tested():
    rates = planted().drop_vars(["late_beta", "late_beta_low", "late_beta_high"])
    record = judged(patterns_random_rate, rates)
    assert record.verdict == UNDECIDED and "pattern random was not measured" in record.in_short
