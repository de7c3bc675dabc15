"""How the constant of the moments grows with the size of the tokens' support."""

import numpy as np
import xarray as xr
from scipy.optimize import nnls

from attnlimit.stats.power_law import Bootstrap, error_curve, late_slope

DEGREES = {"mean": 1, "cov": 2}  # powers of R by which the outputs themselves, and their covariance, are scaled
FEWEST_RADII = 4  # for the model of three parameters, with a residual
KEPT = (
    *("power", "power_chi2", "exponential_chi2", "mixed_rate", "mixed_rate_se", "mixed_chi2"),
    *("polynomial_chi2", "polynomial_dof"),
)


def fit_constants(
    errors: xr.Dataset, rates: xr.Dataset, bootstrap: Bootstrap, tolerance: float, degree: int
) -> xr.Dataset:
    """C'(R) = sqrt(n) E[error] at the largest n, of tokens on a sphere, under four models of its growth; (statistic).

    The slope is held at 1/2, so that C' is a constant; radii at which the error does not fall like that near the
    largest n (late slope 1/2 within the tolerance and two standard errors) have none and are left out, as are
    saturated settings and the published scales, which are in effect a hardmax.  radii, radius_factor: what is left;
    unsaturated_radii: how many there were.

    Tokens on the unit sphere with tilt s^2 A are tokens on the sphere of radius R = s with tilt A, their outputs
    divided by R, their covariance by R^2: that scale is put back.  Weighted least squares in ln C', weights from the
    replicates (radii have samples of their own); chi2 of each model, with radii less its parameters degrees of freedom:
    power: a + p ln R;  exponential: a + c R;  mixed: a + p ln R + c R, with c = mixed_rate and its standard error;
    polynomial: of this degree, no coefficient below zero, as in a bound that is a sum of such terms.
    """
    rows = []
    for statistic, scale in DEGREES.items():
        fits = rates.sel(statistic=statistic, part="error")
        data = errors.isel(setting=~(fits["saturated"] | fits["published"]).values.astype(bool))
        sizes, support = data["n"].values, data["scale"].values * errors.attrs["radius"]
        row: dict[str, float] = {"unsaturated_radii": len(support)}
        if len(support):
            curve = error_curve(
                data["error"].sel(statistic=statistic).transpose("setting", "replicate", "n").values, bootstrap
            )
            slope, slope_se = late_slope(sizes, curve.value), late_slope(sizes, curve.resampled).std(0)
            use = np.abs(slope - 0.5) <= tolerance + 2 * slope_se
            radius, used = support[use], np.flatnonzero(use)
        else:
            radius = support
        row |= {"radii": len(radius), "radius_factor": radius.max() / radius.min() if len(radius) else 1.0}
        row |= dict.fromkeys(KEPT, np.nan)
        if len(radius) >= FEWEST_RADII:
            shift = np.log(sizes[-1]) / 2 + scale * np.log(radius)
            log_constant, variance = np.log(curve.value[used, -1]) + shift, curve.relative_variance[used, -1]
            row |= models(radius, log_constant, variance, degree)
        rows.append(row)
    return xr.Dataset(
        {name: ("statistic", np.array([row[name] for row in rows])) for name in rows[0]},
        coords={"statistic": list(DEGREES)},
    )


def models(radius: np.ndarray, log_constant: np.ndarray, variance: np.ndarray, degree: int) -> dict[str, float]:
    """The four models of `fit_constants`: log_constant and its variance (radius)."""
    one, log_radius, root = np.ones_like(radius), np.log(radius), np.sqrt(variance)

    def line(*columns: np.ndarray) -> tuple[np.ndarray, float, np.ndarray]:
        """Coefficients, chi2, and the matrix that gives the coefficients of any ln C'."""
        design = np.stack([one, *columns], axis=1) / root[:, None]
        solver = np.linalg.pinv(design) / root
        coefficients = solver @ log_constant
        return coefficients, float(np.sum((log_constant / root - design @ coefficients) ** 2)), solver

    (_, power), power_chi2, _ = line(log_radius)
    _, exponential_chi2, _ = line(radius)
    mixed, mixed_chi2, solver = line(log_radius, radius)
    constant = np.exp(log_constant - log_constant.mean())
    terms = (radius / radius.max())[:, None] ** np.arange(degree + 1) / (constant * root)[:, None]
    coefficients, residual = nnls(terms, 1 / root)
    return {
        "power": float(power),
        "power_chi2": power_chi2,
        "exponential_chi2": exponential_chi2,
        "mixed_rate": float(mixed[2]),
        "mixed_rate_se": float(np.sqrt(solver[2] ** 2 @ variance)),
        "mixed_chi2": mixed_chi2,
        "polynomial_chi2": float(residual**2),
        "polynomial_dof": int(len(radius) - np.count_nonzero(coefficients)),
    }
