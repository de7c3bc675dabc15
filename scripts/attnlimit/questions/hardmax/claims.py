"""Claims on the hardmax, tested on its simulation."""

import numpy as np
from scipy.stats import chi2

from attnlimit.stats.claim import Finding, Fits, claim
from attnlimit.stats.verdicts import FAILS, HOLDS, UNDECIDED, decide, every, z_score

KNOWN = "the exact expectation is known"


@claim(
    id="hardmax_constant",
    statement="Hardmax on normal tokens, d = 1: E|meanₙ| = ln(4) σ / (2√(2 ln n)) · (1 + o(1)) (Proposition 5.1).",
    test="Exact E|meanₙ| over the formula at the largest n, and the simulated one's interval, within the tolerance.",
    fits=("hardmax",),
    figure="hardmax",
    thresholds=("level", "hardmax_tolerance"),
)
def hardmax_constant(fits: Fits, thresholds: dict) -> Finding:
    """Proposition 5.1 at the largest n: the exact ratio to it, and the simulated one with its interval."""
    data = fits.stores["hardmax"]
    n, from_n, z = int(data["n"][-1]), data.attrs["from_n"], z_score(thresholds["level"])
    allowed = 1 - thresholds["hardmax_tolerance"], 1 + thresholds["hardmax_tolerance"]
    exact, drawn, se = (float(data[name][-1]) for name in ("ratio", "line_ratio", "line_ratio_se"))
    half, deviation = z * se, (drawn - exact) / se if se else 0.0
    parts = [decide(exact, exact, *allowed), decide(drawn - half, drawn + half, *allowed)]
    return Finding(
        every(parts) if n >= from_n else UNDECIDED,
        f"exact over formula {exact:.4f} at n = {n:,}, simulated {drawn:.3f} ± {half:.3f}; allowed {allowed[0]:g} to "
        f"{allowed[1]:g}",
        {"n": n, "exact": exact, "simulated": drawn, "low": drawn - half, "high": drawn + half}
        | {"simulated_less_exact_in_standard_errors": deviation},
        f"At n = {n:,} the exact ratio is {exact:.4f}; the simulated one is {drawn:.3f} ± {half:.3f}, "
        f"{abs(deviation):.1f} standard errors {'below' if deviation < 0 else 'above'} the exact one. At small n it is "
        "not near 1, as 1 + o(1) allows.",
        f"hardly: {KNOWN}; the simulation would have shown a constant off by more than "
        f"{thresholds['hardmax_tolerance'] + half:.1%}",
        {"from_n": from_n},
    )


@claim(
    id="hardmax_logarithm",
    statement="In the hardmax regime the rate is logarithmic (abstract): E|meanₙ| falls like 1/√(ln n), d = 1.",
    test="Power of 1/ln n, with its interval, within the tolerance of 1/2, and likelier than a power of n, one of "
    "which must fit.",
    fits=("hardmax",),
    figure="hardmax",
    thresholds=("level", "power_tolerance", "likelihood_ratio", "goodness"),
)
def hardmax_logarithm(fits: Fits, thresholds: dict) -> Finding:
    """The logarithmic rate against a power of n, where the logarithm itself fits."""
    data = fits.stores["hardmax"]
    from_n, sizes = data.attrs["from_n"], int(data["late_sizes"])
    power, exact, half = (float(data[name]) for name in ("log_power", "expected_log_power", "log_power_se"))
    half *= z_score(thresholds["level"])
    edges = 0.5 - thresholds["power_tolerance"], 0.5 + thresholds["power_tolerance"]
    if np.isfinite(power):
        gain = float(data["power_chi2"] - data["log_chi2"]) / 2  # ln of the likelihood ratio
        p_value = {name: float(chi2.sf(float(data[f"{name}_chi2"]), sizes - 2)) for name in ("log", "power")}
        needed = np.log(thresholds["likelihood_ratio"])
        one_fits = max(p_value.values()) >= thresholds["goodness"]  # else the better of two bad fits
        likelier = HOLDS if gain >= needed else FAILS if gain <= -needed else UNDECIDED
        verdict = every([decide(power - half, power + half, *edges), likelier]) if one_fits else UNDECIDED
        measured = {"sizes": sizes, "power_of_log": power, "exact_power_of_log": exact, "half_interval": half}
        measured |= {"log_likelihood_ratio": gain, "p_log": p_value["log"], "p_power": p_value["power"]}
        words = f"power of 1/ln n {power:.3f} ± {half:.3f} (exact {exact:.3f})"
        words += "" if one_fits else "; neither it nor a power of n fits"
        far = thresholds["power_tolerance"] + half
        could = f"hardly: {KNOWN}; a power more than {far:.2f} from 1/2 would have been seen"
    else:
        verdict, measured, words, could = UNDECIDED, {"sizes": sizes}, "too few sizes", "not here: too few sizes"
    return Finding(
        verdict,
        f"{words}; allowed {edges[0]:.2f} to {edges[1]:.2f}",
        measured,
        f"From n = {from_n:,} on: {words}; no power of n fits as well." if verdict == HOLDS else f"Found: {words}.",
        could,
        {"from_n": from_n},
    )
