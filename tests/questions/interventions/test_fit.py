"""Changes of heads whose law is known: none, or the planted one, and how often intervals hold it."""

import numpy as np
import pytest
import xarray as xr

from attnlimit.base.coordinates import STATISTICS
from attnlimit.questions.interventions.fit import changes, counted, fit_interventions, slopes_known
from attnlimit.questions.interventions.power import HEADS, VARIANTS, layer_errors

NONE = np.zeros((len(VARIANTS), HEADS + 1))


def planted(beta=0.0, error=0.0, layers=2, seed=0) -> list[xr.Dataset]:
    """The second variant has its beta and ln error changed by this much; the others only noise."""
    stream, change = np.random.default_rng(seed), NONE.copy()
    change[1] = 1
    return [layer_errors(stream, beta * change, error * change, layer) for layer in range(layers)]


def found(layers: list[xr.Dataset]) -> xr.Dataset:
    dims = ("layer", "variant", "statistic", "head")
    return changes(layers, xr.DataArray(np.ones((len(layers), *layers[0]["limit_scale"].shape), bool), dims=dims))


def test_a_variant_that_changes_nothing_has_change_0_and_no_noise():
    layers = planted()
    same = [layer.assign(error=layer["error"] * 0 + layer["error"].isel(variant=0, drop=True)) for layer in layers]
    data = found(same)
    for name in ("beta_change", "error_change", "mean_beta_change", "mean_error_change"):
        assert all((data[name + end] == 0).all() for end in ("", "_low", "_high")), name
    assert (data["beta_change_p"] == 1).all()
    assert counted(data.isel(variant=1, statistic=0), "beta_change", 0.95)[:3] == (0, 0, 2 * HEADS)


def test_errors_without_noise_give_the_planted_change_exactly():
    n = np.array([64, 128, 256, 512, 1024, 2048])
    (layer,) = planted(layers=1)
    exact = np.broadcast_to(
        3 * n ** -np.array([0.5, 0.4, 0.5, 0.5, 0.5])[:, None, None, None, None], layer["error"].shape
    )
    data = found([layer.assign(error=(layer["error"].dims, exact))])
    np.testing.assert_allclose(data["beta_change"].isel(variant=1), -0.1, atol=1e-9)
    np.testing.assert_allclose(data["error_change"].isel(variant=1), 0.1 * np.log(2048), atol=1e-9)
    np.testing.assert_allclose(data["beta_change"].isel(variant=2), 0, atol=1e-9)


@pytest.mark.parametrize(("name", "truth"), [("beta", {"beta": -0.05}), ("error", {"error": -0.2})])
def test_intervals_hold_the_planted_change(name, truth):
    """Heads of 20 layers are 240 repetitions, three statistics each; one layer a mean: 60. At the run's own sizes."""
    layers = planted(**truth, layers=20)
    each = found(layers).isel(variant=1, head=slice(-1))
    value = truth[name]
    inside = (each[f"{name}_change_low"] < value) & (value < each[f"{name}_change_high"])
    assert 0.92 < float(inside.mean()) < 0.98  # 0.95 and more than three standard errors of 720
    wrong = (each[f"{name}_change_low"] < 0) & (each[f"{name}_change_high"] > 0)
    assert float(wrong.mean()) < 0.6  # an interval that says something
    means = [found([layer]).isel(variant=1) for layer in layers]
    held = [(one[f"mean_{name}_change_low"] < value) & (value < one[f"mean_{name}_change_high"]) for one in means]
    assert 0.85 < float(np.mean(held)) <= 1
    assert np.isnan(means[0][f"mean_{name}_change_layers_low"]).all()  # one layer says nothing of others


def test_layers_that_differ_widen_the_interval_for_layers_like_these_alone():
    layers = planted(error=-0.2, layers=3)
    layers += [layer.assign_coords(layer=int(layer["layer"]) + 3) for layer in planted(error=0.4, layers=3, seed=1)]
    data = found(layers).isel(variant=1)
    assert (data["mean_error_change_low"] > 0.05).all()  # surely up in these heads
    assert (data["mean_error_change_layers_low"] < 0).all()  # not in layers like these


def test_saturated_heads_are_left_out_of_slopes_and_named():
    layers = [
        layer.assign(
            horizon=(("variant", "head"), np.ones(NONE.shape)),
            psi=(("variant", "head"), np.ones(NONE.shape)),
            alpha=("variant", [each.alpha for each in VARIANTS]),
            tilt_factor=("variant", [each.tilt_factor for each in VARIANTS]),
        )
        for layer in planted(beta=-0.1)
    ]
    stuck = layers[0]["error"].copy()
    stuck.loc[{"variant": VARIANTS[1].name, "head": 3}] = 0.9 + 0.01 * stuck.sel(variant=VARIANTS[1].name, head=3)
    layers[0] = layers[0].assign(error=stuck)
    layers = [layer.assign_attrs(nested=True) for layer in layers]

    def streams(layer):
        return [np.random.default_rng([layer, number]) for number in range(len(STATISTICS))]

    fits = fit_interventions(layers, 50, streams, 3, 0.5, 0.1, 0.1)
    one = fits.isel(variant=1).sel(statistic="mean")
    counts = counted(one, "beta_change", 0.95)
    assert counts.saturated == ["0.3"] and sum(counts[:3]) == 2 * HEADS - 1
    assert counts.fallen > HEADS and counts.risen == 0
    assert counted(one, "error_change", 0.95).saturated == []
    assert -0.12 < float(one["mean_beta_change"]) < -0.08  # the stuck head would pull it down by 0.02
    assert fits["beta"].dims[:2] == ("layer", "variant") and (fits["alpha"] == [1, 2, 4, 1, 1]).all()


def test_a_head_saturated_as_it_is_is_known_in_no_variant():
    saturated = xr.DataArray([[True, False], [False, False], [False, True]], dims=("variant", "head"))
    np.testing.assert_array_equal(slopes_known(saturated), [[False, True], [False, True], [False, False]])
