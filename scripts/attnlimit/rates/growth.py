"""How the uniform error falls with n and its constant C(R) = sqrt(n) E sup grows with R."""

import numpy as np
import xarray as xr

from attnlimit.rates.power_law import LOCAL, Bootstrap, error_curve, fit, fit_curve, interval
from attnlimit.theory.effective import carriers

FEWEST_RADII = 3  # for a parabola


def fit_uniform(
    suprema: xr.Dataset,
    bootstraps: tuple[Bootstrap, Bootstrap, Bootstrap],
    misfit: float,
    tolerance: float,
    enough: float,
) -> xr.Dataset:
    """Rates in n of each setting (dimension and radius), and growth in R of each dimension.

    suprema holds sup, effective (setting, replicate, n), NaN where a dimension was not run, and dimension, radius,
    clt_sup (setting).  The slope in R is fitted where sqrt(n) scaling is reached, at the largest n of the dimension;
    ln C against R is ln C against ln(e^R), so that the regression of the rates serves here too.
    """
    sizes, over_n, over_radius, for_changes = suprema["n"].values, *bootstraps
    curve = error_curve(suprema["sup"].values, over_n)
    rates = fit_curve(sizes, curve)
    relative_se = np.sqrt(curve.relative_variance)
    fits = xr.Dataset(
        {name: (("setting", "interval") if name in LOCAL else "setting", array) for name, array in rates.items()},
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
        reached(sizes, rates["local_slope"], slope_se, fits["effective"].values, tolerance, enough),
    )
    fits = fits.assign({name: suprema[name] for name in ("dimension", "radius", "clt_edge", "clt_sup", "clt_sup_se")})
    carried = carriers(fits["effective"], fits["n"]) >= enough  # decided by effective sizes and not by the slope
    value = fits["value"].where(carried).values
    slope = fit(sizes, value, (fits["value_se"].values / value) ** 2)
    fits = fits.assign(carried=carried, carried_beta=("setting", slope["beta"]), carried_se=("setting", slope["se"]))
    growth = [fit_growth(suprema, fits["reached"], over_radius), growth_changes(suprema, carried, for_changes)]
    return xr.merge([fits, *growth])


def reached(
    sizes: np.ndarray,
    slopes: np.ndarray,
    slopes_se: np.ndarray,
    effective: np.ndarray,
    tolerance: float,
    enough: float,
) -> np.ndarray:
    """Where the error falls like 1/sqrt(n), so that C(R) is a constant: (setting, n).

    Two signs, both from the samples: the slope between a size and the one before it is 1/2 within the tolerance and
    two standard errors; and enough tokens carry the variance.
    """
    before = np.concatenate([slopes[:, :1], slopes], axis=1)  # the first size has only the slope after it
    before_se = np.concatenate([slopes_se[:, :1], slopes_se], axis=1)
    straight = np.abs(before - 0.5) <= tolerance + 2 * before_se
    return straight & (carriers(effective, sizes) >= enough)


def fit_growth(suprema: xr.Dataset, reached: xr.DataArray, bootstrap: Bootstrap) -> xr.Dataset:
    """ln C(R) = intercept + growth R over the radii reached at the largest n of each dimension, and its local slopes.

    The radii share their samples, so the 95 % interval resamples replicates jointly and chi2 is only a guide.
    growth_local (setting) is the slope of ln C from the radius before, clt_growth_local the same of the CLT.
    """
    dimensions = np.unique(suprema["dimension"])
    lines = []
    local = {name: np.full(suprema.sizes["setting"], np.nan) for name in ("growth_local", "clt_growth_local")}
    for dimension in dimensions:
        mine = np.flatnonzero(suprema["dimension"].values == dimension)
        data = suprema.isel(setting=mine)
        largest = largest_size(data)
        radii, sup = data["radius"].values, data["sup"].sel(n=largest).values * np.sqrt(largest)  # (radius, replicate)
        use = reached.isel(setting=mine).sel(n=largest).values
        curve = error_curve(np.where(use[:, None], sup, np.nan).T[None], bootstrap)
        line = fit_curve(np.exp(radii), curve)
        lines.append(
            {
                "growth": -line["beta"][0],
                "growth_low": -line["beta_high"][0],
                "growth_high": -line["beta_low"][0],
                "growth_intercept": line["intercept"][0],
                "growth_chi2": line["chi2"][0],
                "growth_dof": line["dof"][0],
                "growth_n": largest,
            }
        )
        for name, constant in (("growth_local", sup.mean(1)), ("clt_growth_local", data["clt_sup"].values)):
            local[name][mine[1:]] = np.diff(np.log(constant)) / np.diff(radii)
    per_dimension = {name: ("of_dimension", np.array([line[name] for line in lines])) for name in lines[0]}
    return xr.Dataset(
        per_dimension | {name: ("setting", slopes) for name, slopes in local.items()},
        coords={"of_dimension": dimensions},
    )


def largest_size(suprema: xr.Dataset) -> int:
    """The largest n that was run for all the settings given."""
    return int(suprema["n"].values[np.isfinite(suprema["sup"].values).all((0, 1))].max())


def growth_changes(suprema: xr.Dataset, carried: xr.DataArray, bootstrap: Bootstrap) -> xr.Dataset:
    """How the growth rate of ln C(R) changes over the radii, relative to its mean; one number a dimension.

    ln C = a + g R + q R^2 by least squares at the largest n of the dimension, over the radii at which enough tokens
    carry the variance; change = 2 q (R_max - R_min) / g, with g at the middle.  Negative: slower than an exponential;
    zero: an exponential; positive: faster.  The radii share their samples, so replicates are resampled jointly.
    over_clt (setting): C(R) over that of the limit process, at the radii used.
    """
    dimensions = np.unique(suprema["dimension"])
    over_clt, rows = np.full(suprema.sizes["setting"], np.nan), []
    for dimension in dimensions:
        mine = np.flatnonzero(suprema["dimension"].values == dimension)
        data = suprema.isel(setting=mine)
        largest = largest_size(data)
        use = carried.isel(setting=mine).sel(n=largest).values
        radius, sup = data["radius"].values[use], data["sup"].sel(n=largest).values[use]  # (radius, replicate)
        row = {"radii": len(radius), "n": largest, "largest_radius": max(radius, default=np.nan)}
        row |= dict.fromkeys(("low", "high", "slope_low"), np.nan)
        if len(radius) >= FEWEST_RADII:
            curve = error_curve(sup.T[None], bootstrap)  # value (1, radius)
            offset = radius - (radius[0] + radius[-1]) / 2
            quadratic, slope, _ = np.polyfit(offset, np.log(curve.resampled[:, 0]).T, 2)  # (draw,) each
            change = 2 * quadratic * (radius[-1] - radius[0]) / slope
            drawn = np.stack([change, slope], axis=1)
            (row["low"], row["slope_low"]), (row["high"], _) = interval(np.zeros(2), drawn, curve.levels(len(radius)))
            over_clt[mine[use]] = np.sqrt(largest) * curve.value[0] / data["clt_sup"].values[use]
        rows.append(row)
    per_dimension = {f"change_{name}": ("of_dimension", np.array([row[name] for row in rows])) for name in rows[0]}
    return xr.Dataset(per_dimension | {"over_clt": ("setting", over_clt)}, coords={"of_dimension": dimensions})
