"""How the uniform error falls with n and its constant C(R) = sqrt(n) E sup grows with R."""

import numpy as np
import xarray as xr

from attnlimit.rates import LOCAL, Bootstrap, error_curve, fit_curve


def fit_uniform(
    suprema: xr.Dataset, plans: tuple[Bootstrap, Bootstrap], misfit: float, tolerance: float, carriers: float
) -> xr.Dataset:
    """Rates in n of each setting (dimension and radius), and growth in R of each dimension.

    suprema holds sup, effective (setting, replicate, n), NaN where a dimension was not run, and dimension, radius,
    clt_sup (setting).  The slope in R is fitted where sqrt(n) scaling is reached, at the largest n of the dimension;
    ln C against R is ln C against ln(e^R), so that the regression of the rates serves here too.
    """
    sizes, over_n, over_radius = suprema["n"].values, *plans
    curve = error_curve(suprema["sup"].values, over_n)
    rates = fit_curve(sizes, curve)
    relative_se = np.sqrt(curve.relative_variance)
    fits = xr.Dataset(
        {name: (("setting", "interval") if name in LOCAL else "setting", found) for name, found in rates.items()},
        coords={name: suprema[name] for name in ("setting", "n")},
    )
    fits["misfit"] = fits["chi2"] > misfit * fits["dof"]
    fits["value"] = (("setting", "n"), curve.value)
    fits["value_se"] = fits["value"] * relative_se
    fits["constant"] = fits["value"] * np.sqrt(sizes)
    fits["constant_se"] = fits["value_se"] * np.sqrt(sizes)
    fits["effective"] = suprema["effective"].mean("replicate")
    fits["grid_gap"] = (1 - suprema["sup_coarse"] / suprema["sup"]).mean("replicate")
    slope_se = np.hypot(relative_se[:, 1:], relative_se[:, :-1]) / np.diff(np.log(sizes))
    fits["local_slope_se"] = (("setting", "interval"), slope_se)
    fits["reached"] = (
        ("setting", "n"),
        reached(sizes, rates["local_slope"], slope_se, fits["effective"].values, tolerance, carriers),
    )
    fits = fits.assign({name: suprema[name] for name in ("dimension", "radius", "clt_edge", "clt_sup", "clt_sup_se")})
    return fits.merge(fit_growth(suprema, fits["reached"], over_radius))


def reached(
    sizes: np.ndarray,
    slopes: np.ndarray,
    slopes_se: np.ndarray,
    effective: np.ndarray,
    tolerance: float,
    carriers: float,
) -> np.ndarray:
    """Where the error falls like 1/sqrt(n), so that C(R) is a constant: (setting, n).

    Two signs, both from the samples: the slope between a size and the one before it is 1/2 within the tolerance and
    two standard errors; and enough tokens carry the variance.  The variance is E e^{2<t,X>} / (E e^{<t,X>})^2, which
    tokens near 2t make up; there are about n e^{-2R^2} of them, and the effective sample size is n e^{-R^2}, hence
    their number is effective^2 / n.  It is above one while R < sqrt(2 ln n) / 2.
    """
    before = np.concatenate([slopes[:, :1], slopes], axis=1)  # the first size has only the slope after it
    before_se = np.concatenate([slopes_se[:, :1], slopes_se], axis=1)
    straight = np.abs(before - 0.5) <= tolerance + 2 * before_se
    return straight & (effective**2 / sizes >= carriers)


def fit_growth(suprema: xr.Dataset, reached: xr.DataArray, plan: Bootstrap) -> xr.Dataset:
    """ln C(R) = intercept + growth R over the radii reached at the largest n of each dimension, and its local slopes.

    The radii share their samples, so the 95 % interval resamples replicates jointly and chi2 is only a guide.
    growth_local (setting) is the slope of ln C from the radius before, clt_growth_local the same of the CLT.
    """
    dimensions = np.unique(suprema["dimension"])
    found = []
    local = {name: np.full(suprema.sizes["setting"], np.nan) for name in ("growth_local", "clt_growth_local")}
    for dimension in dimensions:
        mine = np.flatnonzero(suprema["dimension"].values == dimension)
        data = suprema.isel(setting=mine)
        largest = data["n"].values[np.isfinite(data["sup"].values).all((0, 1))].max()
        radii, sup = data["radius"].values, data["sup"].sel(n=largest).values * np.sqrt(largest)  # (radius, replicate)
        use = reached.isel(setting=mine).sel(n=largest).values
        curve = error_curve(np.where(use[:, None], sup, np.nan).T[None], plan)
        fit = fit_curve(np.exp(radii), curve)
        found.append(
            {
                "growth": -fit["beta"][0],
                "growth_low": -fit["beta_high"][0],
                "growth_high": -fit["beta_low"][0],
                "growth_intercept": fit["intercept"][0],
                "growth_chi2": fit["chi2"][0],
                "growth_dof": fit["dof"][0],
                "growth_n": largest,
            }
        )
        for name, constant in (("growth_local", sup.mean(1)), ("clt_growth_local", data["clt_sup"].values)):
            local[name][mine[1:]] = np.diff(np.log(constant)) / np.diff(radii)
    per_dimension = {name: ("of_dimension", np.array([fit[name] for fit in found])) for name in found[0]}
    return xr.Dataset(
        per_dimension | {name: ("setting", slopes) for name, slopes in local.items()},
        coords={"of_dimension": dimensions},
    )
