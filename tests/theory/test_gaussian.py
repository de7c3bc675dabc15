"""The limits of Gaussian tokens, against quadrature and against simulation."""

import numpy as np
import pytest

from attnlimit.theory.gaussian import gaussian_clt, gaussian_map, gaussian_moments
from support.quadrature import gaussian_grid, softmax_mean

GAUSSIANS = {
    1: dict(
        mean=np.array([0.6]),
        covariance=np.array([[1.3]]),
        tilt_matrix=np.array([[0.8]]),
        tilt_bias=np.array([-0.4]),
        values=np.array([[1.7]]),
    ),
    2: dict(
        mean=np.array([0.6, -0.3]),
        covariance=np.array([[1.2, 0.5], [0.5, 0.7]]),
        tilt_matrix=np.array([[0.4, -0.7], [0.2, 0.5]]),
        tilt_bias=np.array([0.3, -0.1]),
        values=np.array([[1.0, 2.0], [0.5, -1.0], [0.0, 0.3]]),
    ),
}


@pytest.mark.parametrize("d", GAUSSIANS)
def test_gaussian_map_is_the_softmax_mean(d):
    case = GAUSSIANS[d]
    nodes, weights = gaussian_grid(case["mean"], case["covariance"])
    points = np.random.default_rng(1).normal(size=(5, d))
    tilts = points @ case["tilt_matrix"].T + case["tilt_bias"]
    expected = softmax_mean(tilts, nodes, weights) @ case["values"].T
    np.testing.assert_allclose(gaussian_map(points, **case), expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("d", GAUSSIANS)
def test_gaussian_moments_are_those_of_the_map(d):
    case = GAUSSIANS[d]
    nodes, weights = gaussian_grid(case["mean"], case["covariance"])
    outputs = gaussian_map(nodes, **case)
    mean, covariance = gaussian_moments(**case)
    np.testing.assert_allclose(mean, weights @ outputs, rtol=1e-11)
    centred = outputs - mean
    np.testing.assert_allclose(covariance, (centred.T * weights) @ centred, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("d", GAUSSIANS)
def test_gaussian_clt_is_the_ratio_estimator_by_quadrature(d):
    """Here the mean of the tokens is not zero, while the closed form does not know it."""
    case = GAUSSIANS[d]
    nodes, weights = gaussian_grid(case["mean"], case["covariance"])
    tilt = 0.7 * np.ones(d)
    e = np.exp(nodes @ tilt)
    centred = (nodes - softmax_mean(tilt[None], nodes, weights)) @ case["values"].T
    square = weights * e**2 / (weights @ e) ** 2
    variance, bias = gaussian_clt(tilt, case["covariance"], case["values"])
    np.testing.assert_allclose(variance, (centred.T * square) @ centred, rtol=1e-10)
    np.testing.assert_allclose(bias, -square @ centred, rtol=1e-10, atol=1e-12)


def test_gaussian_clt_in_simulation():
    n, replicates, mean, deviation, tilt = 300, 30_000, 1.5, 0.8, 0.7
    rng = np.random.default_rng(2)
    outputs = []
    for _ in range(10):
        tokens = mean + deviation * rng.normal(size=(replicates // 10, n))
        attention = np.exp(tilt * tokens)
        outputs.append((attention * tokens).sum(axis=1) / attention.sum(axis=1))
    error = np.concatenate(outputs) - (mean + deviation**2 * tilt)
    variance, bias = gaussian_clt(np.array([tilt]), np.array([[deviation**2]]), np.eye(1))
    assert abs(n * error.mean() - bias[0]) < 4 * n * error.std() / np.sqrt(replicates)
    assert n * error.mean() < bias[0] / 2
    # The next order in 1/n is worth less than one per cent of the variance, the noise 0.8 per cent.
    assert n * error.var() == pytest.approx(variance[0, 0], rel=0.04)
