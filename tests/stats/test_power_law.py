"""Rates from numbers derived by hand or with a known exponent."""

import numpy as np
import pytest

from attnlimit.stats.power_law import (
    Bootstrap,
    bias_and_fluctuation,
    curves_of,
    error_curve,
    fit,
    fit_curve,
    fit_statistic,
    local_slopes,
)

SIZES = np.array([64, 128, 256, 512, 1024])


def plan(seed=0, draws=400, joint=True):
    return Bootstrap(draws, joint, np.random.default_rng(seed))


def test_an_exact_power_law_gives_its_exponent():
    value = 3 * SIZES**-0.3
    found = fit(SIZES, value, np.array([1e-4, 2e-4, 5e-4, 1e-3, 1e-4]))
    assert found["beta"] == pytest.approx(0.3, abs=1e-12)
    assert found["intercept"] == pytest.approx(np.log(3), abs=1e-12)
    assert found["chi2"] == pytest.approx(0, abs=1e-18)
    assert found["dof"] == 3


def test_weighted_regression_by_hand():
    """x = 0, 1, 2 (n = 1, e, e^2), y = 0, -1, -1, weights 1, 1, 2.

    Sum of weights 4, mean of x 5/4, mean of y -3/4; sum w (x - 5/4)^2 = 25/16 + 1/16 + 18/16 = 11/4;
    sum w (x - 5/4) y = 0 + 1/4 - 3/2 = -5/4: slope -5/11, intercept -3/4 + 25/44 = -2/11;
    residuals 2/11, -4/11, 1/11: chi2 = 22/121.
    """
    sizes, value = np.exp([0.0, 1.0, 2.0]), np.exp([0.0, -1.0, -1.0])
    found = fit(sizes, value, np.array([1.0, 1.0, 0.5]))
    assert found["beta"] == pytest.approx(5 / 11)
    assert found["intercept"] == pytest.approx(-2 / 11)
    assert found["se"] == pytest.approx(np.sqrt(4 / 11))
    assert found["chi2"] == pytest.approx(2 / 11)
    assert found["se_scaled"] == pytest.approx(np.sqrt(4 / 11 * 2 / 11))
    assert found["dof"] == 1


def test_points_that_are_not_positive_are_left_out():
    value = 2.0 * SIZES**-0.5
    value[1] = np.nan
    value[3] = 0
    found = fit(SIZES, value, np.full(5, 0.01))
    assert found["beta"] == pytest.approx(0.5, abs=1e-12)
    assert found["dof"] == 1


def test_two_points_are_no_fit():
    value = np.array([1.0, 0.5, np.nan, np.nan, np.nan])
    found = fit(SIZES, value, np.full(5, 0.01))
    assert all(np.isnan(numbers) for numbers in found.values())


def test_weights_of_the_error_are_those_of_the_mean_over_replicates():
    errors = np.array([[[1.0, 4.0], [3.0, 4.0]]])  # one unit, two replicates, two sizes
    curve = error_curve(errors, plan())
    np.testing.assert_allclose(curve.value, [[2, 4]])
    np.testing.assert_allclose(curve.relative_variance, [[1 / 2 / 4, 0]])  # (std / sqrt(k) / mean)^2, ddof 0


def test_local_slopes():
    np.testing.assert_allclose(local_slopes(np.array([1, 10, 100]), np.array([1.0, 0.1, 0.1])), [1, 0], atol=1e-12)


def test_an_interval_of_a_local_slope_is_that_of_its_own_bootstrap():
    """Errors that only share a factor have slopes without noise; independent ones have the noise of a difference."""
    rng = np.random.default_rng(5)
    shared = SIZES**-0.4 * np.exp(0.3 * rng.normal(size=(1, 200, 1)))
    found = fit_curve(SIZES, error_curve(shared, plan()))
    np.testing.assert_allclose(found["local_slope_low"], 0.4)
    np.testing.assert_allclose(found["local_slope_high"], 0.4)
    apart = SIZES**-0.4 * np.exp(0.3 * rng.normal(size=(1, 200, len(SIZES))))
    found = fit_curve(SIZES, error_curve(apart, plan(draws=2000)))
    width = 2 * 1.96 * np.sqrt(2 * np.expm1(0.3**2) / 200) / np.log(2)  # of log(mean) at two sizes, by the delta method
    np.testing.assert_allclose(found["local_slope_high"] - found["local_slope_low"], width, rtol=0.2)
    inside = (found["local_slope_low"] < found["local_slope"]) & (found["local_slope"] < found["local_slope_high"])
    assert inside.all()


