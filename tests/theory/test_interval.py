"""Closed forms for tokens uniform on [-1, 1], against quadrature and their limits at small and large tilts."""

import numpy as np
import pytest

from attnlimit.theory.interval import interval_clt, interval_map


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
