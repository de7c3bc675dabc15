"""Closed forms for tokens uniform on [-1, 1], against quadrature and their limits at small and large tilts."""

import numpy as np
import pytest

from attnlimit.theory.interval import (
    graded_rule,
    interval_clt,
    interval_constants,
    interval_map,
    interval_variance,
)


def tilted(tilt):
    """Nodes on [-1, 1] and the weights of the law e^{tx} dx, as a softmax."""
    nodes, weights = np.polynomial.legendre.leggauss(200)
    weights = weights / 2 * np.exp(tilt * nodes - abs(tilt))
    return nodes, weights


@pytest.mark.parametrize("tilt", [-8, -1, 1e-9, 1e-3, 0.1, 1, 3, 16, 30])
def test_the_map_is_the_tilted_mean(tilt):
    nodes, weights = tilted(tilt)
    assert interval_map(np.array(tilt)) == pytest.approx(weights @ nodes / weights.sum(), rel=1e-12, abs=1e-15)


def test_the_map_is_the_langevin_function():
    tilts = np.array([[0.5, -2], [7, 40]])
    np.testing.assert_allclose(interval_map(tilts), 1 / np.tanh(tilts) - 1 / tilts, rtol=1e-13)
    small = np.array([0, 1e-12, -1e-5, 1e-2])
    np.testing.assert_allclose(interval_map(small), small / 3 - small**3 / 45 + 2 * small**5 / 945, rtol=1e-13)


@pytest.mark.parametrize("tilt", [0, 1e-4, 0.3, 1, 4, 8, 16])
def test_the_clt_variance_is_that_of_a_ratio_of_means(tilt):
    """E[e^2 (X - Gamma)^2] / E[e]^2."""
    nodes, once = tilted(tilt)
    _, twice = tilted(2 * tilt)
    centre = once @ nodes / once.sum()
    assert interval_clt(tilt) == pytest.approx(twice @ (nodes - centre) ** 2 / once.sum() ** 2, rel=1e-8)


def test_the_clt_variance_is_bounded():
    assert interval_clt(1000.0) == pytest.approx(1 / 2000, rel=1e-3)


def influence(radius, count=4000):
    """psi and psiC of tokens on [-R, R] by their definitions, midpoint sums over queries and tokens."""
    points = radius * (2 * np.arange(count) + 1 - count) / count
    outputs = radius * interval_map(radius * points)  # Gamma(x), tilt x, tokens on [-R, R]
    weights = np.exp(np.outer(points, points) - radius * np.abs(points)[:, None])  # (query, token)
    weights /= weights.mean(1, keepdims=True)
    phi = weights * (points - outputs[:, None])
    psi = outputs + phi.mean(0)
    psi_cov = outputs**2 - (outputs**2).mean() + 2 * (phi * outputs[:, None]).mean(0)
    return psi, psi_cov, (outputs**2).mean()


@pytest.mark.parametrize("radius", [0.3, 1, 2, 5])
def test_constants_are_the_norms_of_the_influence_functions(radius):
    psi, psi_cov, variance = influence(radius)
    assert abs(psi.mean()) < 1e-10 * radius and abs(psi_cov.mean()) < 1e-3 * np.abs(psi_cov).max()
    found = interval_constants(radius)
    np.testing.assert_allclose(found, [np.sqrt((psi**2).mean()), np.sqrt((psi_cov**2).mean())], rtol=1e-3)
    assert interval_variance(radius) == pytest.approx(variance, rel=1e-4)


def test_constants_at_both_ends():
    """Flat attention, s = R^2 small: psi(z) = R z, psiC(z) = R^2 s^2 (z^2 - 1/3) / 3; sharp: outputs are R or -R."""
    mean, covariance = interval_constants(0.01)
    assert mean == pytest.approx(0.01 / np.sqrt(3), rel=1e-3)
    assert covariance == pytest.approx(1e-12 / 3 * np.sqrt(4 / 45), rel=1e-3)
    mean, covariance = interval_constants(500.0)
    assert mean == pytest.approx(500, rel=1e-4)


def test_the_graded_rule_integrates_what_changes_near_its_ends():
    z, from_one, weights = graded_rule(1e6)
    np.testing.assert_allclose(z + from_one, 1)
    assert weights.sum() == pytest.approx(1, rel=1e-14)
    assert weights @ np.exp(-1e6 * from_one) == pytest.approx(1e-6, rel=1e-12)
    assert weights @ np.exp(-1e6 * z) == pytest.approx(1e-6, rel=1e-12)