def test_a_slope_that_is_not_seen_has_no_interval():
    differences = replicates_of(4.0 * SIZES**-1.0, SIZES**-0.5, 40, np.random.default_rng(6))
    errors, gram = np.linalg.norm(differences, axis=-1)[None], gram_of(differences, 4)
    bias, _, _ = bias_and_fluctuation(errors, gram, plan())
    found = fit_curve(SIZES, bias)
    seen = np.isfinite(found["local_slope"])
    assert seen.any() and not seen.all()
    np.testing.assert_array_equal(np.isfinite(found["local_slope_low"]), seen)
    np.testing.assert_array_equal(np.isfinite(found["local_slope_high"]), seen)


def replicates_of(bias, spread, replicates, rng, features=5):
    """Differences d_r = bias + spread * noise (replicate, n, feature)."""
    direction = np.ones(features) / np.sqrt(features)
    noise = rng.normal(size=(replicates, len(SIZES), features)) / np.sqrt(features)
    return bias[:, None] * direction + spread[:, None] * noise


def gram_of(differences, group):
    means = differences.reshape(-1, group, *differences.shape[1:]).mean(1)
    return np.einsum("gnf,enf->nge", means, means)[None]


def test_bias_and_fluctuation_are_told_apart():
    """Bias 5/n and fluctuation 1/sqrt(n) give exponents 1 and 1/2, where the error itself gives neither."""
    rng = np.random.default_rng(0)
    differences = replicates_of(5 / SIZES, SIZES**-0.5, 4000, rng)
    errors, gram = np.linalg.norm(differences, axis=-1)[None], gram_of(differences, 10)
    bias, fluctuation, floor = bias_and_fluctuation(errors, gram, plan())
    np.testing.assert_allclose(floor[0], SIZES**-0.5 / np.sqrt(4000), rtol=0.02)
    found = fit_curve(SIZES, bias)
    assert abs(found["beta"][0] - 1) < 4 * found["se"][0]
    assert found["se"][0] < 0.1
    found = fit_curve(SIZES, fluctuation)
    assert abs(found["beta"][0] - 0.5) < 4 * found["se"][0]
    assert found["se"][0] < 0.01


def test_the_split_is_exact():
    """||mean d||^2 and the unbiased variance, straight from all replicates."""
    rng = np.random.default_rng(1)
    differences = replicates_of(5 / SIZES, SIZES**-0.5, 60, rng)
    errors, gram = np.linalg.norm(differences, axis=-1)[None], gram_of(differences, 10)
    bias, fluctuation, floor = bias_and_fluctuation(errors, gram, plan())
    mean = differences.mean(0)
    variance = ((differences - mean) ** 2).sum(-1).sum(0) / 59
    np.testing.assert_allclose(fluctuation.value[0], np.sqrt(variance))
    np.testing.assert_allclose(floor[0], np.sqrt(variance / 60))
    squared = (mean**2).sum(-1) - variance / 60
    seen = ~np.isnan(bias.value[0])
    assert seen.any()
    np.testing.assert_allclose(bias.value[0][seen], np.sqrt(squared[seen]))


def test_a_bias_within_the_noise_is_not_seen():
    differences = replicates_of(0 * SIZES, SIZES**-0.5, 100, np.random.default_rng(2))
    errors, gram = np.linalg.norm(differences, axis=-1)[None], gram_of(differences, 10)
    bias, _, _ = bias_and_fluctuation(errors, gram, plan())
    assert np.isnan(bias.value).all()
    assert np.isnan(fit_curve(SIZES, bias)["beta"]).all()


@pytest.mark.parametrize("joint", [True, False])
def test_bootstrap_interval_covers_the_truth(joint):
    """95 % intervals of 200 synthetic experiments hold the exponent in about 95 %: at least 180 of them."""
    rng = np.random.default_rng(3)
    noise = rng.normal(size=(200, 50, 1 if joint else len(SIZES)))
    errors = SIZES**-0.4 * np.exp(0.3 * noise + 0.2 * rng.normal(size=(200, 50, len(SIZES))))
    found = fit_curve(SIZES, error_curve(errors, plan(joint=joint)))
    held = (found["beta_low"] <= 0.4) & (found["beta_high"] >= 0.4)
    assert 180 <= held.sum() < 200


def test_a_statistic_without_gram_has_only_the_error():
    errors = np.random.default_rng(4).lognormal(0, 0.1, size=(2, 20, 5)) * SIZES**-0.5
    found = fit_statistic(SIZES, *curves_of(errors, None, plan()))
    assert found["beta"].shape == (3, 2)
    assert np.isfinite(found["beta"][0]).all()
    assert np.isnan(found["beta"][1:]).all()
