"""Rates and growth from suprema whose exponents are known."""

import numpy as np
import pytest
import xarray as xr

from attnlimit.questions.uniform.fit import fit_uniform, growth_changes, reached
from attnlimit.stats.power_law import Bootstrap

SIZES = np.array([100, 1000, 10_000, 100_000])
RADII = np.array([0.5, 1.0, 1.5, 2.0, 3.0])
LAWS = ["gaussian, d = 1", "gaussian, d = 2"]


def suprema(law, replicates=60):
    """sup = law(R, n) with 5 % of noise, effective n e^{-R^2}; the plane, run up to n = 10,000, has twice the error."""
    dimension, radius = np.repeat([1, 2], len(RADII)), np.tile(RADII, 2)
    rng = np.random.default_rng(0)
    noise = 1 + 0.05 * rng.normal(size=(len(radius), replicates, len(SIZES)))
    values = (dimension * law(radius, SIZES[:, None])).T[:, None] * noise
    values[len(RADII) :, :, -1] = np.nan
    effective = np.broadcast_to((SIZES * np.exp(-(radius[:, None] ** 2)))[:, None], values.shape)
    return xr.Dataset(
        {
            "sup": (("setting", "replicate", "n"), values),
            "sup_coarse": (("setting", "replicate", "n"), 0.99 * values),
            "effective": (("setting", "replicate", "n"), effective),
            "dimension": ("setting", dimension),
            "radius": ("setting", radius),
            "compact": ("setting", dimension > 2),
            "clt_edge": ("setting", np.exp(radius**2 / 2)),
            "clt_sup": ("setting", np.exp(radius**2)),
            "clt_sup_se": ("setting", 0.01 * radius),
        },
        coords={"setting": range(len(radius)), "law": ("setting", np.repeat(LAWS, len(RADII))), "n": SIZES},
    )


def fitted(law, carriers):
    joint = (False, True, True)
    bootstraps = [Bootstrap(200, each, np.random.default_rng(number)) for number, each in enumerate(joint)]
    return fit_uniform(suprema(law), bootstraps, 3, 0.05, carriers)


def test_an_exponential_constant_and_a_root_n_rate_are_found():
    fits = fitted(lambda radius, n: np.exp(0.2 + 1.3 * radius) / np.sqrt(n), carriers=1e-9)
    assert (np.abs(fits["beta"] - 0.5) < 4 * fits["se"]).all()
    assert fits["reached"].isel(setting=slice(len(RADII))).all()
    np.testing.assert_allclose(fits["growth"], 1.3, atol=0.02)
    np.testing.assert_allclose(fits["growth_intercept"], [0.2, 0.2 + np.log(2)], atol=0.04)
    assert ((fits["growth_low"] < fits["growth"]) & (fits["growth"] < fits["growth_high"])).all()
    np.testing.assert_array_equal(fits["growth_n"], [100_000, 10_000])
    np.testing.assert_array_equal(fits["growth_dof"], len(RADII) - 2)
    np.testing.assert_allclose(fits["grid_gap"].isel(n=0), 0.01)
    expected = np.exp(0.2 + 1.3 * RADII)
    np.testing.assert_allclose(fits["constant"].isel(n=-1, setting=slice(len(RADII))), expected, rtol=0.03)


def test_radii_that_are_not_reached_stay_out_of_the_growth():
    """Above R = 1.5 the error falls like n^-0.2 from a constant that would bend the fit."""

    def law(radius, n):
        return np.where(radius > 1.6, 40 * n**-0.2, np.exp(1.3 * radius) / np.sqrt(n))

    fits = fitted(law, carriers=1e-9)
    np.testing.assert_array_equal(fits["reached"].isel(n=2), np.tile(RADII < 1.6, 2))
    np.testing.assert_allclose(fits["growth"], 1.3, atol=0.05)
    np.testing.assert_array_equal(fits["growth_dof"], 1)


def test_a_missing_size_is_reached_nowhere_and_hurts_no_fit():
    fits = fitted(lambda radius, n: np.exp(radius) / np.sqrt(n), carriers=1e-9)
    plane = fits.isel(setting=slice(len(RADII), None))
    assert not plane["reached"].isel(n=-1).any()
    np.testing.assert_array_equal(plane["dof"], 1)
    assert (np.abs(plane["beta"] - 0.5) < 4 * plane["se"]).all()


def test_local_growth_is_the_slope_of_the_logarithm():
    fits = fitted(lambda radius, n: np.exp(1.3 * radius) / np.sqrt(n), carriers=1e-9)
    assert np.isnan(fits["growth_local"].values[[0, len(RADII)]]).all()
    np.testing.assert_allclose(fits["growth_local"].values[1 : len(RADII)], 1.3, atol=0.06)
    middle = (RADII[1:] + RADII[:-1]) / 2
    np.testing.assert_allclose(fits["clt_growth_local"].values[1 : len(RADII)], 2 * middle)


