"""Hardmax attention: drawing only the extremes has the law of drawing all tokens, and the exact mean."""

import numpy as np
import pytest
from scipy.special import erfc
from scipy.stats import ks_2samp, kstest

from attnlimit.questions.hardmax.measure import direct, draw_maxima, line, nested_means, plane
from attnlimit.theory.bounds import heuristic_power
from attnlimit.theory.hardmax import hardmax_expected_error, hardmax_proposition


def all_drawn(n, dimension, replicates, seed):
    """||mean_n|| the plain way."""
    rng, errors = np.random.default_rng([seed, n]), []
    for _ in range(replicates):
        tokens = rng.normal(size=(n, dimension))
        errors.append(np.linalg.norm(tokens[(tokens @ tokens.T).argmax(1)].mean(0)))
    return np.array(errors)


@pytest.mark.parametrize("k", [1, 2, 7, 60])
def test_maxima_have_the_law_of_maxima_of_draws(k):
    rng = np.random.default_rng([1, k])
    drawn = np.abs(rng.normal(size=(20_000, k))).max(1)
    found = draw_maxima(np.full(20_000, k), np.random.default_rng([2, k]))
    assert ks_2samp(found, drawn).pvalue > 1e-3
    off = draw_maxima(np.full(20_000, k + 1 + k // 10), np.random.default_rng([2, k]))
    assert ks_2samp(off, drawn).pvalue < 1e-6  # the check tells a tenth more draws apart


def test_maxima_of_many_are_not_lost_to_rounding():
    """P(M <= x) = (1 - erfc)^k makes -k log(1 - erfc) exponential, also where erf itself is 1 in float64."""
    found = draw_maxima(np.full(10_000, 10**12), np.random.default_rng(3))
    transformed = -(10**12) * np.log1p(-erfc(found / np.sqrt(2)))
    assert kstest(transformed, "expon").pvalue > 1e-3
    assert len(np.unique(found)) == 10_000


@pytest.mark.parametrize("n", [3, 20, 300])
def test_line_has_the_law_of_all_tokens_drawn(n):
    assert ks_2samp(line([n], 4000, seed=4)[0], all_drawn(n, 1, 1500, seed=5)).pvalue > 1e-3


@pytest.mark.parametrize("n", [5, 40, 600])
def test_plane_has_the_law_of_all_tokens_drawn(n):
    """Of 600 tokens only about half are drawn one by one; the others enter as counts in the cones of the hull."""
    assert ks_2samp(plane([n], 800, seed=6)[0], all_drawn(n, 2, 800, seed=7)).pvalue > 1e-3


@pytest.mark.parametrize("n", [10**2, 10**5, 10**9, 10**12])
def test_line_has_the_exact_mean(n):
    errors = line([n], 40_000, seed=8)[0]
    assert abs(errors.mean() - hardmax_expected_error(n, 1.0)) < 4 * errors.std() / np.sqrt(len(errors))


def test_exact_over_proposition():
    ratios = [
        hardmax_expected_error(n, 2.0) / hardmax_proposition(np.log(n), 2.0) for n in (10**2, 10**3, 10**4, 10**5)
    ]
    assert ratios == pytest.approx([1.44, 1.145, 1.055, 1.035], abs=2.5e-3)


def test_plane_falls_like_the_three_quarter_power_of_the_logarithm():
    """The heuristic of d = 2 from 1e6 to 1e12, against the power 1/2 of d = 1."""
    sizes = [10**6, 10**12]
    errors = plane(sizes, 1500, seed=9)
    fall = np.log(errors[0].mean() / errors[1].mean())
    se = np.sqrt(((errors.std(1) / errors.mean(1)) ** 2).sum() / errors.shape[1])
    power, power_se = fall / np.log(2), se / np.log(2)  # ln 1e12 = 2 ln 1e6
    assert abs(power - heuristic_power(2)) < 4 * power_se
    assert abs(power - heuristic_power(1)) > 4 * power_se


@pytest.mark.parametrize("dimension", [1, 3])
def test_nested_means_are_those_of_each_size(dimension):
    tokens = np.random.default_rng(10).normal(size=(50, dimension))
    for size, found in zip([4, 17, 50], nested_means(tokens, [4, 17, 50]), strict=True):
        first = tokens[:size]
        np.testing.assert_allclose(found, first[(first @ first.T).argmax(1)].mean(0), rtol=1e-12)


def test_other_sizes_dimensions_and_replicates_change_no_number():
    for simulate in (line, plane):
        many, few = simulate([10, 100, 10**7], 30, seed=11), simulate([10, 10**7], 20, seed=11)
        np.testing.assert_array_equal(many[[0, 2], :20], few)
    many, few = direct([2, 3, 5], [8, 16, 32], 6, seed=11), direct([2, 5], [8, 32], 4, seed=11)
    np.testing.assert_allclose(many[[0, 2]][:, [0, 2], :4], few, rtol=1e-12)
    assert not np.isclose(line([10], 5, seed=11), line([10], 5, seed=12)).any()
