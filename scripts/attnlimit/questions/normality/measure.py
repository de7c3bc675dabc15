"""Asymptotic normality of attention at one query: spread, bias, plug-in interval, and where they fail.

Tokens N(0, I) in a plane and a tilt t along the first axis. That is every Gaussian N(m, Sigma) in any dimension: with
X = m + S Z, S the square root of Sigma, the scores are <S t, Z> plus a constant, so that only |S t| counts, and the
output is m + S times that for Z. Its coordinate along S t is the first one here, each of the others like the second.
"""

from typing import NamedTuple

import numpy as np
import xarray as xr

from attnlimit.base.log import bar
from attnlimit.base.seeds import generator

COORDINATES = ("along", "across")  # the tilt
LEVEL = 0.95
PROBABILITIES = np.linspace(0.005, 0.995, 100)  # of the quantiles kept


class Estimate(NamedTuple):
    """Attention on n tokens at one query, with what it tells about its own error."""

    output: np.ndarray  # (d,): G = sum_i w_i X_i
    plug_in: np.ndarray  # (d, d): n sum_i w_i^2 (X_i - G)(X_i - G)'
    effective: float  # Kish's effective sample size 1 / sum_i w_i^2
    log_mean: float  # K_n(t) = log(1/n sum_i exp<t, X_i>)


def replicate(seed: int, size: int, number: int, tilts: list[float]) -> list[Estimate]:
    """Estimates from one sample, which serves all tilts."""
    stream = generator(seed, "simulate_normality", size, number)
    tokens = stream.standard_normal((2, size)).T  # each coordinate in one run of memory: twice as fast
    return [estimate(tokens, np.array([tilt, 0])) for tilt in tilts]


def estimate(tokens: np.ndarray, tilt: np.ndarray) -> Estimate:
    """Gamma_n at tilt t on tokens (n, d), V = I: w = softmax_i <t, X_i>."""
    scores = tokens @ tilt  # (n,)
    top = scores.max()
    weights = np.exp(scores - top)
    log_mean = top + np.log(weights.mean())
    weights /= weights.sum()
    output = weights @ tokens
    pulls = weights[:, None] * (tokens - output)  # (n, d)
    return Estimate(output, len(tokens) * pulls.T @ pulls, 1 / (weights @ weights), log_mean)


def simulate(sizes: list[int], tilts: list[float], replicates: int, seed: int) -> xr.Dataset:
    """deviation = sqrt(n) (Gamma_n - Gamma), plug_in, effective, mass = e^{K_n(t) - K(t)}, a setting a tilt."""
    shape = (len(tilts), len(sizes), replicates)
    output, plug_in = np.empty((*shape, 2)), np.empty((*shape, 2, 2))
    effective, log_mean = np.empty(shape), np.empty(shape)
    samples = [(i, number) for i in range(len(sizes)) for number in range(replicates)]
    for i, number in bar(samples, total=len(samples), unit="samples", name="normality"):
        for setting, at_tilt in enumerate(replicate(seed, sizes[i], number, tilts)):
            here = (setting, i, number)
            output[here], plug_in[here], effective[here], log_mean[here] = at_tilt
    tilt = np.array(tilts, dtype=float)
    limit = np.stack([tilt, 0 * tilt], -1)[:, None, None]  # Gamma(x) = Sigma t = t
    place = ("setting", "n", "replicate")
    return xr.Dataset(
        {
            "deviation": ((*place, "coordinate"), np.sqrt(sizes)[:, None, None] * (output - limit)),
            "plug_in": ((*place, "coordinate", "coordinate_2"), plug_in),
            "effective": (place, effective),
            "mass": (place, np.exp(log_mean - tilt[:, None, None] ** 2 / 2)),  # K(t) = |t|^2 / 2
            "tilt": ("setting", tilt),
        },
        coords={"setting": [f"|t| = {tilt:g}" for tilt in tilts], "n": sizes, "replicate": range(replicates)}
        | {"coordinate": list(COORDINATES)},
    )
