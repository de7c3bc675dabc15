"""Summary of the hardmax: planted powers, exact limits."""

import numpy as np
import pytest
import xarray as xr

from attnlimit.questions.hardmax.fit import decay, exact_decay, hardmax_summary
from attnlimit.questions.hardmax.measure import simulate
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


def test_the_exact_curve_goes_from_powers_of_small_n_to_one_half():
    """Local power and ratio at the largest n, and what a power of n would look like there."""
    found = exact_decay(1e6, 2.0)
    assert found["decades"][0] == 2 and found["decades"][-1] == 1e6
    assert found["exact_value"][0] == pytest.approx(hardmax_expected_error(100, 2.0), rel=1e-12)
    assert found["exact_ratio"][-1] == pytest.approx(1, abs=1e-5)
    assert found["exact_local_power"][-1] == pytest.approx(0.5, abs=1e-5)
    assert (np.diff(found["exact_local_power"][20:]) < 0).all()
    np.testing.assert_allclose(found["exact_local_slope"][-1], 0, atol=1e-6)
    planted = exact_decay(1e3, 1.0, lambda log_n, sigma: np.exp(-0.1 * log_n))
    np.testing.assert_allclose(planted["exact_local_slope"], 0.1)
    assert planted["exact_local_power"][-1] > 100


def test_draws_stand_beside_the_exact_expectation_and_the_proposition():
    sizes = [100, 10**5, 10**11]
    options = {"sigma": 2.0, "sizes": sizes, "line_replicates": 4000, "plane_replicates": 2}
    options |= {"dimensions": [2, 3], "direct_sizes": [8, 16, 32], "direct_replicates": 2}
    found = hardmax_summary(simulate(options, seed=1).assign_attrs(sigma=2.0), 1e3)
    exact = np.array([hardmax_expected_error(n, 2.0) for n in sizes])
    np.testing.assert_allclose(found["expected"], exact)
    np.testing.assert_allclose(found["ratio"], exact / hardmax_proposition(np.log(sizes), 2.0))
    assert (np.abs(found["line_ratio"] - 1) < 4 * found["line_ratio_se"]).all()
    assert (found["line_ratio_se"] < 0.02).all()
    assert found["plane_local_power"].dims == ("n_interval",)
    assert found["direct_value"].dims == ("dimension", "n_direct")
