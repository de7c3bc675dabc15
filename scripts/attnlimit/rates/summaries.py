"""What the replicates of the hardmax and of one query say: means with their errors, slopes, coverage."""

import numpy as np
import xarray as xr
from scipy.special import ndtr, ndtri

from attnlimit.experiments.normality import LEVEL, PROBABILITIES
from attnlimit.rates.power_law import fit, local_slopes
from attnlimit.theory.effective import carriers
from attnlimit.theory.gaussian import gaussian_clt
from attnlimit.theory.hardmax import hardmax_expected_error, hardmax_proposition


def decay(errors: xr.DataArray) -> xr.Dataset:
    """Mean of {name}_error (…, n, replicate), its standard error, and how it falls between neighbouring n.

    local_slope: as a power of n;  local_power: as a power of ln n.
    """
    name, (*units, along, _) = str(errors.name).removesuffix("_error"), errors.dims
    sizes, value = errors[along].values, errors.values.mean(-1)
    interval = (*units, f"{along}_interval")
    return xr.Dataset(
        {
            f"{name}_value": ((*units, along), value),
            f"{name}_value_se": ((*units, along), errors.values.std(-1) / np.sqrt(errors.shape[-1])),
            f"{name}_local_slope": (interval, local_slopes(sizes, value)),
            f"{name}_local_power": (interval, local_slopes(np.log(sizes), value)),
        },
        coords={axis: errors[axis] for axis in (*units, along)},
    )


def hardmax_summary(errors: xr.Dataset, from_n: int) -> xr.Dataset:
    """The decay of each simulation beside the exact expectation and Proposition 5.1, d = 1.

    ratio: exact over proposed;  line_ratio: drawn over proposed, with its standard error.  log_power, log_power_se,
    log_chi2: E|mean_n| as a power of 1/ln n over the n from from_n on;  power_chi2: the same as a power of 1/n;
    expected_log_power: that of the exact expectation, with the same weights.
    """
    sizes, sigma = errors["n"].values, errors.attrs["sigma"]
    summary = xr.merge([decay(errors[name]) for name in ("line_error", "plane_error", "direct_error")])
    expected = np.array([hardmax_expected_error(n, sigma) for n in sizes])
    proposition = np.array([hardmax_proposition(n, sigma) for n in sizes])
    value, se = summary["line_value"].values, summary["line_value_se"].values
    late = sizes >= from_n
    logarithmic, power = (
        fit(x, value[late], (se[late] / value[late]) ** 2) for x in (np.log(sizes[late]), sizes[late].astype(float))
    )
    exact = fit(np.log(sizes[late]), expected[late], (se[late] / value[late]) ** 2)
    return summary.assign(
        expected=("n", expected),
        proposition=("n", proposition),
        ratio=("n", expected / proposition),
        line_ratio=("n", value / proposition),
        line_ratio_se=("n", se / proposition),
        late_sizes=int(late.sum()),
        expected_log_power=float(exact["beta"]),
        log_power=float(logarithmic["beta"]),
        log_power_se=float(logarithmic["se"]),
        log_chi2=float(logarithmic["chi2"]),
        power_chi2=float(power["chi2"]),
    )


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
