"""Could the claims on errors of several layers have failed?  Planted errors at the sizes of the default run."""

import numpy as np
import xarray as xr

from attnlimit.questions.propagation.fit import fit_propagation
from attnlimit.stats.planted import DRAWS, default_config
from attnlimit.stats.power_law import Bootstrap

LAYERS, NOISE = 6, 0.1  # of the embedded model; of the log error of a block and draw
DEEPEST = 0.25  # rate after the last layer, if it falls with depth from 1/2 after the first
TOGETHER = 0.7  # root of the sum of squares over the error, if errors of different layers reinforce each other


def planted(
    ratio=1.0, noise=0.1, blocks=12, layers=3, stream=None, replicates=2, sizes=(64, 256, 1024), deepest=0.5, scale=1.0
) -> xr.Dataset:
    """What fit_propagation makes of equal errors of every layer, whose squares add up to ratio^2 that of all drawn.

    With all drawn, rates go evenly from 1/2 after the first layer to `deepest` after the last; scale: of all errors.
    """
    stream = stream or np.random.default_rng(1)
    n, single_n = np.array(sizes), np.array([sizes[0], sizes[-1]])
    single = np.triu(np.ones((layers, layers)))[None, :, :, None, None, None] * single_n**-0.5
    single = single * np.ones((3, 1, 1, blocks, replicates, 1))
    noisy = np.exp(noise * stream.normal(size=(3, layers, blocks, replicates, len(n))) - noise**2)  # its square: mean 1
    together = np.sqrt(np.arange(1, layers + 1))[:, None, None, None] * n**-0.5 * noisy / ratio
    together = together * (n / n[0]) ** (0.5 - np.linspace(0.5, deepest, layers)[:, None, None, None])
    errors = xr.Dataset(
        {
            "single_error": (("statistic", "drawn_layer", "layer", "block", "replicate", "single_n"), single),
            "error": (("statistic", "layer", "block", "replicate", "n"), together),
            "limit_scale": (("statistic", "layer", "block"), np.full((3, layers, blocks), 1 / scale)),
        },
        coords={"statistic": ["mean", "cov", "pointwise"], "drawn_layer": range(layers), "layer": range(layers)}
        | {"block": range(blocks), "n": n, "single_n": single_n},
    )
    facts = {"blocks": blocks, "articles": blocks, "population": 50000, "model": {"name": "owner/small"}}
    saturated = default_config()["fit_rates"]["saturated"]
    return fit_propagation(errors, Bootstrap(DRAWS, True, stream), 3, saturated).assign_attrs(facts)


def of_default_run(stream: np.random.Generator, **truth: float) -> dict[str, xr.Dataset]:
    section = default_config()["measure_propagation"]
    size = {"blocks": section["blocks"], "replicates": section["replicates"], "sizes": tuple(section["sizes"])}
    return {"propagation": planted(noise=NOISE, layers=LAYERS, stream=stream, **size, **truth)}


def propagation_quadrature(truth: bool, stream: np.random.Generator) -> dict[str, xr.Dataset]:
    return of_default_run(stream, ratio=1.0 if truth else TOGETHER)


def propagation_depth(truth: bool, stream: np.random.Generator) -> dict[str, xr.Dataset]:
    return of_default_run(stream, deepest=0.5 if truth else DEEPEST)


POWER = {
    "propagation_quadrature": (
        f"errors of different layers reinforce each other: their root sum of squares is {TOGETHER} of the error",
        propagation_quadrature,
    ),
    "propagation_depth": (
        f"the rate falls with depth, from 1/2 after the first layer to {DEEPEST} after the last",
        propagation_depth,
    ),
}
