"""Claims on the hardmax, tested on its simulation."""

import numpy as np
import xarray as xr

from attnlimit.claims.statements import STATEMENTS
from attnlimit.claims.verdicts import FAILS, HOLDS, UNTESTED, Record, decide, every, pick, z_score


def hardmax(data: xr.Dataset, thresholds: dict) -> tuple[Record, Record]:
    """Proposition 5.1: its constant at the largest n, and the logarithmic rate against a power of n."""
    n, from_n, z = data["n"].values, data.attrs["from_n"], z_score(thresholds["level"])
    allowed = 1 - thresholds["hardmax_tolerance"], 1 + thresholds["hardmax_tolerance"]
    ratio, half = float(data["line_ratio"][-1]), z * float(data["line_ratio_se"][-1])
    measured = {"n": int(n[-1]), "ratio": ratio, "low": ratio - half, "high": ratio + half}
    constant = decide(ratio - half, ratio + half, *allowed) if n[-1] >= from_n else UNTESTED
    evidence = ["results/rates/hardmax.zarr.zip", "figure hardmax"]
    first = Record(
        "hardmax_constant",
        STATEMENTS["hardmax_constant"],
        constant,
        f"measured over formula {ratio:.3f} at n = {n[-1]:.3g}; allowed {allowed[0]:g} to {allowed[1]:g}",
        measured,
        "Simulated E|mean_n| over the formula at the largest n, with its interval, within the tolerance.",
        pick(thresholds, "level", "hardmax_tolerance") | {"from_n": from_n},
        evidence,
        f"At n = {n[-1]:.3g} the ratio is {ratio:.3f} +- {half:.3f}; at small n it is not near 1, as 1 + o(1) allows.",
    )

    sizes, exponent, half = int(data["late_sizes"]), float(data["log_power"]), z * float(data["log_power_se"])
    gain = float(data["power_chi2"] - data["log_chi2"]) / 2  # ln of the likelihood ratio
    edges = 0.5 - thresholds["power_tolerance"], 0.5 + thresholds["power_tolerance"]
    if np.isfinite(exponent):
        needed = np.log(thresholds["likelihood_ratio"])
        likelier = HOLDS if gain >= needed else FAILS if gain <= -needed else UNTESTED
        verdict = every([decide(exponent - half, exponent + half, *edges), likelier])
        measured = {"sizes": sizes, "power_of_log": exponent, "half_interval": half, "log_likelihood_ratio": gain}
        words = f"power of 1/ln n {exponent:.3f} +- {half:.3f}"
    else:
        verdict, measured, words = UNTESTED, {"sizes": sizes}, "too few sizes"
    second = Record(
        "hardmax_logarithm",
        STATEMENTS["hardmax_logarithm"],
        verdict,
        f"{words}; allowed {edges[0]:.2f} to {edges[1]:.2f}",
        measured,
        "Power of 1/ln n, with its interval, within the tolerance of 1/2, and likelier than a power of n.",
        pick(thresholds, "level", "power_tolerance", "likelihood_ratio") | {"from_n": from_n},
        evidence,
        f"From n = {from_n:,} on: {words}; no power of n fits as well." if verdict == HOLDS else f"Found: {words}.",
    )
    return first, second
