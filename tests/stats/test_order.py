"""Rank correlations against scipy."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from attnlimit.stats.order import rank_correlations


def test_each_row_is_spearmans_ties_included():
    one, other = np.random.default_rng(0).integers(0, 20, size=(2, 5, 72)).astype(float)
    expected = [spearmanr(*pair).statistic for pair in zip(one, other, strict=True)]
    assert rank_correlations(one, other) == pytest.approx(expected)


def test_what_does_not_vary_has_no_correlation():
    assert np.isnan(rank_correlations(np.ones(5), np.arange(5)))
