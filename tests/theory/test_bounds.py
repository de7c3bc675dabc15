"""Predicted rates by hand; how many tokens carry the variance, against moments of a Gaussian by quadrature."""

from itertools import pairwise

import numpy as np
import pytest

from attnlimit.theory.bounds import carriers, heuristic_power, predictions
from attnlimit.theory.hardmax import hardmax_proposition
from support.quadrature import gaussian_grid


def test_predictions_by_hand():
    found = predictions(np.array([0.0, 2.0]), np.array([0.0, 4.0]))
    np.testing.assert_allclose(found["bound_v3"], [1 / 2, 1 / 10])
    np.testing.assert_allclose(found["bound_v1_experiment"], [1 / 2, 1 / 10])
    np.testing.assert_allclose(found["bound_v1_theorem"], [1 / 2, 1 / 258])
    np.testing.assert_allclose(found["heuristic"], [1 / 2, 1 / 5])


def test_bounds_stand_in_the_order_of_their_strength():
    """Psi is at least H^2, so that v3 is the strongest bound; the heuristic is above it."""
    horizon = np.linspace(0, 5, 50)
    rates = predictions(horizon, 1.5 * horizon**2)
    order = ("bound_v1_theorem", "bound_v1_experiment", "bound_v3", "heuristic")
    for weaker, stronger in pairwise(order):
        assert (rates[weaker] <= rates[stronger]).all()


def test_on_a_line_the_heuristic_of_the_hardmax_is_the_power_of_the_proposition():
    log_n = np.log([1e3, 1e9])
    fall = np.log(hardmax_proposition(log_n[0], 1.0) / hardmax_proposition(log_n[1], 1.0))
    assert heuristic_power(1) == pytest.approx(fall / np.log(log_n[1] / log_n[0]))
    assert heuristic_power(2) == 0.75


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
