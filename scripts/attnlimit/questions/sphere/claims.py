"""The claim on the constants of the moments, tested on tokens on a sphere."""

import numpy as np
import xarray as xr
from scipy.stats import chi2

from attnlimit.stats.claim import Finding, Fits, claim
from attnlimit.stats.verdicts import (
    FAILS,
    HOLDS,
    NOT_HERE,
    STATISTIC_NAMES,
    UNDECIDED,
    YES,
    Part,
    every_part,
    measured_of,
    spoken,
    z_score,
)


@claim(
    id="constants",
    statement="The constant C′(R) of the moments is polynomial in the size of the support, not exponential (abstract).",
    test="χ² of models of ln C′(R) on a sphere, C′ = √n · error where the error falls like 1/√n: a polynomial of the "
    "given degree without negative coefficients must fit, and Rᵖ·exp(cR) with c from the given rate on must not.",
    fits=("constants",),
    figure="sphere_beta_vs_horizon",
    thresholds=("level", "goodness", "fewest_radii", "radius_factor", "exponential_rate"),
)
def constants(fits: Fits, thresholds: dict) -> Finding:
    """Is the constant C'(R) of the moments polynomial in the support's radius?"""
    data, rate = fits.stores["constants"], thresholds["exponential_rate"]
    parts = {name: growth_of_constant(data.sel(statistic=name), thresholds) for name in STATISTIC_NAMES}
    able = YES if any("seen_rate" in part.measured for part in parts.values()) else NOT_HERE
    return Finding(
        every_part(parts),
        f"{spoken(parts)}; required: a polynomial fits, and growth like exp({rate:g}R) does not",
        measured_of(parts),
        f"Found: {spoken(parts)}. A constant is one only where the error falls like 1/√n; powers 1 and 2 of R "
        "are the scale of the outputs alone.",
        f"{able}: " + "; ".join(f"{STATISTIC_NAMES[name]}: {part.power}" for name, part in parts.items()),
    )


def growth_of_constant(fit: xr.Dataset, thresholds: dict) -> Part:
    """Holds: a polynomial fits, and no R^p e^(cR) with c at or above `exponential_rate` does.

    Fails: no such polynomial fits, but an exponential does, with a rate surely above zero.  All else decides nothing:
    the better of two bad fits is no evidence, and over few radii polynomials and exponentials look alike.
    """
    radii, factor = int(fit["radii"]), float(fit["radius_factor"])
    measured: dict = {"radii": radii, "unsaturated_radii": int(fit["unsaturated_radii"])}
    if radii < thresholds["fewest_radii"] or factor < thresholds["radius_factor"]:
        words = f"errors fall like 1/√n at {radii} of {measured['unsaturated_radii']} radii only, {factor:.1f}-fold"
        return Part(UNDECIDED, measured | {"radius_factor": factor}, words, "too few radii with a constant")
    value = {str(name): float(array) for name, array in fit.data_vars.items()}
    short = max(thresholds["exponential_rate"] - value["mixed_rate"], 0) / value["mixed_rate_se"]
    p_value = {
        "polynomial": chi2.sf(value["polynomial_chi2"], max(value["polynomial_dof"], 1)),
        "power": chi2.sf(value["power_chi2"], radii - 2),
        "exponential": chi2.sf(value["exponential_chi2"], radii - 2),
        "mixed": chi2.sf(value["mixed_chi2"], radii - 3),
        "mixed_at_rate": chi2.sf(value["mixed_chi2"] + short**2, radii - 2),
    }
    fits = {name: bool(p >= thresholds["goodness"]) for name, p in p_value.items()}
    surely = value["mixed_rate"] > z_score(thresholds["level"]) * value["mixed_rate_se"]
    grows = fits["exponential"] or (fits["mixed"] and surely)
    # The distance in standard errors at which a rate's model is rejected, added to the rate: what would be seen.
    seen = float(np.sqrt(chi2.isf(thresholds["goodness"], 1))) * value["mixed_rate_se"]
    measured |= {"radius_factor": factor, "power": value["power"], "p_values": p_value, "seen_rate": seen}
    measured |= {name: value[name] for name in ("mixed_rate", "mixed_rate_se")}
    if fits["polynomial"] and not fits["mixed_at_rate"]:
        verdict, said = HOLDS, "a polynomial fits, exponentials do not"
    elif not fits["polynomial"] and grows:
        verdict, said = FAILS, "an exponential fits, no polynomial does"
    elif fits["polynomial"]:
        verdict, said = UNDECIDED, "polynomial and exponential both fit"
    else:
        verdict, said = UNDECIDED, "neither a polynomial nor an exponential fits"
    numbers = f"p = {p_value['polynomial']:.2g} and {p_value['mixed_at_rate']:.2g}"
    return Part(verdict, measured, f"{said} ({numbers})", f"exponential growth from exp({seen:.2g}R) on is seen")
