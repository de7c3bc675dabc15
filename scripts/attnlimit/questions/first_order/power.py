"""Could the claim on first order have failed?  Planted ratios of predicted to measured error."""

from collections.abc import Sequence

import numpy as np
import xarray as xr

LAYERS, HEADS, DRAWS = 6, 12, 500
NOISE = 0.03  # of ln ratio: 100 replicates of about ten dimensions, and the standard error of the constant
SHARED = 0.5  # share of its variance that the heads of a layer have alike: they share their draws


def planted(ratios: Sequence[float], stream: np.random.Generator, noise: float = NOISE, few: int = 0) -> xr.Dataset:
    """Six layers of twelve heads and, far off, their whole layers, whose mean is predicted with these ratios.

    few: heads that rest on few tokens, whose ratio is far off too.
    """
    true = np.resize(ratios, LAYERS * HEADS).astype(float)
    true[:few] = 3
    true = np.concatenate([true.reshape(LAYERS, HEADS), np.full((LAYERS, 1), 9.0)], 1)  # (layer, head)
    shared, own = (stream.normal(size=(DRAWS + 1, LAYERS, count)) for count in (1, HEADS + 1))
    moved = np.exp(noise * (SHARED**0.5 * shared + (1 - SHARED) ** 0.5 * own))  # (draw, layer, head)
    seen, dims = true * moved[0], ("layer", "head")
    on_few = np.append(np.arange(LAYERS * HEADS).reshape(LAYERS, HEADS) < few, np.ones((LAYERS, 1), bool), 1)
    data: dict[str, tuple] = {
        f"ratio{end}": ((*dims, "n"), (seen * np.exp(side * 1.96 * noise))[..., None])
        for end, side in (("", 0), ("_low", -1), ("_high", 1))
    }
    data |= {"ratio_resampled": (("draw", *dims), seen * moved[1:])}
    labels = {"layer": range(LAYERS), "head": [*range(HEADS), -1], "n": [4096]}
    fits = xr.Dataset(data, labels, {"model": {"name": "planted"}}).expand_dims(statistic=["mean"])
    return fits.assign(few_tokens=(dims, on_few))


def first_order_predicts(truth: bool, stream: np.random.Generator) -> dict[str, xr.Dataset]:
    """Right in 19 of 20 heads; or 20 % off, either way, in two of five."""
    return {"first_order": planted([1.0] * 19 + [1.3] if truth else [1.0, 1.2, 1.0, 0.8, 1.0], stream)}


POWER = {"first_order_predicts": ("two of five heads are predicted 20 % too high or too low", first_order_predicts)}
