"""Tails along directions: laws whose moment generating function is known, and sums that can be merged."""

import numpy as np
import pytest

from attnlimit.base.coordinates import whole_layer
from attnlimit.base.parts import cuts
from attnlimit.questions.tails.measure import (
    both_signs,
    leading_eigenvectors,
    merge_all,
    participation_ratio,
    sub_gaussian_constant,
    tails,
    tails_of_tokens,
    tilt_directions,
    variances,
)
from attnlimit.theory.geometry import horizons

SCALES = both_signs([0.5, 1, 2, 3])
COUNT = 200_001


def quantiles(inverse):
    """A law as its COUNT quantiles: no draw, so no noise."""
    return inverse((np.arange(COUNT) + 0.5) / COUNT)[:, None]  # (token, 1)


def test_scales_have_both_signs_in_order():
    assert SCALES.tolist() == [-3, -2, -1, -0.5, 0.5, 1, 2, 3]


def test_gaussian_tokens_have_ratio_one_and_no_kurtosis():
    drawn = np.random.default_rng(0).standard_normal((COUNT, 2))
    found = tails(drawn, SCALES)
    assert np.abs(found.kurtosis).max() < 5 * np.sqrt(24 / COUNT)
    # The mean of e^{su} has relative variance (e^{s^2} - 1) / n, and log E e^{su} is divided by s^2 / 2.
    error = np.sqrt(np.expm1(SCALES**2) / COUNT) / (SCALES**2 / 2)
    assert (np.abs(found.log_mgf_ratio(SCALES) - 1) < 5 * error)[:, np.abs(SCALES) < 3].all()
    expected = COUNT * np.exp(-(SCALES**2))  # (E e^{su})^2 / E e^{2su} = e^{-s^2}
    near = np.abs(SCALES) <= 1
    np.testing.assert_allclose(found.effective_tokens[:, near], np.tile(expected[near], (2, 1)), rtol=0.05)


def test_two_points_have_the_closed_form():
    """u = -1 or 1: E e^{su} = cosh s, kurtosis -2, effective share cosh(s)^2 / cosh(2s)."""
    found = tails(np.array([[-1.0], [1.0]] * 50), SCALES)
    np.testing.assert_allclose(found.log_mgf_ratio(SCALES)[0], 2 * np.log(np.cosh(SCALES)) / SCALES**2, rtol=1e-14)
    np.testing.assert_allclose(found.effective_tokens[0], 100 * np.cosh(SCALES) ** 2 / np.cosh(2 * SCALES), rtol=1e-13)
    assert found.kurtosis == pytest.approx([-2])


def test_uniform_tokens_have_the_closed_form():
    width = np.sqrt(3)
    found = tails(quantiles(lambda q: width * (2 * q - 1)), SCALES)
    exact = np.log(np.sinh(width * SCALES) / (width * SCALES)) / (SCALES**2 / 2)
    np.testing.assert_allclose(found.log_mgf_ratio(SCALES)[0], exact, rtol=1e-8)
    assert found.kurtosis == pytest.approx([-1.2], abs=1e-8)


def test_laplace_tokens_are_heavier_than_gaussian():
    """Variance 1: E e^{su} = 1 / (1 - s^2 / 2), finite for s < sqrt 2 only; kurtosis 3."""
    found = tails(quantiles(lambda q: -np.sign(q - 0.5) * np.log(2 * np.minimum(q, 1 - q)) / np.sqrt(2)), SCALES)
    ratio = found.log_mgf_ratio(SCALES)[0]
    near = np.abs(SCALES) < 1  # closer to sqrt 2 the tail beyond the last quantile counts
    exact = -np.log1p(-(SCALES[near] ** 2) / 2) / (SCALES[near] ** 2 / 2)
    np.testing.assert_allclose(ratio[near], exact, rtol=2e-3)
    assert ratio.min() > 1
    assert found.kurtosis == pytest.approx([3], rel=0.01)
    assert found.effective_tokens[0, -1] < 30  # at s = 3 a few tokens out of 200,001 make the mean


def test_effective_tokens_by_the_direct_formula():
    u = np.random.default_rng(1).normal(size=(40, 3))
    weights = np.exp(SCALES * u[..., None])  # (token, direction, scale)
    direct = weights.sum(0) ** 2 / (weights**2).sum(0)
    np.testing.assert_allclose(tails(u, SCALES).effective_tokens, direct, rtol=1e-12)


