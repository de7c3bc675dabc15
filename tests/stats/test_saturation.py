"""Saturated: a large error that hardly falls any more; and n(eps) in a store of rates."""

import numpy as np
import pytest
import xarray as xr

from attnlimit.base.coordinates import PARTS, STATISTICS
from attnlimit.stats.complexity import SHARES
from attnlimit.stats.fits import TOKENS, fit_errors
from attnlimit.stats.power_law import Bootstrap, late_slope
from attnlimit.stats.table import rates_table

SIZES = np.array([64, 128, 256, 512, 1024])


def fitted(curves, **how) -> xr.Dataset:
    """Rates of settings whose expected errors, relative to a scale of 2, are the curves (setting, n)."""
    rng = np.random.default_rng(0)
    names = [f"curve {number}" for number in range(len(curves))]
    errors = xr.Dataset(coords={"setting": names, "n": SIZES, "statistic": list(STATISTICS)})
    noise = np.exp(0.001 * rng.normal(size=(len(STATISTICS), len(curves), 12, len(SIZES))))
    errors["error"] = (("statistic", "setting", "replicate", "n"), 2 * np.asarray(curves, float)[:, None] * noise)
    errors["limit_scale"] = (("statistic", "setting"), np.full((len(STATISTICS), len(curves)), 2.0))
    errors["horizon"], errors["psi"] = ("setting", np.ones(len(curves))), ("setting", np.ones(len(curves)))
    plans = [Bootstrap(100, True, np.random.default_rng(number)) for number in range(3)]
    return fit_errors(errors, plans, misfit=3, saturated=0.5, **how)


def power(beta, last):
    return last * (SIZES / SIZES[-1]) ** -float(beta)


def test_a_large_error_is_saturated_only_if_it_hardly_falls():
    curves = [power(0.05, 0.9), power(0.3, 0.9), power(0.05, 0.4), power(0.3, 0.4)]
    found = fitted(curves, saturated_slope=0.1)["saturated"].sel(part="error")
    np.testing.assert_array_equal(found, [[True, False, False, False]] * len(STATISTICS))


def test_the_slope_that_counts_is_the_late_one():
    """One curve falls at first and then stays, one stays and then falls; over all n both have the same slope."""
    stays, falls = [4, 2, 1, 0.99, 0.98], [4, 3.99, 3.98, 2, 1]
    found = fitted([stays, falls], saturated_slope=0.1)["saturated"].sel(part="error", statistic="mean")
    np.testing.assert_array_equal(found, [True, False])


def test_without_a_slope_the_error_alone_decides():
    found = fitted([power(0.05, 0.9), power(0.3, 0.9), power(0.3, 0.4)])["saturated"].sel(
        part="error", statistic="mean"
    )
    np.testing.assert_array_equal(found, [True, True, False])


def test_a_part_that_is_not_there_is_not_saturated():
    assert not fitted([power(0.05, 0.9)], saturated_slope=0.1)["saturated"].sel(part=["bias", "fluctuation"]).any()


@pytest.mark.parametrize(
    ("sizes", "start"),
    [([1, 10, 100], 1), ([10, 20, 40, 80], 1), ([10, 15, 20], 0)],
    ids=["the last interval is wide", "the nearest three times smaller", "none is three times smaller"],
)
def test_the_late_slope_begins_at_the_right_size(sizes, start):
    """The value is 7, but at that size 9 and at the largest 9 / sqrt(n_max / n): a slope of 1/2 from there only."""
    value = np.full(len(sizes), 7.0)
    value[start], value[-1] = 9, 9 / np.sqrt(sizes[-1] / sizes[start])
    assert late_slope(np.array(sizes), value) == pytest.approx(0.5)


def test_a_store_of_rates_has_tokens_for_each_share_statistic_and_setting():
    """n^-1/2 passes 10 % at 100 and 5 % at 400; 1 % at 10,000, beyond the largest n."""
    rates = fitted([SIZES**-0.5, power(0.05, 0.9)], saturated_slope=0.1)
    for name in TOKENS:
        assert rates[name].dims == ("eps", "statistic", "setting")
    np.testing.assert_array_equal(rates["eps"], SHARES)
    for statistic in range(len(STATISTICS)):
        first = rates.isel(statistic=statistic, setting=0)
        np.testing.assert_allclose(first["tokens_needed"].sel(eps=[0.1, 0.05, 0.01]), [100, 400, 10_000], rtol=0.02)
        np.testing.assert_array_equal(first["tokens_needed_extrapolated"], [False, False, True])
        assert (first["tokens_needed_low"] <= first["tokens_needed"]).all() and (
            first["tokens_needed"] <= first["tokens_needed_high"]
        ).all()
    assert np.isinf(rates["tokens_needed"].isel(setting=1)).all()


def test_the_table_has_tokens_in_the_rows_of_the_error():
    rates = fitted([SIZES**-0.5, power(0.05, 0.9)], saturated_slope=0.1)
    rates["beta"] = rates["beta"].fillna(1)  # as if bias and fluctuation had been fitted
    rates = rates.assign_coords(setting=["fast", "slow"]).assign_attrs(source="gaussian", replicates=12)
    table = rates_table(rates)
    error = table[table["part"] == PARTS[0]]
    columns = [f"tokens_{percent}{end}" for percent in (10, 5, 1) for end in ("", "_low", "_high", "_extrapolated")]
    assert [name for name in table.columns if name.startswith("tokens_")] == columns
    assert error[columns].notna().all(axis=None)
    assert table[table["part"] != PARTS[0]][columns].isna().all(axis=None)
    fast = error[(error["setting"] == "fast") & (error["statistic"] == "cov")].iloc[0]
    of = rates.sel(setting="fast", statistic="cov")
    assert fast["tokens_5_high"] == of["tokens_needed_high"].sel(eps=0.05)
    assert fast["tokens_1"] == of["tokens_needed"].sel(eps=0.01) and fast["tokens_1_extrapolated"]
    assert not fast["tokens_10_extrapolated"]
