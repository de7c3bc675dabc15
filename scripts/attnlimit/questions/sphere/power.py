"""Fits as the default run would make them if the claim held, and under an alternative: how often each is recognised."""

import numpy as np
import xarray as xr

from attnlimit.questions.sphere.fit import STATISTICS, exact_constants, fit_constants
from attnlimit.stats.planted import default_config

RUN = default_config()
DIMENSIONS, SPAN = (RUN["fit_constants"][name] for name in ("dimensions", "span"))
DRAWN, RADII, SIZE, REPLICATES = (
    RUN["simulate_constants"][name] for name in ("dimension", "radii", "size", "replicates")
)
RATE = 0.01  # of the alternative


def growing(dimension: int, radius: float) -> tuple[float, float]:
    """The exact constants times exp(R / 100)."""
    mean, covariance = exact_constants(dimension, radius)
    return mean * float(np.exp(RATE * radius)), covariance * float(np.exp(RATE * radius))


def simulated_fits(truth: bool, stream: np.random.Generator) -> dict[str, xr.Dataset]:
    """Normal errors of the size that the constants ask for; the constants themselves are exact."""
    constants = exact_constants if truth else growing
    places = [(dimension, radius) for dimension in (1, DRAWN) for radius in RADII]
    sizes = np.array([constants(*place) for place in places])  # (setting, statistic)
    noise = np.abs(stream.standard_normal((*sizes.shape, REPLICATES)))
    errors = xr.Dataset(
        {
            "error": (("setting", "statistic", "replicate"), sizes[..., None] * noise / np.sqrt(SIZE)),
            "drawn_dimension": ("setting", [dimension for dimension, _ in places]),
            "drawn_radius": ("setting", [radius for _, radius in places]),
        },
        coords={"setting": [f"d = {d}, R = {radius:g}" for d, radius in places], "statistic": list(STATISTICS)},
        attrs={"n": SIZE},
    )
    return {"constants": fit_constants(errors, DIMENSIONS, SPAN, constants)}


POWER = {"constants": ("a further factor exp(R/100)", simulated_fits)}
