"""Fits as the default run would make them if the claims held, and under alternatives: how often each is recognised."""

from collections.abc import Callable

import numpy as np
import xarray as xr
from scipy.special import ive

from attnlimit.questions.uniform.fit import fit_uniform
from attnlimit.stats.planted import default_config
from attnlimit.stats.power_law import Bootstrap

RUN, RATES, FIT = (default_config()[name] for name in ("simulate_uniform", "fit_rates", "fit_uniform"))
SIZES, RADII, COMPACT_RADII = (np.array(RUN[name]) for name in ("sizes", "radii", "compact_radii"))
NOISE = {1: 0.56, 2: 0.37}  # of ln sup over replicates, by dimension: about that of the draws
SLOW, FAST = 0.4, 1 / 8  # alternatives: n^-0.4, exp(R^2 / 8) for compact laws
LAWS = {
    "gaussian, d = 1": (1, False, lambda r: np.exp(-(r**2))),
    "gaussian, d = 2": (2, False, lambda r: np.exp(-(r**2))),
    "interval, d = 1": (1, True, lambda r: np.tanh(r) / r),
    "circle, d = 2": (2, True, lambda r: ive(0, r) ** 2 / ive(0, 2 * r)),
}  # dimension, compactness, share of n that is effective at |x| = R


def simulated_fits(rate: float, growth: float, stream: np.random.Generator) -> dict[str, xr.Dataset]:
    """Suprema C(R) n^-rate with noise that the radii share: C bounded, or exp(growth R^2), for compact laws."""
    laws = [
        suprema(law, *LAWS[law], rate, (lambda r: np.exp(growth * r**2)) if growth else bounded, stream) for law in LAWS
    ]
    joint = zip((False, True, True), stream.spawn(3), strict=True)  # as in fit_uniform.py
    bootstraps = [Bootstrap(RATES["bootstrap"], *pair) for pair in joint]
    marks = RATES["misfit"], FIT["slope_tolerance"], FIT["carriers"]
    return {"uniform": fit_uniform(xr.concat(laws, "setting"), bootstraps, *marks)}


def bounded(radius: np.ndarray) -> np.ndarray:
    return 0.6 * (1 - 0.2 * np.exp(-radius / 2))


def suprema(
    law: str,
    dimension: int,
    compact: bool,
    effective: Callable,
    rate: float,
    constant: Callable,
    stream: np.random.Generator,
) -> xr.Dataset:
    """What simulate_uniform keeps of one law."""
    radii = COMPACT_RADII if compact else RADII
    size = constant(radii) if compact else np.exp(radii**2 / 2) * np.sqrt(dimension + radii**2)  # (radius,)
    noise = np.exp(NOISE[dimension] * stream.standard_normal((RUN["replicates"], len(SIZES))))
    run = np.where((dimension == 1) | (RUN["largest_in_plane"] >= SIZES), 1.0, np.nan)
    sup = size[:, None, None] * SIZES**-rate * noise * run  # (radius, replicate, n)
    kept = {
        "sup": sup,
        "sup_coarse": sup,
        "effective": effective(radii)[:, None, None] * SIZES * run * np.ones_like(sup),
    }
    labels = {"dimension": np.full(len(radii), dimension), "radius": radii, "compact": np.full(len(radii), compact)}
    labels |= {"clt_edge": size, "clt_sup": size, "clt_sup_se": 0 * size}
    return xr.Dataset(
        {name: (("setting", "replicate", "n"), values) for name, values in kept.items()}
        | {name: ("setting", values) for name, values in labels.items()},
        coords={"setting": [f"{law}, R = {r:g}" for r in radii], "law": ("setting", [law] * len(radii)), "n": SIZES},
    )


def rate_fits(truth: bool, stream: np.random.Generator) -> dict[str, xr.Dataset]:
    return simulated_fits(0.5 if truth else SLOW, 0.0, stream)


def growth_fits(truth: bool, stream: np.random.Generator) -> dict[str, xr.Dataset]:
    return simulated_fits(0.5, 0.0 if truth else FAST, stream)


POWER = {
    "uniform_rate": ("suprema that fall like n^−0.4", rate_fits),
    "uniform_growth": ("C(R) of compact laws that grows like exp(R²/8)", growth_fits),
}
