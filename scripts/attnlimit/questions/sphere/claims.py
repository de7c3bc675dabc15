"""The claim on the constants of the moments, tested on exact ones."""

import numpy as np
import xarray as xr

from attnlimit.stats.claim import Finding, Fits, claim
from attnlimit.stats.verdicts import FAILS, HARDLY, HOLDS, STATISTIC_NAMES, every


@claim(
    id="constants",
    headline="The constant C′(R) of the moments is polynomial",
    experiment="interval and spheres, exact",
    statement="The constant of the moments is polynomial in the size R of the support, not exponential (abstract; here "
    "as n → ∞ at a fixed R, where β = 1/2: the paper's C′(R) belongs to β below 1/2, at every n).",
    test="Exact C′(R) = lim √n · root mean square error, on an interval and on spheres: the local power d ln C′/d ln R "
    "at the largest radius is no higher than at the radius a given factor below, up to the tolerance.",
    fits=("constants",),
    figure="constants",
    thresholds=("radius_factor", "power_rise"),
)
def constants(fits: Fits, thresholds: dict) -> Finding:
    """Is the constant C'(R) of the moments polynomial in the radius: does its local power no longer rise?"""
    data, factor, allowed = fits.stores["constants"], thresholds["radius_factor"], thresholds["power_rise"]
    laws = data["law"].values.tolist()
    found = {
        (law, name): rise_of_power(data.sel(law=law, statistic=name), factor)
        for law in laws
        for name in STATISTIC_NAMES
    }
    ends = "; ".join(f"{law}: {found[law, 'mean'][0]:.2f} and {found[law, 'cov'][0]:.2f}" for law in laws)
    largest, highest = max(rise for _, rise in found.values()), float(data["local_power"].max())
    verdict = every([HOLDS if rise <= allowed else FAILS for _, rise in found.values()])
    shortest = float(data["radius"].max("place").min()) * (1 - 1 / factor)  # the rise of exp(cR) is c times this
    off = float(np.abs(data["simulated"].values / data["exact"].values - 1).max())
    no_longer = "no longer rise" if verdict == HOLDS else f"still rise, by up to {largest:.2f}"
    measured = {f"{law}, {STATISTIC_NAMES[name]}": {"power": end, "rise": r} for (law, name), (end, r) in found.items()}
    return Finding(
        verdict,
        f"power of R at the largest radius, mean and covariance: {ends}; rise up to {largest:.3f}, allowed "
        f"{allowed:g}; highest power on the way {highest:.1f}",
        measured | {"highest_power": highest, "simulated_off_by": off},
        f"Local powers of R end at {ends} (mean and covariance) and {no_longer}; on the way the highest is "
        f"{highest:.1f}. Simulated constants are within {off:.0%} of the exact ones at the radii drawn.",
        f"{HARDLY}: these constants are known in closed form; growth like exp(cR) fails it from "
        f"c = {allowed / shortest:.1g} on",
        p=0.0,
        number=f"power of R at the largest radius up to {max(end for end, _ in found.values()):.2f}",
    )


def rise_of_power(data: xr.Dataset, factor: float) -> tuple[float, float]:
    """The local power at the largest radius, and how much higher it is than at that radius over the factor."""
    radius, power = data["radius"].values, data["local_power"].values
    between = np.log(radius[1:] * radius[:-1]) / 2
    earlier = np.interp(between[-1] - np.log(factor), between, power)
    return float(power[-1]), float(power[-1] - earlier)
