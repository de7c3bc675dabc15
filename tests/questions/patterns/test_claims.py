"""Claims on sparse attention: planted rates and scores, too few heads or blocks, and what the power figures say."""

import numpy as np
import pytest
import xarray as xr

from attnlimit.questions.patterns.claims import patterns_random_rate, patterns_top_law
from attnlimit.questions.patterns.power import POWER, planted, planted_scores
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


@pytest.mark.parametrize("claim", [patterns_random_rate, patterns_top_law])
def test_planted_truths_are_told_apart(claim):
    """One draw of each, as `make power` makes them."""
    make = POWER[claim.id][1]
    found = [judged(claim, *make(truth, np.random.default_rng(1)).values()) for truth in (True, False)]
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


def of_ratios(ratios: list[float], half: float = 0.02, blocks: int = 10) -> xr.Dataset:
    """Heads with these ratios of keys by the law to keys measured, and relative half-intervals; NaN: not asked."""
    value = np.array(ratios)[None, None]
    dims = ("delta", "layer", "head")
    ends = {"": value, "_low": value / (1 + half), "_high": value * (1 + half)}
    data = {f"gaussian_ratio{end}": (dims, part) for end, part in ends.items()}
    data |= {"keys_needed": (dims, 0.5 / value), "keys_gaussian": (dims, np.full(value.shape, 0.5))}
    return xr.Dataset(data, {"delta": [0.05], "layer": [0], "head": range(len(ratios))}, {"blocks": blocks})


@pytest.mark.parametrize(
    ("ratios", "changes", "verdict"),
    [
        ([1.0] * 10, {}, HOLDS),
        ([0.95, 1.05] * 5, {}, HOLDS),
        ([1.0] * 8 + [1.5, 0.6], {}, HOLDS),  # eight of ten are enough
        ([1.0] * 7 + [1.5, 0.6, 0.8], {}, FAILS),  # and seven are not
        ([1.3] * 10, {}, FAILS),
        ([1.0] * 7 + [1.5, 0.6, 1.1], {}, UNDECIDED),
        ([1.0] * 10, {"half": 0.15}, UNDECIDED),
        ([1.0] * 10 + [np.nan] * 60, {}, HOLDS),  # of the heads that are asked
        ([1.0] * 5 + [np.nan] * 5, {}, UNDECIDED),
        ([1.0] * 10, {"blocks": 4}, UNDECIDED),
    ],
)
def test_top_law(ratios, changes, verdict):
    finding = judged(patterns_top_law, of_ratios(ratios, **changes))
    assert finding.verdict == verdict and (finding.p <= 0.05) == (verdict != UNDECIDED)
    rounded(finding._asdict())


def test_scores_of_too_few_keys_are_not_asked():
    """At s = 2.2, 10 exp(s^2) is 1,265 keys."""
    stream = np.random.default_rng(2)
    assert judged(patterns_top_law, planted_scores("normal", stream, (2.2, 2.3))).measured["tested"] == 0
    assert judged(patterns_top_law, planted_scores("normal", stream, (2.2, 2.3), length=2048)).verdict == HOLDS


def test_what_the_top_law_says_would_fail_it_does():
    needed = int(judged(patterns_top_law, of_ratios([1.0] * 20)).could_fail.split()[1])
    assert judged(patterns_top_law, of_ratios([1.3] * needed + [1.0] * (20 - needed))).verdict == FAILS
    assert judged(patterns_top_law, of_ratios([1.3] * (needed - 1) + [1.0] * (21 - needed))).verdict != FAILS


def test_without_the_largest_scores_their_law_is_not_tested():
    finding = judged(patterns_top_law, of_ratios([1.0]).drop_vars("gaussian_ratio"))
    assert finding.verdict == UNDECIDED and "pattern top was not measured" in finding.in_short
