"""Horizons by hand, and what must hold between them."""

import numpy as np
import pytest

from attnlimit.theory.geometry import (
    constant_tilt,
    horizon_published,
    horizons,
    seen_variance,
    square_root,
    tilt_bias,
    tilt_matrix,
    value_variance,
)
from attnlimit.theory.projected import couplings


def test_square_root_of_a_singular_covariance_is_exact():
    factor = np.random.default_rng(0).normal(size=(5, 2))
    covariance = factor @ factor.T  # rank 2 of 5
    root = square_root(covariance)
    np.testing.assert_allclose(root @ root, covariance, atol=1e-12)
    np.testing.assert_allclose(root, root.T, atol=1e-13)


def test_the_softmax_scale_belongs_to_the_tilt():
    rng = np.random.default_rng(1)
    query, key = rng.normal(size=(2, 9, 4))
    x, y = rng.normal(size=(2, 4))
    assert y @ tilt_matrix(query, key) @ x == pytest.approx((query @ x) @ (key @ y) / 3)


def test_horizons_by_hand():
    """Sigma = diag(4, 1), A = [[0, 3], [0, 0]]: S A S = [[0, 6], [0, 0]], S A = [[0, 6], [0, 0]]; tilts along e1."""
    found = horizons(np.diag([4.0, 1.0]), np.array([[0.0, 3.0], [0.0, 0.0]]))
    by_hand = {"horizon": 6, "horizon_one_sided": 6, "psi": 144, "horizon_frobenius": 6, "seen_variance": 4}
    assert found == pytest.approx(by_hand)


@pytest.mark.parametrize(
    ("tilt", "variance"),
    [
        (np.diag([0.0, 2.0, 0.1]), 4.0),  # e2 and e3 of variances 9, 4, 1
        (np.outer([0, 0, 1.0], [1.0, 0, 0]), 1.0),  # tilts along e3, whatever the queries
        (np.outer([1.0, 1.0, 0], [0, 0, 5.0]), 6.5),  # along (1, 1, 0) / sqrt 2
        (np.diag([1e-17, 1.0, 1e-3]), 4.0),  # the first is rounding
        (np.zeros((3, 3)), 0.0),
    ],
)
def test_variance_along_the_image_of_the_tilt(tilt, variance):
    assert seen_variance(np.diag([9.0, 4.0, 1.0]), tilt) == pytest.approx(variance, rel=1e-12)
    assert seen_variance(np.diag([9.0, 4.0, 1.0]), 100 * tilt) == pytest.approx(variance, rel=1e-12)


def test_a_head_sees_the_rows_of_its_key_weights():
    """The image of W_k^T W_q of rank 3 in 12 features: P = W_k^+ W_k; one rank more would see other directions."""
    rng = np.random.default_rng(8)
    (query, key), factor = rng.normal(size=(2, 3, 12)), rng.normal(size=(12, 12))
    covariance, tilt = factor @ factor.T, tilt_matrix(query, key)
    projector = np.linalg.pinv(key) @ key
    expected = np.linalg.norm(projector @ covariance @ projector, 2)
    assert seen_variance(covariance, tilt) == pytest.approx(expected, rel=1e-9)
    assert seen_variance(covariance, tilt) < 0.9 * np.linalg.norm(covariance, 2)
    assert horizons(covariance, tilt)["horizon_one_sided"] ** 2 <= expected * np.linalg.norm(tilt, 2) ** 2


def test_horizon_squared_is_at_most_psi_and_equal_for_isotropic_tokens():
    rng = np.random.default_rng(2)
    factor, tilt = rng.normal(size=(2, 6, 6))
    found = horizons(factor @ factor.T, tilt)
    assert found["horizon"] ** 2 <= found["psi"]
    isotropic = horizons(0.7 * np.eye(6), tilt)
    assert isotropic["horizon"] ** 2 == pytest.approx(isotropic["psi"], rel=1e-12)


def test_tokens_in_a_subspace_see_only_the_tilt_there():
    covariance = np.diag([1.0, 1.0, 0.0])
    found = horizons(covariance, np.diag([0.5, 2.0, 100.0]))
    assert found["horizon"] == pytest.approx(2.0)
    assert found["horizon_frobenius"] == pytest.approx(np.hypot(0.5, 2.0))


def test_published_horizon_joins_the_heads_and_leaves_out_the_scale():
    query, key = np.zeros((2, 2, 1, 2))
    query[0, 0], key[0, 0] = [1, 0], [1, 0]
    query[1, 0], key[1, 0] = [0, 3], [0, 1]
    found = horizon_published(np.eye(2), query, key)
    assert found == pytest.approx(3 * (1 + 1e-6), rel=1e-12)


def test_the_constant_tilt_is_the_spread_of_the_mean_tokens_scores():
    rng = np.random.default_rng(4)
    tokens = rng.normal(size=(60, 5)) @ rng.normal(size=(5, 5)) + 2
    query_weight, key_weight, query_bias = rng.normal(size=(3, 5)), rng.normal(size=(3, 5)), rng.normal(size=3)
    mean = tokens.mean(0)
    scores = (query_weight @ mean + query_bias) @ (tokens @ key_weight.T).T / np.sqrt(3)  # of the mean token
    tilt, bias = tilt_matrix(query_weight, key_weight), tilt_bias(query_bias, key_weight)
    found = constant_tilt(mean, np.cov(tokens.T, bias=True), tilt, bias)
    assert found == pytest.approx(scores.std(), rel=1e-10)


def test_value_variance_is_the_trace_of_the_value_covariance_of_each_head():
    rng = np.random.default_rng(3)
    values, tokens = rng.normal(size=(3, 2, 4)), rng.normal(size=(50, 4)) @ rng.normal(size=(4, 4))
    drawn = value_variance(values, np.cov(tokens.T, bias=True))  # (head,)
    expected = [(tokens @ value.T).var(0).sum() for value in values]
    np.testing.assert_allclose(drawn, expected, rtol=1e-12)


def test_horizon_and_constant_tilt_need_only_the_moments_of_queries_and_keys():
    """H = ||C_q^1/2 C_k^1/2||/sqrt(width) is ||S A S||, s0 = |C_k^1/2 E q|/sqrt(width) is |S (A m + b)|."""
    rng = np.random.default_rng(5)
    tokens = rng.normal(size=(200, 7)) @ rng.normal(size=(7, 7)) + rng.normal(size=7)
    (query_weight, key_weight), (query_bias, key_bias) = rng.normal(size=(2, 3, 7)), rng.normal(size=(2, 3))
    queries, keys = tokens @ query_weight.T + query_bias, tokens @ key_weight.T + key_bias
    mean, covariance = tokens.mean(0), np.cov(tokens.T, bias=True)
    tilt, bias = tilt_matrix(query_weight, key_weight), tilt_bias(query_bias, key_weight)
    of_queries, of_keys = np.cov(queries.T, bias=True), np.cov(keys.T, bias=True)
    found = couplings(queries.mean(0), of_queries, of_keys, 3)
    norm = np.linalg.norm(square_root(of_queries) @ square_root(of_keys), 2) / np.sqrt(3)
    assert found["horizon"] == pytest.approx(norm, rel=1e-10)
    assert norm == pytest.approx(horizons(covariance, tilt)["horizon"], rel=1e-10)
    assert found["constant_tilt"] == pytest.approx(constant_tilt(mean, covariance, tilt, bias), rel=1e-10)
