"""Claims on the hardmax, tested on its simulation."""

import numpy as np
import xarray as xr
from scipy.stats import chi2

from attnlimit.stats.statements import STATEMENTS
from attnlimit.stats.verdicts import FAILS, HOLDS, UNTESTED, Record, decide, every, pick, z_score

EVIDENCE = ["results/rates/hardmax.zarr.zip", "figure hardmax"]
KNOWN = "the exact expectation is known"


def hardmax_constant(data: xr.Dataset, thresholds: dict) -> Record:
    """Proposition 5.1 at the largest n: the exact ratio to it, and the simulated one with its interval."""
    n, from_n, z = int(data["n"][-1]), data.attrs["from_n"], z_score(thresholds["level"])
    allowed = 1 - thresholds["hardmax_tolerance"], 1 + thresholds["hardmax_tolerance"]
    exact, drawn, se = (float(data[name][-1]) for name in ("ratio", "line_ratio", "line_ratio_se"))
    half, deviation = z * se, (drawn - exact) / se if se else 0.0
    parts = [decide(exact, exact, *allowed), decide(drawn - half, drawn + half, *allowed)]
    return Record(
        "hardmax_constant",
        STATEMENTS["hardmax_constant"],
        every(parts) if n >= from_n else UNTESTED,
        f"exact over formula {exact:.4f} at n = {n:,}, simulated {drawn:.3f} ± {half:.3f}; allowed {allowed[0]:g} to "
        f"{allowed[1]:g}",
        {"n": n, "exact": exact, "simulated": drawn, "low": drawn - half, "high": drawn + half}
        | {"simulated_less_exact_in_standard_errors": deviation},
        "Exact E|meanₙ| over the formula at the largest n, and the simulated one's interval, within the tolerance.",
        pick(thresholds, "level", "hardmax_tolerance") | {"from_n": from_n},
        EVIDENCE,
        f"At n = {n:,} the exact ratio is {exact:.4f}; the simulated one is {drawn:.3f} ± {half:.3f}, "
        f"{abs(deviation):.1f} standard errors {'below' if deviation < 0 else 'above'} the exact one. At small n it is "
        "not near 1, as 1 + o(1) allows.",
        f"hardly: {KNOWN}; the simulation would have shown a constant off by more than "
        f"{thresholds['hardmax_tolerance'] + half:.1%}",
    )


def hardmax_logarithm(data: xr.Dataset, thresholds: dict) -> Record:
    """The logarithmic rate against a power of n, where the logarithm itself fits."""
    from_n, sizes = data.attrs["from_n"], int(data["late_sizes"])
    power, exact, half = (float(data[name]) for name in ("log_power", "expected_log_power", "log_power_se"))
    half *= z_score(thresholds["level"])
    edges = 0.5 - thresholds["power_tolerance"], 0.5 + thresholds["power_tolerance"]
    if np.isfinite(power):
        gain = float(data["power_chi2"] - data["log_chi2"]) / 2  # ln of the likelihood ratio
        fits = {name: float(chi2.sf(float(data[f"{name}_chi2"]), sizes - 2)) for name in ("log", "power")}
        needed = np.log(thresholds["likelihood_ratio"])
        one_fits = max(fits.values()) >= thresholds["goodness"]  # else the better of two bad fits
        likelier = HOLDS if gain >= needed else FAILS if gain <= -needed else UNTESTED
        verdict = every([decide(power - half, power + half, *edges), likelier]) if one_fits else UNTESTED
        measured = {"sizes": sizes, "power_of_log": power, "exact_power_of_log": exact, "half_interval": half}
        measured |= {"log_likelihood_ratio": gain, "p_log": fits["log"], "p_power": fits["power"]}
        words = f"power of 1/ln n {power:.3f} ± {half:.3f} (exact {exact:.3f})"
        words += "" if one_fits else "; neither it nor a power of n fits"
        far = thresholds["power_tolerance"] + half
        could = f"hardly: {KNOWN}; a power more than {far:.2f} from 1/2 would have been seen"
    else:
        verdict, measured, words, could = UNTESTED, {"sizes": sizes}, "too few sizes", "not here: too few sizes"
    return Record(
        "hardmax_logarithm",
        STATEMENTS["hardmax_logarithm"],
        verdict,
        f"{words}; allowed {edges[0]:.2f} to {edges[1]:.2f}",
        measured,
        "Power of 1/ln n, with its interval, within the tolerance of 1/2, and likelier than a power of n, one of which "
        "must fit.",
        pick(thresholds, "level", "power_tolerance", "likelihood_ratio", "goodness") | {"from_n": from_n},
        EVIDENCE,
        f"From n = {from_n:,} on: {words}; no power of n fits as well." if verdict == HOLDS else f"Found: {words}.",
        could,
    )
