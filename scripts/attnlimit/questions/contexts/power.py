"""Could the claim on neighbouring tokens have failed?  Planted errors at the sizes of the default run."""

import numpy as np
import xarray as xr

from attnlimit.base.coordinates import PARTS, STATISTICS
from attnlimit.questions.contexts.fit import ALONE, shares
from attnlimit.stats.planted import DRAWS, default_config, planted_errors

HEADS, WIDTH, SHARED = 12, 10, 0.3  # as in heads/power.py
HALF = 0.5  # share of a token among neighbours


def planted(share: float, stream: np.random.Generator) -> xr.Dataset:
    """What fit_contexts makes of mean squared errors 1/share times those of independent tokens, in the longest runs."""
    section = default_config()["measure_contexts"]
    longest = max(run for run in section["runs"] if isinstance(run, int))
    runs, sizes = [ALONE, str(longest)], [n for n in section["sizes"] if n >= longest]
    layers = []
    for layer in range(section["layers"]):
        beta = np.full(HEADS + 1, 0.5)  # the whole layer last
        drawn = [
            [planted_errors(beta, sizes, section["replicates"], WIDTH, stream, SHARED) * factor for _ in STATISTICS]
            for factor in (1, share**-0.5)
        ]
        labels = {"run": runs, "statistic": list(STATISTICS), "n": sizes, "layer": layer, "head": [*range(HEADS), -1]}
        dims = ("run", "statistic", "head", "replicate", "n")
        layers.append(xr.Dataset({"error": (dims, np.array(drawn))}, coords=labels))
    fits = shares(layers, DRAWS, [lambda run, number: stream] * len(layers))
    fits = fits.assign(saturated=xr.zeros_like(fits["share"], bool).expand_dims(part=list(PARTS)))
    return fits.assign_attrs(replicates=section["replicates"])


def contexts_share(truth: bool, stream: np.random.Generator) -> dict[str, xr.Dataset]:
    return {"contexts": planted(HALF if truth else 1.0, stream)}


POWER = {"contexts_share": ("a token among neighbours is worth as much as an independent one", contexts_share)}
