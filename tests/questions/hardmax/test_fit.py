"""Summary of the hardmax: planted powers, exact limits."""

import numpy as np
import xarray as xr

from attnlimit.questions.hardmax import measure as hardmax
from attnlimit.questions.hardmax.fit import decay, hardmax_summary
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
