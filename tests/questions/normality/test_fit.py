"""Summary of the error at one query: exact limits, exactly normal errors."""

import numpy as np
import pytest
import xarray as xr
from scipy.special import ndtr, ndtri

from attnlimit.questions.normality.fit import normality_summary, shortfall
from attnlimit.questions.normality.measure import COORDINATES, PROBABILITIES, simulate
from attnlimit.theory.gaussian import gaussian_clt


def dataset(tilts, size, output, plug_in, mass):
    """The raw store of one size, from arrays (setting, replicate, …)."""
    tilts, place = np.array(tilts, dtype=float), ("setting", "n", "replicate")
    deviation = np.sqrt(size) * (output - np.stack([tilts, 0 * tilts], -1)[:, None])
    return xr.Dataset(
        {
            "deviation": ((*place, "coordinate"), deviation[:, None]),
            "plug_in": ((*place, "coordinate"), plug_in[:, None]),
            "effective": (place, np.ones_like(mass)[:, None]),
            "mass": (place, mass[:, None]),
            "tilt": ("setting", tilts),
        },
        coords={"n": [size], "setting": [f"|t| = {tilt:g}" for tilt in tilts], "coordinate": list(COORDINATES)},
    )


def test_many_tokens_follow_the_delta_method():
    """n = 3000, |t| = 0 to 1: variance, plug-in, bias and coverage within four standard errors of their limits."""
    tilts = [0, 0.5, 1]
    found = normality_summary(simulate([3000], tilts, 500, 0.05, seed=3)).isel(n=0)
    for number, tilt in enumerate(tilts):
        variance, bias = gaussian_clt(np.array([tilt, 0]), np.eye(2), np.eye(2))
        here = found.isel(setting=number)
        np.testing.assert_array_equal(here["clt_variance"], np.diag(variance))
        assert (np.abs(here["variance_ratio"] - 1) < 4 * here["variance_ratio_se"]).all()
        assert (here["variance_ratio_se"] < 0.15).all()
        np.testing.assert_allclose(here["plug_in_ratio"], 1, atol=0.1)
        assert (np.abs(here["n_bias"] - bias) <= 4 * here["n_bias_se"]).all()
        assert (here["n_bias_se"] < 0.4).all()
        assert (np.abs(here["coverage"] - 0.95) < 4 * here["coverage_se"]).all()


def test_the_bias_has_no_trend_but_a_far_smaller_error():
    """Without the influence function the same mean comes with an error some twenty times as large."""
    raw = simulate([3000], [1], 200, 0.05, seed=3)
    found, plain = normality_summary(raw), np.sqrt(3000) * raw["deviation"].values[0, 0, :, 0]
    error = plain.std() / 200**0.5
    assert abs(plain.mean() - float(found["n_bias"][0, 0, 0])) < 4 * error
    assert float(found["n_bias_se"][0, 0, 0]) < error / 10


@pytest.mark.parametrize(("share", "expected"), [(1, 0.95), (0.25, 2 * ndtr(ndtri(0.975) / 2) - 1)])
def test_coverage_and_quantiles_of_exactly_normal_errors(share, expected):
    """Errors drawn from the limit itself, with a plug-in that is right or a quarter of it."""
    tilt, size, count = 0.8, 100, 20_000
    variance = np.diag(gaussian_clt(np.array([tilt, 0]), np.eye(2), np.eye(2))[0])
    output = [tilt, 0] + np.sqrt(variance / size) * np.random.default_rng(2).normal(size=(1, count, 2))
    plug_in = np.broadcast_to(share * variance, (1, count, 2))
    found = normality_summary(dataset([tilt], size, output, plug_in, np.ones((1, count)))).isel(setting=0, n=0)
    assert (np.abs(found["coverage"] - expected) < 4 * found["coverage_se"]).all()
    np.testing.assert_allclose(found["plug_in_ratio"], share)
    assert (found["distance"] < 1.63 / np.sqrt(count)).all()  # Kolmogorov's at 1 %
    density = np.exp(-(ndtri(PROBABILITIES) ** 2) / 2) / np.sqrt(2 * np.pi)
    error = np.sqrt(PROBABILITIES * (1 - PROBABILITIES) / count) / density
    assert (np.abs(found["error_quantile"] - found["normal_quantile"]) < 5 * error[:, None]).all()


@pytest.mark.parametrize("power", [0.5, 1.0])
def test_a_planted_shortfall_is_found(power):
    """Coverage 0.95 - 0.01 (carriers / 1000)^-power with binomial noise: constant and power within their intervals."""
    rng, carrying = np.random.default_rng(3), np.geomspace(30, 1e6, 15).reshape(5, 3)
    coverage = rng.binomial(20_000, 0.95 - 0.01 * (carrying / 1000) ** -power) / 20_000
    found = {name: value for name, (_, value) in shortfall(carrying, coverage, 20_000).items()}
    assert abs(found["shortfall"] - 0.01) < found["shortfall_high"] - found["shortfall_low"]
    assert abs(found["shortfall_power"] - power) < found["shortfall_power_high"] - found["shortfall_power_low"]
    assert found["shortfall_power_high"] - found["shortfall_power_low"] < 0.3


def test_few_cases_give_no_shortfall():
    found = shortfall(np.array([5.0, 100, 200, 300]), np.full(4, 0.9), 1000)
    assert all(np.isnan(value) for _, value in found.values())
