"""How often the claims on studies are decided, if they are true and if not: studies as large as the default set's."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import xarray as xr

from attnlimit.questions.studies.fit import compare
from attnlimit.questions.studies.gather import COMPARED

MODELS = {"six": (6, 5), "twelve": (12, 2)}  # of the default set: layers, texts
HEADS, REPLICATES, SIZES = 12, 60, (64, 91, 128, 181, 256, 362, 512, 724, 1024, 1448, 2048)
FACTOR, REACH = 2.0, 0.25  # sub_gaussian_factor and wanted_reach of config.yaml
ERROR = 0.03  # relative, of the typical head at the largest n
DIMENSIONS = 8  # of a head's outputs
LIGHT, HEAVY = 1.2, 3.0  # variance proxies


def planted(
    stream: np.random.Generator,
    heads: float = 0.5,
    shifts: float = 0.1,
    moved: float = 0.2,
    shared: float = 0.5,
    horizons: float = 0.1,
    heavy: float = 0.0,
    models: Mapping[str, tuple[int, int]] = MODELS,
    replicates: int = REPLICATES,
) -> dict[str, xr.Dataset]:
    """Gathered studies, by name, with errors e = c |z| / sqrt(n).

    Standard deviations of ln c over heads, texts, and heads within a text; horizons: of ln H of a head between texts,
    1 over heads.  shared: correlation of z between heads of a layer.  heavy: share of heads with heavy-tailed tokens.
    """
    made, sizes, normal = {}, np.array(SIZES), stream.standard_normal
    for model, (layers, count) in models.items():
        shape = len(COMPARED), layers, HEADS
        own, horizon, tilt = heads * normal(shape), normal(shape[1:]), np.exp(0.3 * normal(shape[1:]))
        proxies = np.where(np.arange(layers * HEADS) < heavy * layers * HEADS, HEAVY, LIGHT).reshape(shape[1:])
        for text in range(count):
            noise = [normal((*shape[:2], each, replicates, len(sizes), DIMENSIONS)) for each in (1, HEADS)]
            z = np.sqrt(shared) * noise[0] + np.sqrt(1 - shared) * noise[1]
            log_scale = own + shifts * normal((shape[0], 1, 1)) + moved * normal(shape)
            size = ERROR * np.sqrt(sizes[-1] / sizes / DIMENSIONS) * np.exp(log_scale)[..., None, None]
            data = {
                "error": (("statistic", "layer", "head", "replicate", "n"), size * np.sqrt((z**2).sum(-1))),
                "limit_scale": (("statistic", "layer", "head"), np.ones(shape)),
                "limit_uncertain": (("statistic", "layer", "head"), np.zeros(shape, bool)),
                "horizon": (("layer", "head"), np.exp(horizon + horizons * normal(shape[1:]))),
                "constant_tilt": (("layer", "head"), tilt),
                "sub_gaussian": (("layer", "head"), proxies),
            }
            coords = {"statistic": COMPARED, "layer": range(layers), "head": range(HEADS), "n": sizes}
            attrs = {"model": {"name": model, "sha256": {"weights": model}}, "corpus": {"name": f"text {text}"}}
            made[f"{model}-{text}"] = xr.Dataset(data, coords=coords, attrs=attrs)
    return made


def fits(truth: bool, stream: np.random.Generator, **alternative: Any) -> dict[str, xr.Dataset]:
    """What the claims are judged on, where they hold, or under an alternative."""
    return {"studies": compare(planted(stream, **({} if truth else alternative)), FACTOR, REACH, stream)}


POWER: dict[str, tuple[str, Callable[[bool, np.random.Generator], dict[str, xr.Dataset]]]] = {
    "studies_order": (
        "the errors of heads correlate by 0.1 between texts, in place of 0.86",
        partial(fits, heads=0.15, moved=0.45),
    ),
    "studies_horizons": ("the horizons of heads correlate by 0.1 between texts", partial(fits, horizons=3.0)),
    "studies_variance": (
        "heads have a tenth of the variance of errors, texts and heads within a text the rest",
        partial(fits, heads=0.15, moved=0.45),
    ),
    "studies_sub_gaussian": ("a fifth of the heads see tokens with a variance proxy of 3", partial(fits, heavy=0.2)),
    "studies_shared_noise": ("the heads of a layer err independently", partial(fits, shared=0.0)),
}
