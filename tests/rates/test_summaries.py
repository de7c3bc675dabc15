"""Summaries of the hardmax and of one query: planted powers, exact limits, exactly normal errors."""

import numpy as np
import pytest
import xarray as xr
from scipy.special import ndtr, ndtri

from attnlimit.experiments import hardmax
from attnlimit.experiments.normality import COORDINATES, PROBABILITIES, simulate
from attnlimit.rates.summaries import decay, hardmax_summary, normality_summary
from attnlimit.theory.gaussian import gaussian_clt
from attnlimit.theory.hardmax import hardmax_expected_error, hardmax_proposition


def test_decay_finds_powers_of_n_and_of_its_logarithm():
    sizes = [10, 100, 1000]
    n = np.array(sizes, dtype=float)
    values = np.stack([n**-0.3, 2 * np.log(n) ** -0.75])[..., None] * np.ones(4)  # (dimension, n, replicate)
    errors = xr.DataArray(
        values, dims=("dimension", "n", "replicate_case"), coords={"dimension": [1, 2], "n": sizes}, name="case_error"
    )
    found = decay(errors)
    np.testing.assert_allclose(found["case_local_slope"][0], 0.3)
    np.testing.assert_allclose(found["case_local_power"][1], 0.75)
    np.testing.assert_allclose(found["case_value"], values[..., 0])
    np.testing.assert_allclose(found["case_value_se"], 0, atol=1e-12)


SIZES = 10 ** np.arange(2, 12)


def hardmax_errors(law, sigma=2.0, replicates=400):
    """Errors law(n) with 5 % of noise on the line, and a small simulation of the rest."""
    options = {"sigma": sigma, "sizes": SIZES.tolist(), "line_replicates": 2, "plane_replicates": 2}
    options |= {"dimensions": [2, 3], "direct_sizes": [8, 16, 32], "direct_replicates": 2}
    noise = 1 + 0.05 * np.random.default_rng(1).normal(size=(len(SIZES), replicates))
    rest = hardmax.simulate(options, seed=1).drop_vars("line_error")
    return rest.assign(line_error=(("n", "replicate_line"), law(SIZES)[:, None] * noise)).assign_attrs(sigma=sigma)


def test_a_planted_power_of_the_logarithm_is_found_beyond_the_small_sizes():
    """Below from_n the law is another one, which the fit must not see."""

    def law(n):
        return np.where(n < 10**5, 1.0, 3 * np.log(n) ** -0.5)

    found = hardmax_summary(hardmax_errors(law), from_n=10**5)
    assert found["late_sizes"] == 7
    assert abs(found["log_power"] - 0.5) < 4 * found["log_power_se"]
    assert found["log_power_se"] < 0.01
    assert found["log_chi2"] < 25 < found["power_chi2"] / 4
    assert found["plane_local_power"].dims == ("n_interval",) and found["direct_value"].dims == (
        "dimension",
        "n_direct",
    )


def test_a_planted_power_of_n_fits_better_than_one_of_its_logarithm():
    found = hardmax_summary(hardmax_errors(lambda n: 0.5 * n**-0.1), from_n=10**5)
    assert found["power_chi2"] < 25 < found["log_chi2"] / 4
    np.testing.assert_allclose(found["line_local_slope"], 0.1, atol=0.02)


def test_drawn_and_exact_expectations_stand_beside_the_proposition():
    found = hardmax_summary(hardmax_errors(lambda n: hardmax_proposition(n, 2.0)), from_n=10**5)
    np.testing.assert_allclose(found["line_ratio"], 1, atol=0.01)
    assert (np.abs(found["line_ratio"] - 1) < 4 * found["line_ratio_se"]).all()
    exact = [hardmax_expected_error(n, 2.0) for n in SIZES]
    np.testing.assert_allclose(found["expected"], exact)
    np.testing.assert_allclose(found["ratio"], np.array(exact) / hardmax_proposition(SIZES, 2.0))


def test_too_few_late_sizes_are_no_fit():
    found = hardmax_summary(hardmax_errors(lambda n: n**-0.1), from_n=10**10)
    assert found["late_sizes"] == 2
    assert np.isnan(found["log_power"]) and np.isnan(found["power_chi2"])


def dataset(tilts, size, output, plug_in, mass):
    """The raw store of one size, from arrays (setting, replicate, …)."""
    tilts, place = np.array(tilts, dtype=float), ("setting", "n", "replicate")
    deviation = np.sqrt(size) * (output - np.stack([tilts, 0 * tilts], -1)[:, None])
    return xr.Dataset(
        {
            "deviation": ((*place, "coordinate"), deviation[:, None]),
            "plug_in": ((*place, "coordinate", "coordinate_2"), plug_in[:, None]),
            "effective": (place, np.ones_like(mass)[:, None]),
            "mass": (place, mass[:, None]),
            "tilt": ("setting", tilts),
        },
        coords={"n": [size], "setting": [f"|t| = {tilt:g}" for tilt in tilts], "coordinate": list(COORDINATES)},
    )


def test_many_tokens_follow_the_delta_method():
    """n = 3000, |t| = 0 to 1: variance, plug-in, bias and coverage within four standard errors of their limits."""
    tilts = [0, 0.5, 1]
    found = normality_summary(simulate([3000], tilts, 500, seed=3)).isel(n=0)
    for number, tilt in enumerate(tilts):
        variance, bias = gaussian_clt(np.array([tilt, 0]), np.eye(2), np.eye(2))
        here = found.isel(setting=number)
        np.testing.assert_array_equal(here["clt_covariance"], variance)
        np.testing.assert_allclose(np.diag(here["covariance"]) / np.diag(variance), here["variance_ratio"])
        assert (np.abs(here["variance_ratio"] - 1) < 4 * here["variance_ratio_se"]).all()
        assert (here["variance_ratio_se"] < 0.15).all()
        np.testing.assert_allclose(here["plug_in_ratio"], 1, atol=0.1)
        assert (np.abs(here["n_bias"] - bias) <= 4 * here["n_bias_se"]).all()
        assert (here["n_bias_se"] < 0.4).all()
        assert (np.abs(here["coverage"] - 0.95) < 4 * here["coverage_se"]).all()


def test_the_bias_has_no_trend_but_a_far_smaller_error():
    """Without the influence function the same mean comes with an error some twenty times as large."""
    raw = simulate([3000], [1], 200, seed=3)
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
    plug_in = np.broadcast_to(share * np.diag(variance), (1, count, 2, 2))
    found = normality_summary(dataset([tilt], size, output, plug_in, np.ones((1, count)))).isel(setting=0, n=0)
    assert (np.abs(found["coverage"] - expected) < 4 * found["coverage_se"]).all()
    np.testing.assert_allclose(found["plug_in_ratio"], share)
    assert (found["distance"] < 1.63 / np.sqrt(count)).all()  # Kolmogorov's at 1 %
    density = np.exp(-(ndtri(PROBABILITIES) ** 2) / 2) / np.sqrt(2 * np.pi)
    error = np.sqrt(PROBABILITIES * (1 - PROBABILITIES) / count) / density
    assert (np.abs(found["error_quantile"] - found["normal_quantile"]) < 5 * error[:, None]).all()
