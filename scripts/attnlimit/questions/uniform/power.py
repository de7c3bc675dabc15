"""Fits as the default run would make them if the claims held, and under alternatives: how often each is recognised."""

from collections.abc import Callable

import numpy as np
import xarray as xr
from scipy.special import ive

from attnlimit.questions.uniform.fit import fit_uniform
from attnlimit.stats.power_law import Bootstrap

SIZES, LARGEST_IN_PLANE, REPLICATES = np.array([100, 316, 1000, 3162, 10000, 31623, 100000]), 10000, 600
RADII = np.array([0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2, 2.25, 2.5, 3, 3.5, 4])
COMPACT_RADII = np.array([1, 2, 3, 4, 6, 8.0])
BOOTSTRAP, MISFIT, TOLERANCE, CARRIERS = 1000, 3.0, 0.05, 50.0
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
    over_n, over_radius, for_changes = stream.spawn(3)
    bootstraps = (
        Bootstrap(BOOTSTRAP, False, over_n),
        Bootstrap(BOOTSTRAP, True, over_radius),
        Bootstrap(BOOTSTRAP, True, for_changes),
    )
    return {"uniform": fit_uniform(xr.concat(laws, "setting"), bootstraps, MISFIT, TOLERANCE, CARRIERS)}


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
    noise = np.exp(NOISE[dimension] * stream.standard_normal((REPLICATES, len(SIZES))))
    run = np.where((dimension == 1) | (SIZES <= LARGEST_IN_PLANE), 1.0, np.nan)
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
