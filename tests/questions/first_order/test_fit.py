"""Predicted beside measured errors: planted laws, n(eps) by hand, slopes, and what noise does to the ratio."""

import numpy as np
import pytest
import xarray as xr

from attnlimit.questions.first_order.figures import first_order
from attnlimit.questions.first_order.fit import compared, mean_square, slope, tokens_predicted

SIZES = np.array([64, 256, 1024, 4096])


def constants(mean=4.0, cov=9.0, bias=0.0, variance=0.0, kappa=1.0, se=0.0) -> xr.Dataset:
    """One head and the whole layer, whose covariance has no constant."""
    units, none = ("statistic", "head"), np.nan
    data = {"constant": (units, [[mean, mean], [cov, none]]), "constant_se": (units, [[se, se], [se, none]])}
    data |= {"bias_squared": ("head", [bias, none]), "second_variance": ("head", [variance, none])}
    data |= {"second_variance_se": ("head", [0.0, none]), "kappa": ("head", [kappa, kappa])}
    return xr.Dataset(data, coords={"statistic": ["mean", "cov"], "head": [0, -1]})


def errors(made, factor=1.0, replicates=200, noise=0.1, **attrs) -> xr.Dataset:
    """Replicates about the predicted errors times a factor; their root mean square is that exactly."""
    expected = np.sqrt(mean_square(made, xr.DataArray(SIZES, dims="n")).transpose("statistic", "head", "n").values)
    expected = np.nan_to_num(expected, nan=1.0)
    spread = np.exp(noise * np.random.default_rng(0).normal(size=(2, 2, replicates, len(SIZES))))
    spread /= np.sqrt((spread**2).mean(2, keepdims=True))
    data = {"error": (("statistic", "head", "replicate", "n"), factor * expected[:, :, None] * spread)}
    data |= {"limit_scale": (("statistic", "head"), np.full((2, 2), 2.0))}
    return xr.Dataset(data, coords={"statistic": ["mean", "cov"], "head": [0, -1], "n": SIZES}, attrs=attrs)


def fit(made, measured, expansion=0.1):
    return compared(made, measured, expansion, 400, np.random.default_rng(1))


def test_a_planted_ratio_is_found_with_its_interval():
    made = constants(kappa=7.0, se=0.1)
    found = fit(made, errors(made, factor=1.25))
    of_mean = found.sel(statistic="mean", head=0).isel(n=-1)
    assert float(of_mean["ratio"]) == pytest.approx(0.8)
    assert 0.75 < of_mean["ratio_low"] < 0.8 < of_mean["ratio_high"] < 0.85
    assert np.isnan(found["ratio"].sel(statistic="cov", head=-1)).all()  # of the whole layer no covariance
    assert float(found["usable_from"].sel(head=0)) == pytest.approx(70) and not found["few_tokens"].any()
    assert fit(made, errors(made), expansion=0.001)["few_tokens"].all()


def test_the_interval_knows_the_noise_of_measurement_and_of_the_constant():
    def width(noise, se):
        made = constants(se=se)
        of_mean = fit(made, errors(made, noise=noise)).sel(statistic="mean", head=0).isel(n=-1)
        return float(of_mean["ratio_high"] - of_mean["ratio_low"])

    sharp, noisy, vague = width(0.01, 0.0), width(0.3, 0.0), width(0.01, 0.4)
    assert sharp < 0.01
    assert noisy == pytest.approx(2 * 1.96 * 0.3 / 200**0.5, rel=0.3)
    assert vague == pytest.approx(2 * 1.96 * 0.4 / (2 * 4), rel=0.2)  # half the relative error of E|psi|^2


def test_the_second_order_steepens_the_covariance_alone():
    found = fit(made := constants(bias=3000.0, variance=5000.0), errors(made))
    assert found["predicted_slope"].sel(head=0).values == pytest.approx(
        [0.5, slope(SIZES, np.sqrt(9 / SIZES + 8000 / SIZES**2))]
    )
    assert found["predicted_slope"].sel(statistic="cov", head=0) > 0.6
    assert found["slope"].sel(head=0).values == pytest.approx(found["predicted_slope"].sel(head=0).values, abs=0.01)
    assert (found["predicted_local_slope"].sel(statistic="cov", head=0).diff("interval") < 0).all()
    damped = mean_square(constants(variance=5000.0, kappa=65.0), xr.DataArray([64.0], dims="n"))
    assert damped.sel(statistic="cov", head=0).item() == pytest.approx(9 / 64 + 5000 / 128**2)


def test_a_squared_bias_below_zero_is_noise():
    n = xr.DataArray(SIZES, dims="n")
    assert mean_square(constants(bias=-50.0), n).equals(mean_square(constants(), n))


def test_tokens_needed_by_hand():
    """c / n = (eps scale)^2: 4 / (0.1 * 2)^2 = 100 and so on; with c = 0, sqrt(V2) / (eps scale)."""
    scale = xr.DataArray(
        np.full((2, 2), 2.0), dims=("statistic", "head"), coords={"statistic": ["mean", "cov"], "head": [0, -1]}
    )
    found = tokens_predicted(constants(), scale)
    np.testing.assert_allclose(found.sel(statistic="mean", head=0), [100, 400, 10000], rtol=1e-9)
    assert np.isnan(found.sel(statistic="cov", head=-1)).all()
    second = tokens_predicted(constants(cov=0.0, variance=16.0), scale).sel(statistic="cov", head=0)
    np.testing.assert_allclose(second, [20, 40, 200], rtol=1e-9)


def test_without_replacement_errors_shrink_towards_the_population():
    made = constants()
    found = fit(made, errors(made, replacement=False, population=5000))
    ratio = found["ratio"].sel(statistic="mean", head=0)
    np.testing.assert_allclose(ratio, np.sqrt((5000 - SIZES) / 4999), rtol=1e-9)


def test_another_statistic_is_refused():
    with pytest.raises(KeyError):
        fit(constants(), errors(constants()).isel(statistic=[0]))


@pytest.mark.parametrize("mean", [4.0, -1.0])
def test_a_single_head_and_a_constant_below_zero_can_be_drawn(mean):
    """Products of two halves of drawn queries may come out below 0; no two heads, no rank correlation."""
    found = fit(constants(mean=mean), errors(constants())).expand_dims(layer=[0])
    attrs = {"model": {"name": "small"}, "corpus": {"source": "text", "name": "words"}, "population": 1000}
    figure = first_order(found.assign_attrs(attrs))
    assert not any("nan" in text.get_text() for axis in figure.axes for text in axis.texts)
