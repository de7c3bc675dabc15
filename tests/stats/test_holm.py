"""Probabilities of verdicts, and Holm's correction over a family of them."""

import numpy as np
import pytest
from scipy import stats

from attnlimit.stats.verdicts import UNDECIDED, chance, chance_words, decide, holm


@pytest.mark.parametrize("value", np.linspace(-1, 2, 31))
@pytest.mark.parametrize("bounds", [(0.0, np.inf), (-np.inf, 1.0), (0.0, 1.0)])
def test_a_decision_is_one_at_five_per_cent(value, bounds):
    low, high = value - 0.173, value + 0.219
    assert (decide(low, high, *bounds) == UNDECIDED) == (chance(value, low, high, *bounds) > 0.05)


def test_two_half_intervals_from_the_edge_are_four_standard_errors():
    assert chance(1.0, 0.5, 1.5, least=0.0) == pytest.approx(8.857e-5, rel=1e-3)


def test_an_exact_number_decides_for_sure():
    assert chance(1.0, 1.0, 1.0, least=0.5) == 0


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_of_true_hypotheses_any_is_rejected_in_five_per_cent_of_families():
    stream = np.random.default_rng(3)
    families = stream.uniform(size=(4000, 10))
    share = np.mean([min(holm(list(family))) <= 0.05 for family in families])
    assert share == pytest.approx(0.05, abs=0.012)


@pytest.mark.parametrize("freedom", [1, 5])
def test_few_items_have_students_tails(freedom):
    """A mean with its usual interval and t-test: the probability is that test's."""
    items = np.random.default_rng(3).normal(0.8, 1, freedom + 1)
    half = stats.t.ppf(0.975, freedom) * items.std(ddof=1) / np.sqrt(len(items))
    expected = stats.ttest_1samp(items, 0.1).pvalue
    mean = items.mean()
    assert chance(mean, mean - half, mean + half, least=0.1, freedom=freedom) == pytest.approx(expected)


def test_a_chance_in_words():
    assert [chance_words(p) for p in (None, 0.0, 1e-44, 0.0012)] == ["–", "exact", "below 1e-06", "0.001"]