@pytest.mark.parametrize("carriers", [1, 50])
def test_carriers_draw_the_line_where_the_random_energy_argument_does(carriers):
    """With effective n e^{-R^2} their number is n e^{-2 R^2}: above one while R < sqrt(2 ln n) / 2."""
    half = np.full((len(RADII), len(SIZES) - 1), 0.5)
    effective = SIZES * np.exp(-(RADII[:, None] ** 2))
    found = reached(SIZES, half, 0 * half, effective, 0.05, carriers)
    np.testing.assert_array_equal(found, RADII[:, None] <= np.sqrt(2 * np.log(SIZES / carriers).clip(0)) / 2)
    assert found.any() and not found.all()


def test_a_slope_counts_for_the_size_after_it_and_within_its_error():
    slopes = np.array([[0.5, 0.42, 0.42, 0.58], [0.3, 0.5, 0.5, 0.5]])
    errors = np.array([[0.01, 0.01, 0.02, 0.0], [0.01, 0.01, 0.01, 0.01]])
    sizes = 10 ** np.arange(2, 7)
    found = reached(sizes, slopes, errors, np.tile(sizes, (2, 1)), 0.05, 1)
    np.testing.assert_array_equal(found, [[1, 1, 0, 1, 0], [0, 0, 1, 1, 1]])


def changes(constant, carried=None) -> xr.Dataset:
    """Of suprema constant(R) / sqrt(n), carried at every radius unless told otherwise."""
    data = suprema(lambda radius, n: constant(radius) / np.sqrt(n))
    use = np.ones(2 * len(RADII), bool) if carried is None else np.tile(carried, 2)
    flags = xr.DataArray(np.repeat(use[:, None], len(SIZES), 1), dims=("setting", "n"), coords={"n": SIZES})
    return growth_changes(data, flags, Bootstrap(400, True, np.random.default_rng(2)))


def test_the_growth_of_an_exponential():
    found = changes(lambda radius: np.exp(1.3 * radius))
    assert ((found["upper_growth_low"] < 1.3) & (found["upper_growth_high"] > 1.3)).all()
    np.testing.assert_array_equal(found["of_law"], LAWS)
    np.testing.assert_array_equal(found["change_n"], [100_000, 10_000])  # the largest that each law ran
    np.testing.assert_array_equal(found["change_radii"], 5)
    np.testing.assert_array_equal(found["change_smallest_radius"], 0.5)
    np.testing.assert_array_equal(found["change_largest_radius"], 3)


def test_radii_that_too_few_tokens_carry_stay_out():
    found = changes(lambda radius: np.exp(radius + 5 * (radius > 1.6)), carried=RADII < 1.6)
    np.testing.assert_array_equal(found["change_radii"], 3)
    np.testing.assert_array_equal(found["change_largest_radius"], 1.5)
    over_clt = found["over_clt"].values.reshape(2, -1)
    assert np.isnan(over_clt[:, 3:]).all()
    expected = np.exp(RADII[:3] - RADII[:3] ** 2) * np.array(
        [[1], [2]]
    )  # clt_sup is e^{R^2}; a plane has twice the sup
    np.testing.assert_allclose(over_clt[:, :3], expected, rtol=0.03)


def test_two_radii_are_too_few():
    found = changes(np.exp, carried=RADII < 1.2)
    np.testing.assert_array_equal(found["change_radii"], 2)
    for name in ("over_clt", "total_growth", "upper_growth_low"):
        assert np.isnan(found[name]).all()


@pytest.mark.parametrize(
    ("constant", "total", "upper"),
    [
        (lambda radius: np.exp(1.3 * radius), np.exp(1.3 * 2.5), 1.3),
        (lambda radius: np.minimum(radius, 1.5), 3, 0),  # bounded: flat over the upper half, 1.5, 2 and 3
    ],
)
def test_total_and_upper_growth_tell_bounded_from_unbounded(constant, total, upper):
    found = changes(constant)
    for name, expected in (("total_growth", total), ("upper_growth", upper)):
        low, own, high = (found[name + end] for end in ("_low", "", "_high"))
        assert ((low < own) & (own < high)).all()
        assert ((low < expected) & (expected < high)).all()
        np.testing.assert_allclose(own, expected, rtol=0.05, atol=0.02)


@pytest.mark.parametrize("rate", [0.3, 0.5])
def test_the_rate_is_fitted_where_enough_tokens_carry_the_variance(rate):
    """With n e^{-2 R^2} of them at least 50: beyond, the error is one that must not count."""

    def law(radius, n):
        return np.where(n * np.exp(-2 * radius**2) >= 50, np.exp(radius) * n**-rate, 1.0)

    fits = fitted(law, carriers=50)
    np.testing.assert_array_equal(fits["carried"].isel(setting=0), SIZES * np.exp(-0.5) >= 50)
    fit = np.isfinite(fits["carried_beta"])
    assert fit.any() and not fit.all()
    slope, error = fits["carried_beta"].values[fit], fits["carried_se"].values[fit]
    assert (np.abs(slope - rate) < 4 * error).all()
