"""The growth of the constants on a sphere: a planted power, a planted exponential, and what is left out."""

import numpy as np
import pytest
from scipy.stats import chi2

from support.claims import constants_fit

RADII = np.array([0.4, 0.7, 1.0, 1.5, 2.2, 3.0])


@pytest.mark.parametrize("power", [1.0, 3.0])
def test_a_planted_power_is_found_and_fits(power):
    found = constants_fit(lambda r: r**power, RADII)
    np.testing.assert_allclose(found["power"], power, atol=0.05)
    assert (found["power_chi2"] < chi2.isf(1e-4, 4)).all() and (found["exponential_chi2"] > 100).all()
    assert (np.abs(found["mixed_rate"]) < 4 * found["mixed_rate_se"]).all()
    np.testing.assert_array_equal(found["radii"], 6)
    np.testing.assert_allclose(found["radius_factor"], 3 / 0.4)
    np.testing.assert_array_equal(found["statistic"], ["mean", "cov"])


@pytest.mark.parametrize("power", [0.0, 2.0])
def test_a_planted_exponential_is_found_beside_a_power(power):
    found = constants_fit(lambda r: r**power * np.exp(1.5 * r), RADII)
    assert (np.abs(found["mixed_rate"] - 1.5) < 4 * found["mixed_rate_se"]).all()
    assert (found["mixed_rate_se"] < 0.1).all()
    assert (found["mixed_chi2"] < chi2.isf(1e-4, 3)).all() and (found["power_chi2"] > 100).all()


def test_chi2_is_that_of_its_law():
    """Over 60 truths the mean of chi2 is its degrees of freedom: the errors of the replicates are the right ones."""
    fits = [constants_fit(lambda r: r**2, RADII, seed=seed) for seed in range(60)]
    for name, dof in (("power_chi2", 4), ("mixed_chi2", 3)):
        mean = np.mean([fit[name].values[0] for fit in fits])
        assert abs(mean - dof) < 4 * np.sqrt(2 * dof / 60), name


def test_a_sum_of_powers_is_a_polynomial_and_no_power():
    found = constants_fit(lambda r: 1 + r**4, RADII)
    assert (found["polynomial_chi2"] < chi2.isf(1e-4, found["polynomial_dof"])).all()
    assert (found["power_chi2"] > 100).all()


def test_radii_without_a_constant_are_left_out():
    """Saturated settings, published scales, and errors that do not fall like 1/sqrt(n)."""
    strong = RADII > 2
    found = constants_fit(lambda r: np.where(r > 2, 1e4, r**2), RADII, saturated=strong)
    np.testing.assert_array_equal(found["radii"], 4)
    np.testing.assert_allclose(found["radius_factor"], 1.5 / 0.4)
    np.testing.assert_allclose(found["power"], 2, atol=0.05)
    np.testing.assert_array_equal(constants_fit(lambda r: r, RADII, published=strong)["radii"], 4)
    slow = constants_fit(lambda r: r, RADII, slope=0.3)
    np.testing.assert_array_equal(slow["radii"], 0)
    np.testing.assert_array_equal(slow["unsaturated_radii"], 6)


def test_three_radii_are_no_test_and_none_no_error():
    for enough, count in ((RADII >= 1.5, 3), (True, 0)):
        found = constants_fit(lambda r: r, RADII, saturated=enough)
        np.testing.assert_array_equal(found["radii"], count)
        assert np.isnan(found["power"]).all() and np.isnan(found["mixed_chi2"]).all()
