"""Errors without noise have a rate like others: exact power laws give their exponent."""

import numpy as np
import pytest

from attnlimit.stats.power_law import ROUNDING, Bootstrap, bias_and_fluctuation, error_curve, fit, fit_curve

SIZES = np.array([64, 128, 256, 512, 1024])


def plan() -> Bootstrap:
    return Bootstrap(200, True, np.random.default_rng(0))


@pytest.mark.parametrize("beta", [0.1, 0.5, 1.0])
def test_an_exact_power_law_without_noise_gives_its_exponent(beta):
    """All replicates agree: the fit is exact, its chi2 small, its interval a point."""
    errors = np.broadcast_to(3 * SIZES**-beta, (2, 10, len(SIZES)))
    found = fit_curve(SIZES, error_curve(errors, plan()))
    for name in ("beta", "beta_low", "beta_high"):
        np.testing.assert_allclose(found[name], beta, rtol=1e-13)
    np.testing.assert_allclose(found["intercept"], np.log(3), rtol=1e-12)
    np.testing.assert_array_equal(found["dof"], len(SIZES) - 2)
    assert (found["chi2"] < found["dof"]).all() and (found["se"] < 1e-13).all()


def test_without_any_noise_the_fit_is_ordinary_least_squares():
    """A curve that is no power law: the line of least squares, and residuals far beyond rounding."""
    value = SIZES**-0.5 + SIZES**-1.0
    found = fit(SIZES, value, np.zeros(5))
    slope, intercept = np.polyfit(np.log(SIZES), np.log(value), 1)
    np.testing.assert_allclose([found["beta"], found["intercept"]], [-slope, intercept], rtol=1e-10)
    assert found["chi2"] > 1e6 * found["dof"]


def test_a_size_without_noise_counts_as_much_as_the_least_noisy():
    value = 2 * SIZES**-0.3 * np.exp([0.1, -0.1, 0.05, 0, 0.02])
    variance = np.array([0.01, 0.0, 0.002, 0.03, ROUNDING**2 / 2])
    found = fit(SIZES, value, variance)
    expected = fit(SIZES, value, np.array([0.01, 0.002, 0.002, 0.03, 0.002]))
    for name, number in expected.items():
        np.testing.assert_array_equal(found[name], number)


def test_each_curve_has_its_own_least_variance():
    variance = np.array([[0.0] * 5, [0.01, 0, 0.02, 0.03, 0.04]])
    value = np.stack([3 * SIZES**-0.2, 3 * SIZES**-0.7])
    found = fit(SIZES, value, variance)
    np.testing.assert_allclose(found["beta"], [0.2, 0.7], rtol=1e-12)
    assert found["se"][0] < 1e-13 < 1e-3 < found["se"][1]


def test_a_point_left_out_for_its_value_gives_no_variance():
    value = 2.0 * SIZES**-0.5
    value[0] = np.nan
    np.testing.assert_allclose(fit(SIZES, value, np.array([1e-4, 0, 0, 0, 0]))["se"], ROUNDING / 1.55, rtol=0.01)


def test_a_bias_without_fluctuation_is_fitted():
    """The same difference to the limit in all replicates: all bias, and no fluctuation to fit."""
    length = 5.0 * SIZES**-1.0
    errors = np.broadcast_to(length, (1, 8, 5))
    gram = np.broadcast_to((length**2)[None, :, None, None], (1, 5, 4, 4))
    bias, fluctuation, floor = bias_and_fluctuation(errors, gram, plan())
    np.testing.assert_allclose(fit_curve(SIZES, bias)["beta"], 1, rtol=1e-12)
    np.testing.assert_allclose(bias.value[0], length)
    assert (floor < 1e-7 * length).all()
    assert not np.isfinite(fluctuation.value).any() or (fluctuation.value < 1e-7 * length).all()
