"""Fits of errors with known laws: rates, keys, gains and growth come back, with intervals over windows."""

import numpy as np
import pytest
import xarray as xr

from attnlimit.attention.keys import Kept
from attnlimit.questions.keys.budgets import budgets_table, full_attention, keys_table, prune_ratios
from attnlimit.questions.keys.first_order import growth_of
from attnlimit.questions.keys.fit import fit_keys, measured_keys, with_median
from attnlimit.questions.keys.power import simulated_errors

KEPT = Kept(1, 64, 4).by_protocol()


def fitted(**changes):
    errors = simulated_errors(np.random.default_rng(3), **changes)
    return fit_keys(errors, 1024, KEPT)


def test_a_known_law_comes_back():
    fits = fitted(noise=1e-9)
    uniform = fits.sel(protocol="uniform")
    np.testing.assert_allclose(uniform["beta"], 0.5, rtol=1e-6)
    first = uniform["first_order_keys"].sel(eps=0.05, context=1024)
    np.testing.assert_allclose(uniform["keys"].sel(eps=0.05), first, rtol=1e-6)
    np.testing.assert_allclose(uniform["growth"], 1.0, rtol=1e-6)
    np.testing.assert_allclose(fits["median_first_order_ratio"], 1, rtol=1e-6)
    np.testing.assert_allclose(fits["joint_gain"], 2, rtol=1e-6)
    share = fits["cache_share"].sel(eps=0.05, context=1024, protocol="uniform")
    np.testing.assert_allclose(share, first / (first + 768.0))


def test_a_power_of_the_context_and_a_wrong_first_order_are_seen():
    fits = fitted(growth=0.2, first_order=2.0, noise=0.01)
    assert float(fits["median_growth_high"].sel(protocol="uniform")) < 0.4
    assert float(fits["median_first_order_ratio_low"].sel(eps=0.05)) > 1.5


def test_intervals_hold_the_truth_about_as_often_as_they_say():
    """Over simulated sets of six windows, the interval of the median power holds it in about 95 %."""
    held = []
    for seed in range(60):
        errors = simulated_errors(np.random.default_rng([7, seed]), noise=0.2, heads=(2, 3))
        fits = with_median("growth", errors.sel(protocol=["uniform"]), growth_of, logs=False)[1].squeeze("protocol")
        held.append(float(fits["median_growth_low"]) < 1.0 < float(fits["median_growth_high"]))
    assert 0.85 <= np.mean(held) < 1


def test_one_window_has_no_interval():
    with pytest.raises(ValueError, match="needs at least 2"):
        fit_keys(simulated_errors(np.random.default_rng(1), windows=1), 1024, KEPT)


def test_tables_and_budgets():
    fits = fitted(noise=1e-9)
    table = keys_table(fits, 1024)
    assert len(table) == fits.sizes["layer"] * fits.sizes["head"]
    assert {"kv_head", "first_weight", "mass_16", "keys_uniform", "first_order_sink_recent"} <= set(table)
    budgets = budgets_table(fits)
    assert len(budgets) == 2 * fits.sizes["layer"]
    most = float(fits["keys"].sel(eps=0.05, protocol="sink_recent", layer=0, head=[0, 1]).max()) + 65
    assert budgets["sink_recent"][0] == pytest.approx(most)
    ratios = prune_ratios(fits, 1024)
    np.testing.assert_allclose(ratios.mean((1, 2)), np.arange(1, 100) / 100, atol=0.02)
    assert full_attention(fits, 1024).shape == (fits.sizes["layer"], 2)


def test_a_size_that_reads_every_key_tells_nothing_of_those_before():
    """0.2 at 512 keys and rounding at 1,024: no number in between; 0.04 at 512: between the sizes with an error."""
    squares = [[0.4**2, 0.2**2, 1e-14], [0.4**2, 0.04**2, 1e-14]]
    data = xr.Dataset({"square": (("window", "head", "n"), [squares] * 2)}, coords={"n": [256, 512, 1024]})
    far, near = measured_keys(data, 0.05).values
    assert np.isinf(far) and 256 < near < 512
