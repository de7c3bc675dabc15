"""Could the claims have failed?  Fits of heads whose change is planted, at the sizes of the default run.

Errors are norms of averages of nested normal vectors, as the error of a mean is. Heads of a layer share part of their
noise, and the variants of a head most of it, because they see the same samples.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
import xarray as xr

from attnlimit.base.coordinates import STATISTICS, with_whole_layer
from attnlimit.questions.interventions.fit import changes
from attnlimit.questions.interventions.measure import Variant, variants_of
from attnlimit.stats.planted import default_config

RUN = default_config()["measure_interventions"]
LAYERS, HEADS = 6, 12
SIZES = np.array(RUN["sizes"])
# As seen on another text than that of the default run (configs/studies/literature.yaml):
WIDTH = 16  # directions that carry an error: it varies by 0.17 from replicate to replicate
SHARED, PAIRED = 0.2, 0.4  # correlation of the noise of two heads of a layer, of two variants of a head
SPREAD = 1.0  # standard deviation over heads of a change, relative to its mean
VARIANTS = variants_of(RUN["horizon_factors"], RUN["tilt_factors"])
FACTS = {"population": 10_000, "replicates": RUN["replicates"]}


def correlated(stream: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Normal steps (variant, statistic, head, *shape) with the correlations of heads and variants."""
    dims = (len(VARIANTS), len(STATISTICS), HEADS + 1)
    layer, head, own = (stream.normal(size=(*lead, *shape)) for lead in ((1, dims[1], 1), (1, *dims[1:]), dims))
    paired = np.sqrt(SHARED) * layer + np.sqrt(1 - SHARED) * head
    return np.sqrt(PAIRED) * paired + np.sqrt(1 - PAIRED) * own


def layer_errors(stream: np.random.Generator, beta: np.ndarray, log_error: np.ndarray, layer: int) -> xr.Dataset:
    """Errors of a layer: beta is 1/2 plus this, ln error at the largest n is raised by this, (variant, head)."""
    steps = np.diff(SIZES, prepend=0)
    walk = np.cumsum(correlated(stream, (RUN["replicates"], WIDTH, len(SIZES))) * np.sqrt(steps), axis=-1)
    norm = np.linalg.norm(walk, axis=-2) / SIZES  # (variant, statistic, head, replicate, n): falls like n^-1/2
    bend = np.exp(log_error)[..., None] * (SIZES / SIZES[-1]) ** -beta[..., None]  # (variant, head, n)
    return xr.Dataset(
        {
            "error": (("variant", "statistic", "head", "replicate", "n"), norm * bend[:, None, :, None]),
            "limit_scale": (("variant", "statistic", "head"), np.ones(norm.shape[:3])),
        },
        coords={
            "variant": [each.name for each in VARIANTS],
            "statistic": list(STATISTICS),
            "head": with_whole_layer(HEADS),
            "n": SIZES,
            "layer": layer,
        },
    )


def planted(truth: bool, stream: np.random.Generator, what: str, mean: float, of: Callable[[Variant], bool]) -> dict:
    """Fits with a change of `what` in the variants concerned, of that mean and SPREAD over heads; none if not truth."""
    layers = []
    for layer in range(LAYERS):
        size = mean * (1 + SPREAD * stream.normal(size=(1, HEADS + 1)))
        change = np.array([[truth and of(each)] for each in VARIANTS]) * size  # (variant, head)
        layers.append(layer_errors(stream, *((change, 0 * change) if what == "beta" else (0 * change, change)), layer))
    dims = ("layer", "variant", "statistic", "head")
    known = xr.DataArray(np.ones((LAYERS, *layers[0]["limit_scale"].shape), bool), dims=dims)
    factors = {name: ("variant", [getattr(each, name) for each in VARIANTS]) for name in Variant._fields}
    return {"interventions": changes(layers, known).assign(factors).assign_coords(n=SIZES).assign_attrs(FACTS)}


POWER = {
    "interventions_horizon": (
        "no change of β in any head; under the claim −0.06 in the mean over heads",
        partial(planted, what="beta", mean=-0.06, of=lambda variant: variant.alpha > 1),
    ),
    "interventions_centred": (
        "no change of the error in any head; under the claim −15 % in the mean over heads",
        partial(planted, what="error", mean=-0.15, of=lambda variant: variant.tilt_factor == 0),
    ),
}
