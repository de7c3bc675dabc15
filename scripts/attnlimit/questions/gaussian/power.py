"""Could the claims on simulated tokens have failed?  Planted rates at the sizes of the default run."""

from functools import partial

import numpy as np
import xarray as xr

from attnlimit.stats.planted import default_config, on_curve, planted_errors, planted_fits
from attnlimit.theory.bounds import predictions

Stores = dict[str, xr.Dataset]
WIDTH = {1: 1, 2: 2, 10: 8, 50: 20}  # effective dimension of the errors' noise, by that of the tokens
UNIT_HORIZON = 0.034  # H of the published experiment at alpha = 1


def simulations(rates, stream: np.random.Generator) -> Stores:
    """Fits of all simulations with rates(H), as the default run has them."""
    config = default_config()
    drawn, published, sphere = (config[f"simulate_{name}"] for name in ("gaussian", "gaussian_published", "sphere"))
    stores = {}
    scales = np.array(drawn["scales"])
    parts = []
    for d in drawn["dimensions"]:
        laws = 1 if d == 1 else 2
        horizon = np.tile(scales, laws)
        labels = {"dimension": np.full(len(horizon), d), "isotropic": np.arange(len(horizon)) < len(scales)}
        parts.append(planted_fits(rates(horizon), horizon, drawn, WIDTH[d], stream, labels))
    stores["gaussian"] = xr.concat(parts, "setting").assign_attrs(parts[0].attrs)
    alpha = np.array(published["scales"])
    labels = {"exact": np.repeat([True, False], len(alpha)), "scale": np.tile(alpha, 2)}
    horizon = UNIT_HORIZON * np.tile(alpha, 2)
    stores["gaussian_published"] = planted_fits(rates(horizon), horizon, published, WIDTH[50], stream, labels)
    horizon = np.array(sphere["horizons"])
    stores["sphere"] = planted_fits(rates(horizon), horizon, sphere, WIDTH[50], stream)
    return stores | {"gaussian_asymptotic": counted(rates, stream)}


def counted(rates, stream: np.random.Generator) -> xr.Dataset:
    """Fits of tokens in one dimension at very large n."""
    section = default_config()["simulate_gaussian_asymptotic"]
    horizon = np.array(section["horizons"])
    return planted_fits(rates(horizon), horizon, section, WIDTH[1], stream)


def below_the_curve(horizon: np.ndarray) -> np.ndarray:
    """Half-way between 1/2 and the curve, but one setting in five 0.1 below the curve (or flat)."""
    curve = predictions(horizon, horizon**2)["bound_v3"]
    return np.where(np.arange(len(horizon)) % 5 == 4, np.maximum(curve - 0.1, 0), on_curve(horizon, 0.5))


def moment_rate(truth: bool, stream: np.random.Generator) -> Stores:
    return {"gaussian_asymptotic": counted(partial(on_curve, coefficient=0.5 if truth else 0), stream)}


def horizon_dependence(truth: bool, stream: np.random.Generator) -> Stores:
    return simulations(partial(on_curve, coefficient=0.5 if truth else 0), stream)


def bound_curve(truth: bool, stream: np.random.Generator) -> Stores:
    return simulations(partial(on_curve, coefficient=0.5) if truth else below_the_curve, stream)


def gaussian_reference(truth: bool, stream: np.random.Generator) -> Stores:
    """Errors to the limit, and the same with the reference's own, independent error added in squares, or not at all."""
    section = default_config()["simulate_gaussian_published"]
    alpha, sizes, tokens = np.array(section["scales"]), section["sizes"], section["reference_tokens"]
    horizon = UNIT_HORIZON * alpha
    beta = np.broadcast_to(on_curve(horizon, 0.5), (3, len(alpha)))
    exact = planted_errors(beta, sizes, section["replicates"], WIDTH[50], stream)
    reference = planted_errors(beta, [tokens], 1, WIDTH[50], stream) if truth else 0  # one for each setting
    errors = np.concatenate([exact, np.sqrt(exact**2 + reference**2)], axis=1)
    labels = {"exact": np.repeat([True, False], len(alpha)), "scale": np.tile(alpha, 2)}
    twice = np.tile(horizon, 2)
    fits = planted_fits(beta, twice, section, WIDTH[50], stream, labels, errors)
    return {"gaussian_published": fits.assign_attrs(reference_tokens=tokens)}


POWER = {
    "moment_rate": ("β is 1/2 at every H", moment_rate),
    "horizon_dependence": ("β is 1/2 at every H, in every simulation", horizon_dependence),
    "bound_curve": ("one setting in five lies 0.1 below the curve, or does not fall at all", bound_curve),
    "gaussian_reference": ("the reference changes no rate", gaussian_reference),
}
