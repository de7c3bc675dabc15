"""The claim on the constants of the moments, tested on tokens on a sphere."""

import xarray as xr

from attnlimit.claims.verdicts import FAILS, HOLDS, STATISTIC_NAMES, UNTESTED, Finding, Record, every, pick, spoken
from attnlimit.coordinates import STATISTICS


def constants(fits: xr.Dataset, thresholds: dict) -> Record:
    """Is the constant C'(R) of the moments a power of the support's radius rather than an exponential?"""
    level, findings = thresholds["level"], {}
    for statistic in STATISTIC_NAMES:
        fit = fits.sel(statistic=STATISTICS.index(statistic))
        radii, factor, share = int(fit["radii"]), float(fit["radius_factor"]), float(fit["share_power_fits_better"])
        measured: dict[str, float] = {"radii": radii}
        if radii < thresholds["fewest_radii"] or factor < thresholds["radius_factor"]:
            findings[statistic] = Finding(UNTESTED, measured, f"only {radii} radii, {factor:.1f}-fold")
            continue
        verdict = HOLDS if share >= level else FAILS if share <= 1 - level else UNTESTED
        measured |= {"share_power_fits_better": share, "power": float(fit["power"]), "radius_factor": factor}
        findings[statistic] = Finding(verdict, measured, f"{share:.0%} of draws, power {measured['power']:.1f}")
    return Record(
        "constants",
        "The constant C'(R) of the moments is polynomial in the size of the support, not exponential (abstract).",
        every([finding.verdict for finding in findings.values()]),
        f"a power of R beats an exponential: {spoken(findings)}; asked {level:.0%}",
        {name: finding.measured for name, finding in findings.items()},
        "Share of bootstrap draws in which a power of R fits the fitted constants better than an exponential (sphere).",
        pick(thresholds, "level", "fewest_radii", "radius_factor"),
        ["results/rates/constants.zarr.zip", "results/rates/sphere.zarr.zip", "figure sphere_beta_vs_horizon"],
        f"A power of R fits better than an exponential: {spoken(findings)}; powers of 1 and 2 are the scale of the "
        "outputs alone, and beta changes with R too.",
    )
