"""Fits of a whole store of errors: one dataset with a rate for each unit, statistic and part."""

import numpy as np
import xarray as xr

from attnlimit.base.coordinates import PARTS, STATISTICS
from attnlimit.stats.complexity import SHARES, TOKENS, token_complexity
from attnlimit.stats.power_law import LOCAL, Bootstrap, curves_of, fit_statistic, late_slope
from attnlimit.theory.bounds import predictions

COUPLINGS = (
    *("horizon", "horizon_one_sided", "horizon_frobenius", "psi", "seen_variance"),
    *("constant_tilt", "horizon_published"),
)
PREDICTIONS = ("bound_v3", "bound_v1_experiment", "bound_v1_theorem", "heuristic")
PER_SIZE = dict.fromkeys(("value", "value_se", "noise_floor"), "n") | dict.fromkeys(LOCAL, "interval")
WITHOUT_REPLACEMENT = (  # said of the model's rates by answer, claims and captions
    "samples are drawn without replacement: attention over the population is then not the exact limit of such draws, "
    "and slopes steepen towards it, as errors shrink by about √(1 − n/N), N being the size of the population"
)


def fit_errors(
    errors: xr.Dataset,
    bootstraps: list[Bootstrap],
    misfit: float,
    saturated: float,
    saturated_slope: float = np.inf,
    uncertain_limit: float = np.inf,
) -> xr.Dataset:
    """Rates of every unit of a store: `head` for a model's layer, `setting` for a simulation.

    errors holds error (statistic, unit, replicate, n), limit_scale (statistic, unit) and, for bias and fluctuation,
    {mean,cov}_gram (unit, n, group, group_2); limit_se (statistic, unit) if its limit is from tokens.  Returns
    (statistic, part, unit[, n]), limit_se relative to the scale (NaN without one), every label of a unit (its
    couplings, its dimension, …) and the rates that the couplings predict;  tokens (eps, statistic, unit): see
    `complexity`.  saturated: at the largest n the error is above that share of its scale, and its late slope is below
    saturated_slope, so that it hardly falls any more.  limit_uncertain: limit_se_share is above uncertain_limit.
    """
    sizes = errors["n"].values
    (unit,) = (str(name) for name in errors["limit_scale"].dims if name != "statistic")
    error, scale = errors["error"].transpose("statistic", unit, "replicate", "n"), errors["limit_scale"]
    fits, complexities = [], []
    for statistic, bootstrap in zip(STATISTICS, bootstraps, strict=True):
        gram = errors[f"{statistic}_gram"].values if f"{statistic}_gram" in errors else None
        curves, floor = curves_of(error.sel(statistic=statistic).values, gram, bootstrap)
        fits.append(fit_statistic(sizes, curves, floor))
        complexities.append(token_complexity(sizes, curves[0], scale.sel(statistic=statistic).values))

    rates = xr.Dataset(coords={unit: errors[unit], "n": sizes, "statistic": list(STATISTICS), "part": list(PARTS)})
    for name in fits[0]:
        dims = ("statistic", "part", unit, *([PER_SIZE[name]] if name in PER_SIZE else []))
        rates[name] = (dims, np.stack([fit[name] for fit in fits]))
    rates = rates.assign_coords(eps=list(SHARES))
    for name in TOKENS:
        rates[name] = (("eps", "statistic", unit), np.stack([numbers[name] for numbers in complexities], axis=1))
    rates["limit_scale"] = scale.transpose("statistic", unit)
    limit_se = errors["limit_se"] if "limit_se" in errors else xr.full_like(scale, np.nan)
    rates["limit_se"] = limit_se / rates["limit_scale"]
    rates["limit_se_share"] = limit_se_share(limit_se, rates["value"])
    rates["limit_uncertain"] = rates["limit_se_share"] > uncertain_limit
    rates["relative_error"] = rates["value"].isel(n=-1) / rates["limit_scale"]
    slope = late_slope(sizes, rates["value"].values)  # (statistic, part, unit)
    rates["saturated"] = (rates["relative_error"] > saturated) & (slope < saturated_slope)
    rates["misfit"] = rates["chi2"] > misfit * rates["dof"]
    rates = rates.assign({str(name): array for name, array in errors.data_vars.items() if is_label(array, unit)})
    return rates.assign(predictions(rates["horizon"], rates["psi"]) if "horizon" in rates else {})


def limit_se_share(limit_se: xr.DataArray, value: xr.DataArray) -> xr.DataArray:
    """Standard error of the limit over the value at the largest n; NaN without one, or where a bias is not seen.

    limit_se (statistic, unit), value (statistic, part, unit, n) -> (statistic, part, unit).  A wrong limit adds the
    same to the differences of all replicates: the error and its bias take it in, the fluctuation does not.
    """
    share = limit_se / value.isel(n=-1)
    return share.where(share["part"] != "fluctuation", 0 * limit_se).transpose(*value.dims[:-1])


def is_label(array: xr.DataArray, unit: str) -> bool:
    """Whether a variable says something of a unit, of each of its sizes, or of all units, that later steps may need."""
    return array.dims in ((), (unit,), (unit, "n"))


def without_replacement(attrs: dict) -> bool:
    """Whether a store of errors or rates says so; that of a simulation, drawn from a law, says nothing."""
    return not attrs.get("replacement", True)
