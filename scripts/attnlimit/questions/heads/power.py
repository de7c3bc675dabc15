"""Could the claims on the heads have failed?  Planted rates of six layers of twelve heads that share their draws."""

import numpy as np
import xarray as xr

from attnlimit.base.coordinates import STATISTICS
from attnlimit.stats.planted import default_config, on_curve, planted_errors, planted_fits
from attnlimit.theory.bounds import predictions

LAYERS, HEADS = 6, 12
WIDTH, SHARED = 10, 0.3  # effective dimension of a head's error; share of its noise that is the same in a layer
HORIZONS = np.geomspace(0.2, 2, HEADS)


def model(beta: np.ndarray, stream: np.random.Generator) -> dict[str, xr.Dataset]:
    """Fits of heads with these rates in every layer."""
    section, layers = default_config()["measure_errors"], []
    for layer in range(LAYERS):
        every = np.broadcast_to(beta, (len(STATISTICS), HEADS))
        drawn = [planted_errors(one, section["sizes"], section["replicates"], WIDTH, stream, SHARED) for one in every]
        fits = planted_fits(beta, HORIZONS, section, WIDTH, stream, errors=np.stack(drawn))
        layers.append(fits.rename(setting="head").expand_dims(layer=[layer]))
    facts = {"model": {"name": "planted"}, "population": default_config()["tokenize_corpus"]["population"]}
    return {"heads": xr.concat(layers, "layer").assign_attrs(layers[0].attrs | facts)}


def heads_above(truth: bool, stream: np.random.Generator) -> dict[str, xr.Dataset]:
    """Rates of 1/2; or one head in five 0.1 below the curve."""
    curve = predictions(HORIZONS, HORIZONS**2)["bound_v3"]
    below = np.where(np.arange(HEADS) % 5 == 4, curve - 0.1, 0.5)
    return model(on_curve(HORIZONS, 0) if truth else below, stream)


def heads_curve(truth: bool, stream: np.random.Generator) -> dict[str, xr.Dataset]:
    return model(on_curve(HORIZONS, 0.5 if truth else 0), stream)


POWER = {
    "heads_above": ("one head in five lies 0.1 below the curve", heads_above),
    "heads_curve": ("β is 1/2 in every head", heads_curve),
}
