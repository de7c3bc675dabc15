"""Fits of a whole store of errors: one dataset with a rate for each unit, statistic and part."""

import numpy as np
import xarray as xr

from attnlimit.coordinates import PARTS, STATISTICS, as_whole_layer, is_whole, whole_layer
from attnlimit.rates.power_law import LOCAL, Bootstrap, fit_statistic
from attnlimit.theory.bounds import predictions

COUPLINGS = ("horizon", "horizon_one_sided", "horizon_frobenius", "psi", "constant_tilt", "horizon_published")
PREDICTIONS = ("bound_v3", "bound_v1_experiment", "bound_v1_theorem", "heuristic")
PER_SIZE = dict.fromkeys(("value", "value_se", "noise_floor"), "n") | dict.fromkeys(LOCAL, "interval")


def fit_errors(errors: xr.Dataset, bootstraps: list[Bootstrap], misfit: float, saturated: float) -> xr.Dataset:
    """Rates of every unit of a store: `head` for a model's layer, `setting` for a simulation.

    errors holds error (statistic, unit, replicate, n), limit_scale (statistic, unit) and, for bias and fluctuation,
    {mean,cov}_gram (unit, n, group, group_2); limit_se (statistic, unit) if its limit is from tokens.  Returns
    (statistic, part, unit[, n]), limit_se relative to the scale (NaN without one), every label of a unit (its
    couplings, its dimension, …) and the rates that the couplings predict.
    """
    sizes = errors["n"].values
    (unit,) = set(errors["limit_scale"].dims) - {"statistic"}
    error = errors["error"].transpose("statistic", unit, "replicate", "n")
    fits = []
    for statistic, bootstrap in zip(STATISTICS, bootstraps, strict=True):
        gram = errors[f"{statistic}_gram"].values if f"{statistic}_gram" in errors else None
        fits.append(fit_statistic(sizes, error.sel(statistic=statistic).values, gram, bootstrap))

    rates = xr.Dataset(coords={unit: errors[unit], "n": sizes, "statistic": list(STATISTICS), "part": list(PARTS)})
    for name in fits[0]:
        dims = ("statistic", "part", unit, *([PER_SIZE[name]] if name in PER_SIZE else []))
        rates[name] = (dims, np.stack([fit[name] for fit in fits]))
    rates["limit_scale"] = errors["limit_scale"].transpose("statistic", unit)
    limit_se = errors["limit_se"] if "limit_se" in errors else xr.full_like(errors["limit_scale"], np.nan)
    rates["limit_se"] = limit_se / rates["limit_scale"]
    rates["relative_error"] = rates["value"].isel(n=-1) / rates["limit_scale"]
    rates["saturated"] = rates["relative_error"] > saturated
    rates["misfit"] = rates["chi2"] > misfit * rates["dof"]
    rates = rates.assign({str(name): array for name, array in errors.data_vars.items() if is_label(array, unit)})
    return rates.assign(predictions(rates["horizon"], rates["psi"]) if "horizon" in rates else {})


def is_label(array: xr.DataArray, unit: str) -> bool:
    """Whether a variable says something of a unit, of each of its sizes, or of all units, that later steps may need."""
    return array.dims in ((), (unit,), (unit, "n")) and not is_whole(array.name)


def fit_whole_layer(errors: xr.Dataset, bootstraps: list[Bootstrap], misfit: float, saturated: float) -> xr.Dataset:
    """The same for the whole layer of a store of errors, in variables layer_…"""
    one = whole_layer(errors).expand_dims("head")
    return as_whole_layer(fit_errors(one, bootstraps, misfit, saturated).squeeze("head", drop=True))
