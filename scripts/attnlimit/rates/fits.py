"""Fits of a whole store of errors: one dataset with a rate for each unit, statistic and part."""

import numpy as np
import xarray as xr

from attnlimit.coordinates import PARTS, STATISTICS
from attnlimit.rates.complexity import SHARES, token_complexity
from attnlimit.rates.power_law import LOCAL, Bootstrap, curves_of, fit_statistic, late_slope
from attnlimit.theory.bounds import predictions

COUPLINGS = ("horizon", "horizon_one_sided", "horizon_frobenius", "psi", "horizon_published")
PREDICTIONS = ("bound_v3", "bound_v1_experiment", "bound_v1_theorem", "heuristic")
OWN = tuple(f"{statistic}_{what}" for statistic in STATISTICS for what in ("scale", "limit_se"))  # no labels
PER_SIZE = dict.fromkeys(("value", "value_se", "noise_floor"), "n") | dict.fromkeys(LOCAL, "interval")
TOKENS = ("tokens", "tokens_low", "tokens_high", "tokens_extrapolated")  # of n(eps), what a store of rates keeps


def fit_errors(
    errors: xr.Dataset,
    bootstraps: list[Bootstrap],
    misfit: float,
    saturated: float,
    saturated_slope: float = np.inf,
) -> xr.Dataset:
    """Rates of every unit of a store: `head` for a model's layer, `setting` for a simulation.

    errors holds STATISTICS (unit, replicate, n), {statistic}_scale (unit) and, for bias and fluctuation,
    {statistic}_gram (unit, n, group, group_2); {statistic}_limit_se (unit) if its limit is from tokens.  Returns
    (statistic, part, unit[, n]), limit_se relative to the scale (NaN without one), every label of a unit (its
    couplings, its dimension, …) and the rates that the couplings predict;  tokens (eps, statistic, unit): see
    `complexity`.  saturated: at the largest n the error is above that share of its scale, and its late slope is below
    saturated_slope, so that it hardly falls any more.
    """
    sizes, unit = errors["n"].values, str(errors["mean"].dims[0])
    fits, complexities = [], []
    for statistic, bootstrap in zip(STATISTICS, bootstraps, strict=True):
        gram = errors.get(f"{statistic}_gram")
        curves, floor = curves_of(errors[statistic].values, None if gram is None else gram.values, bootstrap)
        fits.append(fit_statistic(sizes, curves, floor))
        complexities.append(token_complexity(sizes, curves[0], errors[f"{statistic}_scale"].values))

    rates = xr.Dataset(
        coords={unit: errors[unit], "n": sizes, "statistic": range(len(STATISTICS)), "part": range(len(PARTS))}
    )
    for name in fits[0]:
        dims = ("statistic", "part", unit, *([PER_SIZE[name]] if name in PER_SIZE else []))
        rates[name] = (dims, np.stack([fit[name] for fit in fits]))
    rates = rates.assign_coords(eps=list(SHARES))
    for name in TOKENS:
        rates[name] = (("eps", "statistic", unit), np.stack([numbers[name] for numbers in complexities], axis=1))
    scales = np.stack([errors[f"{statistic}_scale"].values for statistic in STATISTICS])
    rates["limit_scale"] = (("statistic", unit), scales)
    unknown = xr.full_like(errors["mean_scale"], np.nan)
    limit_se = np.stack([errors.get(f"{statistic}_limit_se", unknown).values for statistic in STATISTICS])
    rates["limit_se"] = (("statistic", unit), limit_se / scales)
    rates["relative_error"] = rates["value"].isel(n=-1) / rates["limit_scale"]
    slope = late_slope(sizes, rates["value"].values)  # (statistic, part, unit)
    rates["saturated"] = (rates["relative_error"] > saturated) & (slope < saturated_slope)
    rates["misfit"] = rates["chi2"] > misfit * rates["dof"]
    rates = rates.assign({str(name): array for name, array in errors.data_vars.items() if is_label(array, unit)})
    return rates.assign(predictions(rates["horizon"], rates["psi"]))


def is_label(array: xr.DataArray, unit: str) -> bool:
    """Whether a variable says something of a unit, of each of its sizes, or of all units, that later steps may need."""
    return array.dims in ((), (unit,), (unit, "n")) and array.name not in OWN
