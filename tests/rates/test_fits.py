"""A store of errors becomes rates: labels kept, standard errors relative, predictions of the couplings."""

import numpy as np
import pytest
import xarray as xr

from attnlimit.rates.fits import fit_errors, is_label
from attnlimit.rates.power_law import (
    Bootstrap,
)
from attnlimit.theory.bounds import predictions

SIZES = np.array([64, 128, 256, 512, 1024])


def plan(seed=0, draws=400, joint=True):
    return Bootstrap(draws, joint, np.random.default_rng(seed))


def store(unit="head", **labels) -> xr.Dataset:
    """Errors of two units that fall like n^-1/2; of each statistic the second has ten times the scale."""
    rng = np.random.default_rng(7)
    errors = xr.Dataset(coords={unit: [0, -1] if unit == "head" else [0, 1], "n": SIZES})
    for name, scale in (("mean", 2.0), ("cov", 4.0), ("cov_spectral", 5.0)):
        errors[name] = ((unit, "replicate", "n"), rng.lognormal(0, 0.1, size=(2, 8, 5)) * SIZES**-0.5)
        errors[f"{name}_scale"] = (unit, [scale, 10 * scale])
    errors["horizon"], errors["psi"] = (unit, [0.5, np.nan]), (unit, [0.3, np.nan])
    return errors.assign({name: (unit, values) for name, values in labels.items()})


def fitted(errors) -> xr.Dataset:
    return fit_errors(errors, [plan(number, draws=100) for number in range(3)], misfit=3, saturated=0.02)


@pytest.mark.parametrize("known", [True, False])
def test_the_standard_error_of_a_limit_is_relative_to_its_scale(known):
    names = ("mean", "cov", "cov_spectral") if known else ()
    found = fitted(store(**{f"{name}_limit_se": [0.5, 1.0] for name in names}))["limit_se"]
    expected = [[0.25, 0.05], [0.125, 0.025], [0.1, 0.02]] if known else np.full((3, 2), np.nan)
    np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize("unit", ["head", "setting"])
def test_every_label_of_a_unit_is_kept_and_nothing_else(unit):
    """So that no later step opens the errors again for a flag."""
    labels = {"dimension": [1, 3], "isotropic": [True, False], "alpha": [0.1, 10.0]}
    errors = store(unit, **labels).assign(horizon_published=7.0)
    errors["mean_discretisation"] = ((unit, "n"), np.full((2, 5), 0.01))
    errors["mean_wide_bins"] = errors["mean"] * 1.01
    errors["mean_difference"] = (("n", "feature"), np.zeros((5, 3)))
    rates = fitted(errors)
    for name in (*labels, "horizon", "psi", "horizon_published", "mean_discretisation"):
        xr.testing.assert_identical(rates[name], errors[name])
    assert not {"mean_wide_bins", "mean_difference", "mean_scale", "mean", "cov"} & set(rates)


def test_the_couplings_predict_rates_and_without_them_there_are_none():
    rates = fitted(store())
    for name, expected in predictions(np.array([0.5, np.nan]), np.array([0.3, np.nan])).items():
        np.testing.assert_allclose(rates[name], expected)
    assert rates["bound_v3"].isel(head=0) == 1 / 2.5


def test_an_error_as_large_as_its_scale_is_saturated():
    """At n = 1024 the error is 1/32: of a scale of 2 to 5, or ten times that."""
    rates = fitted(store())
    value = rates["value"].isel(n=-1, part=0)
    np.testing.assert_allclose(rates["relative_error"].isel(part=0), value / [[2, 20], [4, 40], [5, 50]])
    np.testing.assert_array_equal(rates["saturated"].isel(part=0), rates["relative_error"].isel(part=0) > 0.02)
    np.testing.assert_array_equal(rates["limit_scale"], [[2, 20], [4, 40], [5, 50]])


@pytest.mark.parametrize(
    ("dims", "name", "kept"),
    [
        ((), "horizon_published", True),
        (("setting",), "alpha", True),
        (("setting", "n"), "cov_discretisation", True),
        (("setting",), "cov_scale", False),
        (("setting",), "mean_limit_se", False),
        (("setting", "replicate", "n"), "mean", False),
        (("n", "feature"), "mean_difference", False),
        (("head",), "alpha", False),
    ],
)
def test_what_is_a_label(dims, name, kept):
    assert is_label(xr.DataArray(np.zeros((1,) * len(dims)), dims=dims, name=name), "setting") == kept
