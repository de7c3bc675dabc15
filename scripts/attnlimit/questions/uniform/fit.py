"""How the uniform error falls with n and its constant C(R) = sqrt(n) E sup grows with R."""

from collections.abc import Sequence

import numpy as np
import xarray as xr

from attnlimit.stats.estimate import ENDS
from attnlimit.stats.power_law import LOCAL, Bootstrap, Curve, error_curve, fit, fit_curve, interval
from attnlimit.theory.bounds import carriers

FEWEST_RADII = 3  # for a parabola


def fit_uniform(
    suprema: xr.Dataset,
    bootstraps: Sequence[Bootstrap],
    misfit: float,
    tolerance: float,
    enough: float,
) -> xr.Dataset:
    """Rates in n of each setting (law and radius), and growth in R of each law.

    suprema holds sup, effective (setting, replicate, n), NaN where a law was not run, and dimension, radius, compact,
    clt_sup (setting) with the coordinate law.  The slope in R is fitted where sqrt(n) scaling is reached, at the
    largest n of the law; ln C against R is ln C against ln(e^R), so that the regression of the rates serves here too.
    """
    sizes, over_n, over_radius, for_changes = suprema["n"].values, *bootstraps
    curve = error_curve(suprema["sup"].values, over_n)
    rates = fit_curve(sizes, curve)
    relative_se = np.sqrt(curve.relative_variance)
    fits = xr.Dataset(
        {name: (("setting", "interval") if name in LOCAL else "setting", array) for name, array in rates.items()},
        coords={name: suprema[name] for name in ("setting", "law", "n")},
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
    labels = ("dimension", "radius", "compact", "clt_edge", "clt_sup", "clt_sup_se")
    fits = fits.assign({name: suprema[name] for name in labels})
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
    """ln C(R) = intercept + growth R over the radii reached at the largest n of each law, and its local slopes.

    The radii share their samples, so the 95 % interval resamples replicates jointly and chi2 is only a guide.
    growth_local (setting) is the slope of ln C from the radius before, clt_growth_local the same of the CLT.
    """
    laws = laws_of(suprema)
    lines = []
    local = {name: np.full(suprema.sizes["setting"], np.nan) for name in ("growth_local", "clt_growth_local")}
    for law in laws:
        mine = np.flatnonzero(suprema["law"].values == law)
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
    per_law = {name: ("of_law", np.array([line[name] for line in lines])) for name in lines[0]}
    return xr.Dataset(
        per_law | {name: ("setting", slopes) for name, slopes in local.items()},
        coords={"of_law": laws},
    )


def laws_of(suprema: xr.Dataset) -> list[str]:
    """The laws, each once, in the order of the store."""
    return list(dict.fromkeys(suprema["law"].values.tolist()))


def largest_size(suprema: xr.Dataset) -> int:
    """The largest n that was run for all the settings given."""
    return int(suprema["n"].values[np.isfinite(suprema["sup"].values).all((0, 1))].max())


def growth_changes(suprema: xr.Dataset, carried: xr.DataArray, bootstrap: Bootstrap) -> xr.Dataset:
    """How C(R) continues over the radii; one number per law, each with its 95 % interval.

    All at the largest n of the law, over the radii at which enough tokens carry the variance; NaN with fewer than
    three.  The radii share their samples, so replicates are resampled jointly.
    total_growth: C(R_max) / C(R_min).  upper_growth: slope of ln C on R, by least squares, over the
    upper half of the radii: zero where C(R) has reached its bound.
    over_clt (setting): C(R) over that of the limit process, at the radii used.
    """
    laws = laws_of(suprema)
    over_clt, rows = np.full(suprema.sizes["setting"], np.nan), []
    for law in laws:
        mine = np.flatnonzero(suprema["law"].values == law)
        data = suprema.isel(setting=mine)
        largest = largest_size(data)
        use = carried.isel(setting=mine).sel(n=largest).values
        radius, sup = data["radius"].values[use], data["sup"].sel(n=largest).values[use]  # (radius, replicate)
        row: dict[str, float] = {"change_radii": len(radius), "change_n": largest}
        row["change_smallest_radius"], row["change_largest_radius"] = (
            min(radius, default=np.nan),
            max(radius, default=np.nan),
        )
        curve = error_curve(sup.T[None], bootstrap) if len(radius) >= FEWEST_RADII else None  # value (1, radius)
        rows.append(row | growth_shape(radius, curve))
        if curve is not None:
            over_clt[mine[use]] = np.sqrt(largest) * curve.value[0] / data["clt_sup"].values[use]
    per_law = {name: ("of_law", np.array([row[name] for row in rows])) for name in rows[0]}
    return xr.Dataset(per_law | {"over_clt": ("setting", over_clt)}, coords={"of_law": laws})


def growth_shape(radius: np.ndarray, curve: Curve | None) -> dict[str, float]:
    """What `growth_changes` says of one law's curve (1, radius): NaN without one."""
    upper = slice(len(radius) // 2, None)
    quantities = {
        "total_growth": lambda values: np.exp(values[-1] - values[0]),
        "upper_growth": lambda values: np.polyfit(radius[upper], values[upper], 1)[0],
    }
    if curve is None:
        return {f"{name}{end}": np.nan for name in quantities for end in ENDS}
    drawn, own = np.log(curve.resampled[:, 0]).T, np.log(curve.value[0])[:, None]  # (radius, draw), (radius, 1)
    shape: dict[str, float] = {}
    for name, quantity in quantities.items():
        estimate = interval(quantity(own)[0], quantity(drawn), curve.levels(len(radius)))
        shape |= {f"{name}{end}": float(part) for end, part in zip(ENDS, estimate, strict=True)}
    return shape
