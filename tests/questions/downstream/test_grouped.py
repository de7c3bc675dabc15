"""Averages over groups: exact cases, and intervals that cover."""

import numpy as np

from attnlimit.questions.downstream.grouped import average, resample


def test_groups_are_drawn_whole():
    group = np.array([7, 7, 3, 9, 3])
    resampled = resample(group, 50, np.random.default_rng(1))
    assert resampled.groups == 3
    np.testing.assert_array_equal(resampled.weights[:, 0], resampled.weights[:, 1])
    np.testing.assert_array_equal(resampled.weights[:, 2], resampled.weights[:, 4])
    np.testing.assert_array_equal(resampled.weights[:, [0, 2, 3]].sum(1), 3)


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
