"""A store of errors becomes rates: labels kept, standard errors relative, predictions of the couplings."""

import numpy as np
import pytest
import xarray as xr

from attnlimit.base.coordinates import PARTS, STATISTICS, WHOLE_LAYER
from attnlimit.stats.fits import PREDICTIONS, fit_errors, is_label
from attnlimit.stats.power_law import Bootstrap
from attnlimit.theory.bounds import predictions

SIZES = np.array([64, 128, 256, 512, 1024])
SCALES = [[2.0, 20.0], [4.0, 40.0], [5.0, 50.0]]  # (statistic, unit)


def plan(seed=0, draws=400, joint=True):
    return Bootstrap(draws, joint, np.random.default_rng(seed))


def store(unit="head", **labels) -> xr.Dataset:
    """Errors of two units that fall like n^-1/2; of each statistic the second has ten times the scale."""
    rng, place = np.random.default_rng(7), ("statistic", unit, "replicate", "n")
    names = {"head": [0, 1], "setting": ["weak", "strong"]}[unit]
    errors = xr.Dataset(coords={unit: names, "n": SIZES, "statistic": list(STATISTICS)})
    errors["error"] = (place, rng.lognormal(0, 0.1, size=(3, 2, 8, 5)) * SIZES**-0.5)
    errors["limit_scale"] = (place[:2], SCALES)
    errors["horizon"], errors["psi"] = (unit, [0.5, 3.0]), (unit, [0.3, 9.0])
    return errors.assign({name: (unit, values) for name, values in labels.items()})


def fitted(errors) -> xr.Dataset:
    return fit_errors(errors, [plan(number, draws=100) for number in range(3)], misfit=3, saturated=0.01)


@pytest.mark.parametrize("known", [True, False])
def test_the_standard_error_of_a_limit_is_relative_to_its_scale(known):
    errors = store()
    if known:
        errors["limit_se"] = (("statistic", "head"), [[0.5, 1.0]] * 3)
    found = fitted(errors)["limit_se"]
    expected = [[0.25, 0.05], [0.125, 0.025], [0.1, 0.02]] if known else np.full((3, 2), np.nan)
    np.testing.assert_allclose(found, expected)


def test_a_limit_is_uncertain_where_its_error_is_a_share_of_that_at_the_largest_n():
    """Of a fluctuation never: the limit's error is the same in all replicates."""
    errors = store()
    squares = (errors["error"].sel(statistic="mean", drop=True) ** 2).mean("replicate")  # (head, n)
    errors["mean_gram"] = 0.9 * squares.expand_dims(group=4, group_2=4).transpose("head", "n", "group", "group_2")
    assert fitted(errors)["limit_se_share"].isnull().all()
    value = fitted(errors)["value"].isel(n=-1)
    of_error = value.sel(part="error")
    errors["limit_se"] = of_error * xr.DataArray([0.05, 0.15], dims="head")
    rates = fit_errors(errors, [plan(number, draws=100) for number in range(3)], 3, 0.01, uncertain_limit=0.1)
    share = rates["limit_se_share"]
    assert share.dims == ("statistic", "part", "head")
    np.testing.assert_allclose(share.sel(part="error"), [[0.05, 0.15]] * 3)
    np.testing.assert_array_equal(rates["limit_uncertain"].sel(part="error"), [[False, True]] * 3)
    bias = {"statistic": "mean", "part": "bias"}
    np.testing.assert_allclose(share.sel(bias), errors["limit_se"].sel(statistic="mean") / value.sel(bias))
    assert value.sel(bias).notnull().all()
    assert (share.sel(part="fluctuation") == 0).all() and not rates["limit_uncertain"].sel(part="fluctuation").any()
    errors["limit_se"] = 0 * errors["limit_se"]
    assert (fitted(errors)["limit_se_share"].sel(part="error") == 0).all()  # exact


@pytest.mark.parametrize("unit", ["head", "setting"])
def test_every_label_of_a_unit_is_kept_and_nothing_else(unit):
    """So that no later step opens the errors again for a flag."""
    labels = {"dimension": [1, 3], "isotropic": [True, False], "alpha": [0.1, 10.0]}
    errors = store(unit, **labels).assign(horizon_published=7.0)
    errors["mean_discretisation"] = ((unit, "n"), np.full((2, 5), 0.01))
    errors["mean_wide_bins"] = errors["error"].sel(statistic="mean", drop=True) * 1.01
    errors["mean_difference"] = (("n", "feature"), np.zeros((5, 3)))
    rates = fitted(errors)
    for name in (*labels, "horizon", "psi", "horizon_published", "mean_discretisation"):
        xr.testing.assert_identical(rates[name], errors[name])
    assert not {"mean_wide_bins", "mean_difference", "error"} & set(rates)


def test_the_couplings_predict_rates_and_without_them_there_are_none():
    rates = fitted(store())
    for name, expected in predictions(np.array([0.5, 3.0]), np.array([0.3, 9.0])).items():
        np.testing.assert_allclose(rates[name], expected)
    assert rates["bound_v3"].isel(head=0) == 1 / 2.5
    assert not set(PREDICTIONS) & set(fitted(store().drop_vars(["horizon", "psi"])))


def test_an_error_as_large_as_its_scale_is_saturated():
    """At n = 1024 the error is about 1/32: of a scale of 2 to 5, or ten times that."""
    rates = fitted(store())
    value = rates["value"].isel(n=-1).sel(part="error")
    relative = rates["relative_error"].sel(part="error")
    np.testing.assert_allclose(relative, value / SCALES)
    np.testing.assert_array_equal(rates["saturated"].sel(part="error"), relative > 0.01)
    assert relative.min() < 0.01 < relative.max()
    np.testing.assert_array_equal(rates["limit_scale"], SCALES)


def test_labels_are_words_and_heads_numbers():
    for unit, names in (("head", [0, 1]), ("setting", ["weak", "strong"])):
        rates = fitted(store(unit))
        assert rates["beta"].dims == ("statistic", "part", unit)
        assert rates[unit].values.tolist() == names
        assert (rates["statistic"].values.tolist(), rates["part"].values.tolist()) == (list(STATISTICS), list(PARTS))


def test_the_whole_layer_is_fitted_like_a_head_and_beside_them():
    """Its errors are here those of head 1: the same numbers, without couplings of its own."""
    errors = store()
    couplings = ["horizon", "psi"]
    whole = errors.drop_vars(couplings).sel(head=[1]).assign_coords(head=[WHOLE_LAYER])
    both = xr.concat([errors.drop_vars(couplings), whole], "head", data_vars="minimal")
    rates = fitted(both.assign(errors[couplings]))
    own, head = (rates.sel(head=label, drop=True) for label in (WHOLE_LAYER, 1))
    known = [*couplings, *PREDICTIONS]
    xr.testing.assert_equal(own.drop_vars(known), head.drop_vars(known))
    assert all(np.isnan(own[name]) for name in known) and not any(np.isnan(head[name]) for name in known)
    xr.testing.assert_equal(rates.sel(head=[0, 1]), fitted(errors))


@pytest.mark.parametrize(
    ("dims", "name", "kept"),
    [
        ((), "horizon_published", True),
        (("setting",), "alpha", True),
        (("setting", "n"), "cov_discretisation", True),
        (("statistic", "setting"), "limit_scale", False),
        (("statistic", "setting", "replicate", "n"), "error", False),
        (("n", "feature"), "mean_difference", False),
        (("head",), "alpha", False),
    ],
)
def test_what_is_a_label(dims, name, kept):
    assert is_label(xr.DataArray(np.zeros((1,) * len(dims)), dims=dims, name=name), "setting") == kept
