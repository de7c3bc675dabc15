"""Asymptotic normality of attention at one query: spread, bias, plug-in interval, and where they fail.

Tokens N(0, I) in a plane and a tilt t along the first axis. That is every Gaussian N(m, Sigma) in any dimension: with
X = m + S Z, S the square root of Sigma, the scores are <S t, Z> plus a constant, so that only |S t| counts, and the
output is m + S times that for Z. Its coordinate along S t is the first one here, each of the others like the second.
"""

from typing import NamedTuple

import numpy as np
import xarray as xr
from scipy.special import ndtri

from attnlimit.limits import gaussian_clt
from attnlimit.sampling import generator

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


def summary(raw: xr.Dataset) -> xr.Dataset:
    """What the replicates say about normality, beside what the delta method says.

    raw holds deviation = sqrt(n) (Gamma_n - Gamma) (setting, n, replicate, coordinate), plug_in (…, coordinate_2),
    effective and mass = e^{K_n(t) - K(t)} (setting, n, replicate), tilt (setting).
    clt_covariance, clt_bias: the limits of n Var(Gamma_n) and n bias;  variance_ratio, plug_in_ratio: the variance over
    replicates, and the mean of the plug-in, over that limit;  n_bias: n times the bias;  coverage: how often the
    interval Gamma_n +- 1.96 sqrt(plug-in / n) holds the limit;  quantile: of the deviation over its limiting standard
    deviation.  Each estimate has its standard error, _se.  carriers: effective^2 / n, about the number n e^{-2|t|^2} of
    tokens near 2t, which make up the variance (see `growth.reached`).

    The bias is far below the spread, but mass (Gamma_n - Gamma) is the mean over tokens of the influence function
    e^{<t,X> - K(t)} (X - Gamma), which has mean zero: without it the deviation has the same bias and hardly a spread.
    """
    deviation, plug_in = raw["deviation"].values, raw["plug_in"].values
    replicates = deviation.shape[2]
    limits = [gaussian_clt(np.array([tilt, 0]), np.eye(2), np.eye(2)) for tilt in raw["tilt"].values]
    clt_covariance = np.stack([covariance for covariance, _ in limits])  # (setting, coordinate, coordinate_2)
    clt_variance = np.diagonal(clt_covariance, axis1=1, axis2=2)[:, None]  # (setting, 1, coordinate)
    own_variance = np.diagonal(plug_in, axis1=-2, axis2=-1)  # (setting, n, replicate, coordinate)

    mean = deviation.mean(2)  # (setting, n, coordinate)
    centred = deviation - mean[:, :, None]
    covariance = np.einsum("snrc,snre->snce", centred, centred) / (replicates - 1)
    squares = centred**2
    covered = np.abs(deviation) <= ndtri((1 + LEVEL) / 2) * np.sqrt(own_variance)
    coverage = covered.mean(2)
    effective = raw["effective"].values.mean(2)
    root_n = np.sqrt(raw["n"].values)[:, None]
    remainder = deviation * (1 - raw["mass"].values[..., None])

    place = ("setting", "n", "coordinate")
    return xr.Dataset(
        {
            "clt_covariance": (("setting", "coordinate", "coordinate_2"), clt_covariance),
            "clt_bias": (("setting", "coordinate"), np.stack([bias for _, bias in limits])),
            "covariance": ((*place, "coordinate_2"), covariance),
            "variance_ratio": (place, np.diagonal(covariance, axis1=-2, axis2=-1) / clt_variance),
            "variance_ratio_se": (place, squares.std(2) / np.sqrt(replicates) / clt_variance),
            "plug_in_ratio": (place, own_variance.mean(2) / clt_variance),
            "plug_in_ratio_se": (place, own_variance.std(2) / np.sqrt(replicates) / clt_variance),
            "n_bias": (place, root_n * remainder.mean(2)),
            "n_bias_se": (place, root_n * remainder.std(2) / np.sqrt(replicates)),
            "coverage": (place, coverage),
            "coverage_se": (place, np.sqrt(coverage * (1 - coverage) / replicates)),
            "effective_mean": (("setting", "n"), effective),
            "carriers": (("setting", "n"), effective**2 / raw["n"].values),
            "quantile": (
                ("probability", *place),
                np.quantile(deviation, PROBABILITIES, axis=2) / np.sqrt(clt_variance),
            ),
            "normal_quantile": ("probability", ndtri(PROBABILITIES)),
        },
        coords={"probability": np.arange(len(PROBABILITIES))},
    )
