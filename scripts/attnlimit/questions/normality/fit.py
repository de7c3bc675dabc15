"""What the replicates say of the error at one query: its variance, bias, coverage, distance from a normal law."""

import numpy as np
import xarray as xr
from scipy.optimize import curve_fit
from scipy.special import ndtr, ndtri

from attnlimit.questions.normality.measure import LEVEL, PROBABILITIES
from attnlimit.stats.estimate import Estimate
from attnlimit.stats.verdicts import z_score
from attnlimit.theory.bounds import carriers
from attnlimit.theory.gaussian import gaussian_clt

FEWEST_CARRIERS = 10.0  # of the fit: with fewer, coverage has left any power law
AT_CARRIERS = 1000.0  # where the fitted shortfall is reported
FEWEST_CASES = 4


def normality_summary(raw: xr.Dataset) -> xr.Dataset:
    """What the replicates say about normality, beside what the delta method says.

    raw holds deviation = sqrt(n) (Gamma_n - Gamma) and plug_in, its variance as the tokens tell it (setting, n,
    replicate, coordinate), effective and mass = e^{K_n(t) - K(t)} (setting, n, replicate), tilt (setting).
    clt_variance, clt_bias: the limits of n Var(Gamma_n) and n bias;  variance_ratio, plug_in_ratio: the variance over
    replicates, and the mean of the plug-in, over that limit;  n_bias: n times the bias;  coverage: how often the
    interval Gamma_n +- 1.96 sqrt(plug-in / n) holds the limit;  error_quantile: of the deviation over its limiting
    standard deviation;  distance: largest difference of its distribution function from the normal's, at these
    quantiles.  Each estimate has its standard error, _se.  carriers: see `bounds.carriers`;  shortfall: see below.

    The bias is far below the spread, but mass (Gamma_n - Gamma) is the mean over tokens of the influence function
    e^{<t,X> - K(t)} (X - Gamma), which has mean zero: without it the deviation has the same bias and hardly a spread.
    """
    deviation, plug_in = raw["deviation"].values.astype(float), raw["plug_in"].values.astype(float)
    replicates = deviation.shape[2]
    limits = [gaussian_clt(np.array([tilt, 0]), np.eye(2), np.eye(2)) for tilt in raw["tilt"].values]
    clt_variance = np.stack([np.diag(covariance) for covariance, _ in limits])  # (setting, coordinate)
    over = clt_variance[:, None]  # (setting, 1, coordinate)

    squares = (deviation - deviation.mean(2, keepdims=True)) ** 2
    covered = np.abs(deviation) <= ndtri((1 + LEVEL) / 2) * np.sqrt(plug_in)
    coverage = covered.mean(2)
    coverage_se = np.sqrt(coverage * (1 - coverage) / replicates)
    effective = raw["effective"].values.mean(2, dtype=float)
    carrying = carriers(effective, raw["n"].values)
    root_n = np.sqrt(raw["n"].values)[:, None]
    remainder = deviation * (1 - raw["mass"].values.astype(float)[..., None])
    quantile = np.quantile(deviation, PROBABILITIES, axis=2) / np.sqrt(over)
    normal = ndtri(PROBABILITIES)

    place = ("setting", "n", "coordinate")
    return xr.Dataset(
        {
            "clt_variance": (("setting", "coordinate"), clt_variance),
            "clt_bias": (("setting", "coordinate"), np.stack([bias for _, bias in limits])),
            "variance_ratio": (place, squares.sum(2) / (replicates - 1) / over),
            "variance_ratio_se": (place, squares.std(2) / np.sqrt(replicates) / over),
            "plug_in_ratio": (place, plug_in.mean(2) / over),
            "plug_in_ratio_se": (place, plug_in.std(2) / np.sqrt(replicates) / over),
            "n_bias": (place, root_n * remainder.mean(2)),
            "n_bias_se": (place, root_n * remainder.std(2) / np.sqrt(replicates)),
            "coverage": (place, coverage),
            "coverage_se": (place, coverage_se),
            "effective_mean": (("setting", "n"), effective),
            "carriers": (("setting", "n"), carrying),
            "error_quantile": (("probability", *place), quantile),
            "normal_quantile": ("probability", normal),
            "distance": (place, np.abs(ndtr(quantile) - ndtr(normal)[:, None, None, None]).max(0)),
            "tilt": raw["tilt"],
        }
        | shortfall(carrying[raw["tilt"].values > 0], coverage[raw["tilt"].values > 0, :, 0], replicates),
        coords={name: raw[name] for name in ("setting", "n", "coordinate")}
        | {"probability": np.arange(len(PROBABILITIES))},
    )


def shortfall(carrying: np.ndarray, coverage: np.ndarray, replicates: int) -> dict[str, tuple]:
    """How coverage along the tilt falls short of 95 % as carriers get few: shortfall (carriers / 1000)^-power.

    Least squares over all cases with enough carriers, weighted by the binomial errors, which are those at the nominal
    level where coverage is near it; standard errors are scaled by chi2 / dof, since the tilts differ a little and share
    their samples.  NaN with too few cases.
    """
    use = carrying >= FEWEST_CARRIERS
    missing, missed = LEVEL - coverage[use], np.maximum(1 - coverage[use], 1 - LEVEL)
    parts = [Estimate(np.nan, np.nan, np.nan)] * 2
    if use.sum() >= FEWEST_CASES:
        errors = np.sqrt(missed * (1 - missed) / replicates)
        found, covariance = curve_fit(power_of_carriers, carrying[use], missing, p0=(0.01, 0.5), sigma=errors)
        half = z_score(LEVEL) * np.sqrt(np.diag(covariance))
        parts = [Estimate(*each) for each in zip(found, found - half, found + half, strict=True)]
    return parts[0].variables("shortfall") | parts[1].variables("shortfall_power")


def power_of_carriers(carrying: np.ndarray, at_thousand: float, power: float) -> np.ndarray:
    return at_thousand * (carrying / AT_CARRIERS) ** -power
