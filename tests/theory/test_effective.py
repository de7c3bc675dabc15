"""How many tokens carry the variance, against the moments of a Gaussian by quadrature."""

import numpy as np
import pytest

from attnlimit.theory.effective import carriers
from support.quadrature import gaussian_grid


@pytest.mark.parametrize("tilt", [0.0, 0.5, 1.5])
def test_carriers_of_a_gaussian_are_those_near_twice_the_tilt(tilt):
    """Kish's n (E e^{tX})^2 / E e^{2tX} makes n e^{-2t^2}: n times the density at 2t over that at 0, where tokens that
    are weighed by e^{2tX} have their mean.
    """
    points, weights = gaussian_grid(np.zeros(1), np.eye(1))
    exponential, n = np.exp(tilt * points[:, 0]), 1e6
    effective = n * (weights @ exponential) ** 2 / (weights @ exponential**2)
    assert carriers(effective, n) == pytest.approx(n * np.exp(-((2 * tilt) ** 2) / 2), rel=1e-10)
    assert weights @ (exponential**2 * points[:, 0]) / (weights @ exponential**2) == pytest.approx(2 * tilt, abs=1e-10)


@pytest.mark.parametrize("n", [100, 10**6])
def test_one_token_is_left_at_half_the_largest_of_the_sample(n):
    """The largest of n normal tokens lies near sqrt(2 ln n)."""
    edge = np.sqrt(2 * np.log(n)) / 2
    assert carriers(n * np.exp(-(edge**2)), n) == pytest.approx(1)
    assert carriers(n * np.exp(-((0.9 * edge) ** 2)), n) > 1 > carriers(n * np.exp(-((1.1 * edge) ** 2)), n)


def test_equal_weights_are_carried_by_all():
    sizes = np.array([10, 100])
    np.testing.assert_array_equal(carriers(sizes, sizes), sizes)
