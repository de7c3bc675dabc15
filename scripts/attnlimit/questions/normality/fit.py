"""What the replicates say of the error at one query: its variance, bias, coverage, distance from a normal law."""

import numpy as np
import xarray as xr
from scipy.special import ndtr, ndtri

from attnlimit.questions.normality.measure import LEVEL, PROBABILITIES
from attnlimit.theory.bounds import carriers
from attnlimit.theory.gaussian import gaussian_clt


def normality_summary(raw: xr.Dataset) -> xr.Dataset:
    """What the replicates say about normality, beside what the delta method says.

    raw holds deviation = sqrt(n) (Gamma_n - Gamma) (setting, n, replicate, coordinate), plug_in (…, coordinate_2),
    effective and mass = e^{K_n(t) - K(t)} (setting, n, replicate), tilt (setting).
    clt_covariance, clt_bias: the limits of n Var(Gamma_n) and n bias;  variance_ratio, plug_in_ratio: the variance over
    replicates, and the mean of the plug-in, over that limit;  n_bias: n times the bias;  coverage: how often the
    interval Gamma_n +- 1.96 sqrt(plug-in / n) holds the limit;  error_quantile: of the deviation over its limiting
    standard deviation;  distance: largest difference of its distribution function from the normal's, at these
    quantiles.  Each estimate has its standard error, _se.  carriers: see `effective.carriers`.

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
    quantile = np.quantile(deviation, PROBABILITIES, axis=2) / np.sqrt(clt_variance)
    normal = ndtri(PROBABILITIES)

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
            "carriers": (("setting", "n"), carriers(effective, raw["n"].values)),
            "error_quantile": (("probability", *place), quantile),
            "normal_quantile": ("probability", normal),
            "distance": (place, np.abs(ndtr(quantile) - ndtr(normal)[:, None, None, None]).max(0)),
            "tilt": raw["tilt"],
        },
        coords={name: raw[name] for name in ("setting", "n", "coordinate")}
        | {"probability": np.arange(len(PROBABILITIES))},
    )