def test_blocks_merge_to_the_whole_and_do_not_overflow():
    u = np.random.default_rng(2).normal(size=(1000, 2)) * [1, 400]  # e^{3 * 1000} is no float64
    whole, merged = tails(u, SCALES), merge_all(tails(u[cut], SCALES) for cut in cuts(1000, 64))
    for one, other in zip(whole, merged, strict=True):
        assert np.isfinite(one).all()
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_variance_along_a_tilt_is_the_square_of_its_singular_value():
    rng = np.random.default_rng(3)
    tokens = rng.normal(size=(500, 6)) @ rng.normal(size=(6, 6))
    covariance, tilt = np.cov(tokens.T, bias=True), rng.normal(size=(6, 6))
    directions = tilt_directions(covariance, tilt, 4)
    root = np.linalg.cholesky(covariance)  # another root, the same singular values
    sigma = np.linalg.svd(root.T @ tilt @ root)[1][:4]
    np.testing.assert_allclose(variances(covariance, directions), sigma**2, rtol=1e-10)
    np.testing.assert_allclose((tokens @ directions.T).var(0), sigma**2, rtol=1e-10)
    assert sigma[0] == pytest.approx(horizons(covariance, tilt)["horizon"], rel=1e-12)
    # Distinct modes see uncorrelated projections, so that sum_k sigma_k^2 is all of Var <A S z, X>.
    assert np.abs(np.corrcoef((tokens @ directions.T).T) - np.eye(4)).max() < 1e-10


def test_leading_eigenvectors_come_largest_first_with_a_fixed_sign():
    covariance = np.diag([1.0, 9.0, 4.0])
    np.testing.assert_allclose(leading_eigenvectors(covariance, 2), [[0, 1, 0], [0, 0, 1]])
    np.testing.assert_allclose(variances(covariance, leading_eigenvectors(covariance, 2)), [9, 4])


def test_directions_without_tokens_are_refused_by_the_config_key():
    tilt = np.outer([1.0, 2.0, 0.5], [1.0, 0.0, 1.0])  # rank 1
    with pytest.raises(ValueError, match=r"config: measure_tails.directions: the tokens vary along 1 only"):
        variances(np.eye(3), tilt_directions(np.eye(3), tilt, 2))


def test_constant_is_the_largest_credible_ratio():
    ratio = np.array([[[0.9, 1.2, 5.0], [1.1, 1.3, 0.8]], [[2.0, 3.0, 4.0], [2.0, 3.0, 4.0]]])
    effective = np.array([[[500, 60, 2], [500, 50, 60]], [[1, 1, 1], [1, 1, 1]]])
    np.testing.assert_array_equal(sub_gaussian_constant(ratio, effective, 50), [1.3, np.nan])


def test_effective_rank():
    assert participation_ratio(np.ones(7)) == pytest.approx(7)
    assert participation_ratio(np.array([5.0, 0, 0])) == pytest.approx(1)


def test_the_tails_of_tokens_by_the_plain_formulas():
    """Two heads and the covariance itself, the tokens in unequal blocks."""
    rng = np.random.default_rng(4)
    tokens = rng.normal(size=(400, 5)) ** 3 @ rng.normal(size=(5, 5)) + 1
    mean, covariance = tokens.mean(0), np.cov(tokens.T, bias=True)
    matrices = rng.normal(size=(2, 5, 5))
    blocks = (tokens[cut] for cut in (slice(0, 90), slice(90, 100), slice(100, None)))
    found = tails_of_tokens(blocks, mean, covariance, matrices, 2, [0.5, 1], enough=50)
    assert found["log_mgf_ratio"].dims == ("head", "direction", "scale")
    assert found["log_mgf_ratio"].shape == (3, 2, 4)
    np.testing.assert_allclose(found["eigenvalues"], np.linalg.eigvalsh(covariance)[::-1], rtol=1e-10)
    families = [(found.sel(head=head), tilt_directions(covariance, matrices[head], 2)) for head in range(2)]
    for family, directions in [*families, (whole_layer(found), leading_eigenvectors(covariance, 2))]:
        along = (tokens - mean) @ directions.T  # (token, direction)
        u = along / along.std(0)
        np.testing.assert_allclose(family["variance"], along.var(0), rtol=1e-10)
        np.testing.assert_allclose(family["kurtosis"], (u**4).mean(0) - 3, rtol=1e-9)
        for scale in found["scale"].values:
            weights = np.exp(scale * u)
            here = family.sel(scale=scale)
            np.testing.assert_allclose(here["log_mgf_ratio"], np.log(weights.mean(0)) / (scale**2 / 2), rtol=1e-9)
            effective = weights.sum(0) ** 2 / (weights**2).sum(0)
            np.testing.assert_allclose(here["effective_tokens"], effective, rtol=1e-9)
        ratio, carried = family["log_mgf_ratio"].values, family["effective_tokens"].values
        assert family["sub_gaussian"] == sub_gaussian_constant(ratio, carried, 50)
