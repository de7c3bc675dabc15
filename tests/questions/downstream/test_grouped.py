"""Averages and rank correlations over groups: exact cases, and intervals that cover."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from attnlimit.questions.downstream.grouped import average, holm, rank_correlation, resample
from attnlimit.stats.order import correlations, resampled_ranks


def test_groups_are_drawn_whole():
    group = np.array([7, 7, 3, 9, 3])
    resampled = resample(group, 50, np.random.default_rng(1))
    assert resampled.groups == 3
    np.testing.assert_array_equal(resampled.weights[:, 0], resampled.weights[:, 1])
    np.testing.assert_array_equal(resampled.weights[:, 2], resampled.weights[:, 4])
    np.testing.assert_array_equal(resampled.weights[:, [0, 2, 3]].sum(1), 3)
    assert resampled.of(np.array([0, 2, 4])).groups == 2


def test_a_rank_correlation_in_a_draw_is_that_of_the_repeated_texts():
    stream = np.random.default_rng(2)
    x, y = stream.integers(0, 5, (2, 12)).astype(float)  # with ties
    weights = resample(np.arange(12), 20, stream).weights
    found = correlations(resampled_ranks(x, weights), resampled_ranks(y, weights), weights)
    for number, weight in zip(found, weights, strict=True):
        assert number == pytest.approx(spearmanr(np.repeat(x, weight), np.repeat(y, weight)).statistic)


def test_one_group_has_no_interval():
    estimate = average(np.arange(4.0), resample(np.zeros(4), 10, np.random.default_rng(0)))
    assert estimate.value == 1.5 and np.isnan([estimate.low, estimate.high]).all()


def test_the_interval_of_a_mean_covers_because_groups_are_resampled():
    """Twelve articles of two blocks that are alike: 95 % of intervals hold the truth; resampling blocks, fewer do."""
    stream, held = np.random.default_rng(3), np.zeros(2)
    runs, article = 200, np.repeat(np.arange(12), 2)
    for _ in range(runs):
        values = stream.normal(size=12)[article] + 0.3 * stream.normal(size=24)
        for place, group in enumerate((article, np.arange(24))):
            estimate = average(values, resample(group, 200, stream))
            held[place] += estimate.low < 0 < estimate.high
    covered, of_blocks = held / runs
    assert abs(covered - 0.95) < 4 * np.sqrt(0.95 * 0.05 / runs)
    assert of_blocks < 0.90


def test_a_planted_order_is_found_and_none_is_not():
    stream = np.random.default_rng(4)
    x, resampled = stream.normal(size=40), resample(np.repeat(np.arange(20), 2), 500, stream)
    strong, probability = rank_correlation(x, -x + 0.5 * stream.normal(size=40), resampled)
    assert strong.high < -0.5 and probability < 1e-4
    nothing, chance = rank_correlation(x, stream.normal(size=40), resampled)
    assert nothing.low < 0 < nothing.high and chance > 0.05


def test_holm_by_hand():
    """0.01 x 4, 0.02 x 3, then 0.03 x 2 = 0.06, and 0.5."""
    np.testing.assert_allclose(holm(np.array([0.03, 0.01, 0.5, 0.02])), [0.06, 0.04, 0.5, 0.06])
    np.testing.assert_allclose(holm(np.array([0.9, np.nan, 0.8])), [1, np.nan, 1])
