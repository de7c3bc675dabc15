"""How the constant of the moments grows with the size of the tokens' support."""

import numpy as np
import xarray as xr

from attnlimit.rates.power_law import Bootstrap, error_curve, fit

DEGREES = {"mean": 1, "cov": 2}  # powers of R by which the outputs themselves, and their covariance, are scaled
FEWEST_RADII = 3  # for a line with a residual


def fit_constants(errors: xr.Dataset, rates: xr.Dataset, bootstrap: Bootstrap) -> xr.Dataset:
    """ln C'(R) of tokens on a sphere fitted on ln R and on R, in each bootstrap draw; (statistic) each.

    Tokens on the unit sphere with tilt s^2 A are tokens on the sphere of radius R = s with tilt A, their outputs
    divided by R: the constant at radius R is e^intercept R for the mean and e^intercept R^2 for the covariance.
    power: the slope on ln R, its median over the draws;  share_power_fits_better: of the draws.  Saturated settings
    and the published scales, which are in effect a hardmax, are left out; radii, radius_factor say what is left.
    """
    rows = []
    for statistic, degree in DEGREES.items():
        fits = rates.sel(statistic=statistic, part="error")
        data = errors.isel(setting=~(fits["saturated"] | fits["published"]).values.astype(bool))
        radius = data["scale"].values * errors.attrs["radius"]
        row = {"radii": len(radius), "radius_factor": radius.max() / radius.min() if len(radius) else 1.0}
        row |= {"power": np.nan, "share_power_fits_better": np.nan}
        if len(radius) >= FEWEST_RADII:
            curve = error_curve(data["error"].sel(statistic=statistic).values, bootstrap)
            fitted = fit(data["n"].values, curve.resampled, curve.resampled_variance)["intercept"]  # (draw, radius)
            drawn = fitted + degree * np.log(radius)
            power, exponential = (np.polyfit(x, drawn.T, 1, full=True) for x in (np.log(radius), radius))
            row["power"] = np.median(power[0][0])
            row["share_power_fits_better"] = (power[1] < exponential[1]).mean()
        rows.append(row)
    return xr.Dataset(
        {name: ("statistic", np.array([row[name] for row in rows])) for name in rows[0]},
        coords={"statistic": list(DEGREES)},
    )
