"""Rates, gains and quadrature: exact where the errors are, covered where they are noisy."""

import numpy as np
import pytest
import xarray as xr

from attnlimit.questions.propagation.fit import fit_propagation
from attnlimit.stats.power_law import Bootstrap

SIZES = np.array([64, 128, 256, 512])
SINGLE = [128, 512]
LAYERS = 3
OWN = np.array([1.0, 2.0, 0.5])  # error that a layer makes at n = 1
STEP = np.array([0.8, 1.5])  # gain from a layer to the next
GAIN = np.array([[1, 0.8, 1.2], [0, 1, 1.5], [0, 0, 1]])  # products of STEP
DIMS = ("statistic", "drawn_layer", "layer", "block", "replicate", "single_n")


def dataset(single: np.ndarray, together: np.ndarray, scale: np.ndarray) -> xr.Dataset:
    """single in the order of DIMS, together without drawn_layer and at all SIZES, scale (block,)."""
    statistics, _, _, blocks, replicates, _ = single.shape
    labels = {"drawn_layer": range(LAYERS), "layer": range(LAYERS), "block": range(blocks), "n": SIZES}
    together_dims = ("statistic", "layer", "block", "replicate", "n")
    return xr.Dataset(
        {
            "single_error": (DIMS, single * scale[:, None, None]),
            "error": (together_dims, together * scale[:, None, None]),
            "limit_scale": (("statistic", "layer", "block"), np.broadcast_to(scale, (statistics, LAYERS, blocks))),
        },
        coords=labels | {"single_n": SINGLE, "statistic": [str(number) for number in range(statistics)]},
    )


def exact(add) -> xr.Dataset:
    """Errors without noise: each layer's falls like 1/sqrt(n) and passes with GAIN; `add` joins those of the layers."""
    single = (OWN[:, None] * GAIN)[None, :, :, None, None, None] * np.array(SINGLE) ** -0.5
    together = add(OWN[:, None] * GAIN)[None, :, None, None, None] * SIZES**-0.5
    blocks, replicates = 6, 2
    single = np.broadcast_to(single, (1, LAYERS, LAYERS, blocks, replicates, len(SINGLE)))
    together = np.broadcast_to(together, (1, LAYERS, blocks, replicates, len(SIZES)))
    return dataset(single, together, np.geomspace(1, 100, blocks))


def fitted(errors: xr.Dataset, draws: int = 200) -> xr.Dataset:
    return fit_propagation(errors, Bootstrap(draws, True, np.random.default_rng(1)), misfit=3)


def test_additive_errors_give_ratio_one_and_their_own_gains():
    """Of any scale: errors are relative to that of their block."""
    fits = fitted(exact(lambda layers: np.sqrt((layers**2).sum(0))))
    np.testing.assert_allclose(fits["quadrature"], 1)
    np.testing.assert_allclose(fits["beta"], 0.5)
    gain = fits["gain"].sel(single_n=128).values[0]
    np.testing.assert_allclose(gain, np.where(np.tril(np.ones((3, 3)), -1), np.nan, GAIN))
    np.testing.assert_allclose(fits["gain_low"], fits["gain"])
    np.testing.assert_allclose(fits["rms"].sel(layer=0).values[0], SIZES**-0.5)
    np.testing.assert_allclose(fits["late_rate"], 0.5)
    np.testing.assert_allclose(fits["depth_change"], 0, atol=1e-12)


def test_rates_by_depth_are_lines_over_the_larger_sizes():
    """Rates 0.5, 0.4, 0.1 from n = 128 on, whatever lies below: a least-squares line falls by 0.4 over three layers."""
    errors = exact(lambda layers: np.ones(3))
    error = errors["error"] * SIZES**0.5
    error = error * (SIZES ** -np.array([[0.5], [0.4], [0.1]]))[:, None, None, :]
    errors["error"] = error * xr.where(errors["n"] < 128, 7.0, 1.0)
    fits = fit_propagation(errors, Bootstrap(50, True, np.random.default_rng(1)), 3, saturated=0.1)
    for end in ("", "_low", "_high"):
        np.testing.assert_allclose(fits["late_rate" + end].values[0], [0.5, 0.4, 0.1])
        np.testing.assert_allclose(fits["depth_change" + end], -0.4)
    assert fits["late_saturated"].values.tolist() == [[False, True, True]], "128^-0.5 is 0.088, 128^-0.4 0.14"


def test_errors_that_point_the_same_way_are_told_apart():
    fits = fitted(exact(lambda layers: layers.sum(0)))
    np.testing.assert_allclose(fits["quadrature"], fits["quadrature_in_step"])
    assert (fits["quadrature"].isel(layer=-1) < 0.75).all()


@pytest.mark.parametrize("shared", [0.0, 0.5])
def test_intervals_cover(shared):
    """Linear layers, errors as random vectors in blocks that differ; a shared direction makes the ratio another one.

    The true ratio: squares of own parts, over those with what the layers' vectors have in common.
    """
    rng, trials, blocks, features = np.random.default_rng(3), 400, 12, 5
    spread = np.exp(0.5 * rng.normal(size=(trials, 1, blocks, 1, 1, 1)))
    common = rng.normal(size=(trials, 1, blocks, 2, 1, features))
    own = rng.normal(size=(trials, LAYERS, blocks, 2, len(SIZES), features))
    made = spread * (np.sqrt(shared) * common + np.sqrt(1 - shared) * own) * OWN[:, None, None, None, None]
    made = made / np.sqrt(SIZES)[:, None]  # (trial, drawn, block, replicate, n, feature)
    passed = np.einsum("tdbrnf,dm->tdmbrnf", made, GAIN)
    single = np.linalg.norm(passed, axis=-1)[..., [1, 3]]
    together = np.linalg.norm(passed.sum(1), axis=-1)
    fits = fitted(dataset(single, together, np.ones(blocks)))
    size = (OWN[:, None] * GAIN)[:, -1]  # of each layer's error, at the last
    truth = np.sqrt((size**2).sum() / ((1 - shared) * (size**2).sum() + shared * size.sum() ** 2))
    at_last = fits.isel(layer=-1)
    covered = (at_last["quadrature_low"] <= truth) & (truth <= at_last["quadrature_high"])
    assert 0.91 < covered.mean() < 0.985
    if shared:
        assert (at_last["quadrature_high"] < 1).mean() > 0.95, "the other truth is seen"
    for name, truth in (("beta", 0.5), ("late_rate", 0.5), ("depth_change", 0.0)):
        covered = (fits[name + "_low"] <= truth) & (fits[name + "_high"] >= truth)
        assert 0.91 < covered.mean() < 0.985, name


def test_one_block_is_refused():
    errors = exact(lambda layers: layers.sum(0)).isel(block=[0])
    with pytest.raises(ValueError, match=r"^propagation: 1 block; an interval needs at least 2$"):
        fitted(errors)
