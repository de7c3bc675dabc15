"""Fits as the default run would make them if the claim held, and under an alternative: how often each is recognised."""

import numpy as np
import xarray as xr
from scipy.special import ndtri

from attnlimit.questions.normality.fit import normality_summary
from attnlimit.questions.normality.measure import COORDINATES, LEVEL
from attnlimit.stats.planted import default_config
from attnlimit.theory.gaussian import gaussian_clt

RUN = default_config()["simulate_normality"]
SIZES, TILTS, REPLICATES = RUN["sizes"], np.array(RUN["tilts"], dtype=float), RUN["replicates"]
SHORTFALL = 0.35  # over the square root of the carriers, along the tilt: what draws with other seeds show
TOO_SMALL = 0.8  # of the variance, in the alternative


def simulated_fits(truth: bool, stream: np.random.Generator) -> dict[str, xr.Dataset]:
    """Normal errors with the limiting variance, and a plug-in with the coverage that few carriers leave.

    Under the alternative the plug-in is four fifths of that at any number of carriers.
    """
    shape, place = (len(TILTS), len(SIZES), REPLICATES), ("setting", "n", "replicate")
    variance = np.stack([np.diag(gaussian_clt(np.array([tilt, 0]), np.eye(2), np.eye(2))[0]) for tilt in TILTS])
    carrying = np.array(SIZES) * np.exp(-2 * TILTS[:, None] ** 2)  # (setting, n)
    coverage = np.stack([LEVEL - np.minimum(SHORTFALL / np.sqrt(carrying), 0.9) * (TILTS > 0)[:, None]] * 2, -1)
    coverage[..., 1] = LEVEL
    share = (ndtri((1 + coverage) / 2) / ndtri((1 + LEVEL) / 2)) ** 2 * (1 if truth else TOO_SMALL)
    effective = np.sqrt(carrying * SIZES)[..., None] * np.ones(REPLICATES)
    plug_in = np.broadcast_to((share * variance[:, None])[:, :, None], (*shape, 2))
    raw = xr.Dataset(
        {
            "deviation": ((*place, "coordinate"), np.sqrt(variance)[:, None, None] * stream.normal(size=(*shape, 2))),
            "plug_in": ((*place, "coordinate"), plug_in),
            "effective": (place, effective),
            "mass": (place, np.ones(shape)),
            "tilt": ("setting", TILTS),
        },
        coords={"setting": [f"|t| = {tilt:g}" for tilt in TILTS], "n": SIZES, "coordinate": list(COORDINATES)},
    )
    return {"normality": normality_summary(raw).assign_attrs(level=LEVEL, replicates=REPLICATES)}


POWER = {"normality": ("a plug-in variance that is a fifth too small", simulated_fits)}
