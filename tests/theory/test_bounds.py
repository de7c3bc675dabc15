"""Predicted rates by hand."""

from itertools import pairwise

import numpy as np
import pytest

from attnlimit.theory.bounds import heuristic_power, predictions
from attnlimit.theory.hardmax import hardmax_proposition


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
    n = np.array([1e3, 1e9])
    fall = np.log(hardmax_proposition(n[0], 1.0) / hardmax_proposition(n[1], 1.0))
    assert heuristic_power(1) == pytest.approx(fall / np.log(np.log(n[1]) / np.log(n[0])))
    assert heuristic_power(2) == 0.75
