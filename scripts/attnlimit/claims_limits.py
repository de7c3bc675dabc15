"""Claims on the constants of the moments, on the hardmax and on normality, tested on their simulations."""

import numpy as np
import xarray as xr
from scipy.special import kolmogi, ndtr

from attnlimit.rates import Bootstrap, error_curve, fit
from attnlimit.verdicts import (
    FAILS,
    HOLDS,
    UNTESTED,
    Finding,
    Record,
    decide,
    every,
    most,
    pick,
    spoken,
    spread,
    z_score,
)


def constants(rates: xr.Dataset, errors: xr.Dataset, thresholds: dict, stream) -> Record:
    """Is the constant C'(R) of the moments a power of the support's radius rather than an exponential?

    Tokens on the unit sphere with tilt s^2 A are tokens on the sphere of radius R = s with tilt A, their outputs
    divided by R: the constant at radius R is e^intercept R for the mean and e^intercept R^2 for the covariance.
    Replicates are resampled, and in each draw ln C' is fitted on ln R and on R.
    """
    chosen = ~np.array(errors.attrs["published"], dtype=bool)  # the published scales are in effect a hardmax
    findings = {}
    for number, (statistic, degree) in enumerate((("mean", 1), ("cov", 2))):
        saturated = rates["saturated"].sel(statistic=number, part=0).values.astype(bool)
        data = errors.isel(setting=chosen & ~saturated)
        radius = data["scale"].values * errors.attrs["radius"]
        measured = {"radii": len(radius)}
        factor = radius.max() / radius.min() if len(radius) else 1.0
        if len(radius) < thresholds["fewest_radii"] or factor < thresholds["radius_factor"]:
            findings[statistic] = Finding(UNTESTED, measured, f"only {len(radius)} radii, {factor:.1f}-fold")
            continue
        plan = Bootstrap(thresholds["bootstrap"], bool(errors.attrs["nested"]), stream)
        curve = error_curve(data[statistic].values, plan)
        weights = np.broadcast_to(curve.relative_variance, curve.resampled.shape)
        drawn = fit(data["n"].values, curve.resampled, weights)["intercept"] + degree * np.log(radius)  # (draw, radius)
        power, exponential = (np.polyfit(x, drawn.T, 1, full=True) for x in (np.log(radius), radius))
        share = float((power[1] < exponential[1]).mean())
        level = thresholds["level"]
        verdict = HOLDS if share >= level else FAILS if share <= 1 - level else UNTESTED
        measured |= {"share_power_fits_better": share, "power": float(np.median(power[0][0])), "radius_factor": factor}
        findings[statistic] = Finding(verdict, measured, f"{share:.0%} of draws, power {measured['power']:.1f}")
    return Record(
        "constants",
        "The constant C'(R) of the moments is polynomial in the size of the support, not exponential (abstract).",
        every([finding.verdict for finding in findings.values()]),
        f"a power of R beats an exponential: {spoken(findings)}; asked {thresholds['level']:.0%}",
        {name: finding.measured for name, finding in findings.items()},
        "Share of bootstrap draws in which a power of R fits the fitted constants better than an exponential (sphere).",
        pick(thresholds, "level", "fewest_radii", "radius_factor", "bootstrap"),
        ["results/synthetic/sphere.zarr.zip", "results/rates/sphere.zarr.zip", "figure sphere_beta_vs_horizon"],
        f"A power of R fits better than an exponential: {spoken(findings)}; powers of 1 and 2 are the scale of the "
        "outputs alone, and beta changes with R too.",
    )


def hardmax(data: xr.Dataset, thresholds: dict) -> tuple[Record, Record]:
    """Proposition 5.1: its constant at the largest n, and the logarithmic rate against a power of n."""
    n, value, se = (data[name].values for name in ("n", "line_value", "line_value_se"))
    z, late = z_score(thresholds["level"]), data["n"].values >= thresholds["hardmax_n"]
    allowed = 1 - thresholds["hardmax_tolerance"], 1 + thresholds["hardmax_tolerance"]
    ratio, half = (float(array[-1] / data["proposition"].values[-1]) for array in (value, z * se))
    measured = {"n": int(n[-1]), "ratio": ratio, "low": ratio - half, "high": ratio + half}
    constant = decide(ratio - half, ratio + half, *allowed) if late[-1] else UNTESTED
    evidence = ["results/synthetic/hardmax.zarr.zip", "figure hardmax"]
    first = Record(
        "hardmax_constant",
        "Hardmax on normal tokens, d = 1: E|mean_n| = ln(4) sigma / (2 sqrt(2 ln n)) (1 + o(1)) (Proposition 5.1).",
        constant,
        f"measured over formula {ratio:.3f} at n = {n[-1]:.3g}; allowed {allowed[0]:g} to {allowed[1]:g}",
        measured,
        "Simulated E|mean_n| over the formula at the largest n, with its interval, within the tolerance.",
        pick(thresholds, "level", "hardmax_n", "hardmax_tolerance"),
        evidence,
        f"At n = {n[-1]:.3g} the ratio is {ratio:.3f} +- {half:.3f}; at small n it is not near 1, as 1 + o(1) allows.",
    )

    sizes, relative = n[late].astype(float), (se[late] / value[late]) ** 2
    logarithmic, power = (fit(x, value[late], relative) for x in (np.log(sizes), sizes))
    exponent, half = float(logarithmic["beta"]), z * float(logarithmic["se"])
    gain = float(power["chi2"] - logarithmic["chi2"]) / 2  # ln of the likelihood ratio
    edges = 0.5 - thresholds["power_tolerance"], 0.5 + thresholds["power_tolerance"]
    if np.isfinite(exponent):
        needed = np.log(thresholds["likelihood_ratio"])
        likelier = HOLDS if gain >= needed else FAILS if gain <= -needed else UNTESTED
        verdict = every([decide(exponent - half, exponent + half, *edges), likelier])
        measured = {"sizes": len(sizes), "power_of_log": exponent, "half_interval": half, "log_likelihood_ratio": gain}
        words = f"power of 1/ln n {exponent:.3f} +- {half:.3f}"
    else:
        verdict, measured, words = UNTESTED, {"sizes": len(sizes)}, "too few sizes"
    second = Record(
        "hardmax_logarithm",
        "In the hardmax regime the rate is logarithmic (abstract): E|mean_n| falls like (ln n)^-1/2, d = 1.",
        verdict,
        f"{words}; allowed {edges[0]:.2f} to {edges[1]:.2f}",
        measured,
        "Power of 1/ln n, with its interval, within the tolerance of 1/2, and likelier than a power of n.",
        pick(thresholds, "level", "hardmax_n", "power_tolerance", "likelihood_ratio"),
        evidence,
        f"From n = {thresholds['hardmax_n']:,} on: {words}; no power of n fits as well."
        if verdict == HOLDS
        else f"Found: {words}.",
    )
    return first, second


def normality(data: xr.Dataset, thresholds: dict) -> Record:
    """Is the plug-in interval right and the error normal, at the largest n and the tilts this n can serve?"""
    last = data.isel(n=-1)
    able = (last["carriers"] >= thresholds["carriers"]).values
    level, tilts = data.attrs["level"], last["tilt"].values
    half = z_score(thresholds["level"]) * last["coverage_se"].values[able].ravel()
    coverage = last["coverage"].values[able].ravel()
    edges = level - thresholds["coverage_tolerance"], level + thresholds["coverage_tolerance"]
    covered = [decide(c - h, c + h, *edges) for c, h in zip(coverage, half, strict=True)]
    noise = float(kolmogi(1 - thresholds["level"])) / np.sqrt(data.sizes["replicate"])
    gap = (
        np.abs(ndtr(last["quantile"].values) - ndtr(last["normal_quantile"].values)[:, None, None]).max(0)[able].ravel()
    )
    allowed = thresholds["distance_tolerance"]
    close = [decide(g - noise, g, most=allowed) if noise <= allowed else UNTESTED for g in gap]
    verdict = every([most(verdicts, thresholds["decided_share"]) for verdicts in (covered, close)])
    words = f"coverage {spread(coverage, 3)}, distance up to {gap.max():.3f}" if able.any() else "no tilt can be served"
    undecided = (covered + close).count(UNTESTED)
    beyond = ", ".join(f"{tilt:g}" for tilt in tilts[~able])
    return Record(
        "normality",
        "At one query the error of attention is asymptotically normal, with a variance that the tokens tell.",
        verdict,
        f"{words} ({undecided} of {2 * len(gap)} undecided); allowed {edges[0]:g} to {edges[1]:g}, to {allowed:g}",
        {"n": int(last["n"]), "tilts": tilts[able].tolist(), "tilts_left_out": tilts[~able].tolist()}
        | {"coverage": coverage.tolist(), "distance": gap.tolist(), "tests": 2 * len(gap), "undecided": undecided},
        "Coverage of the plug-in interval, and distance of the error's distribution from the normal, at the largest n.",
        pick(thresholds, "level", "carriers", "coverage_tolerance", "distance_tolerance", "decided_share"),
        ["results/synthetic/normality.zarr.zip", "figure normality"],
        f"At n = {int(last['n'])}: {words}; {undecided} of {2 * len(gap)} tests undecided."
        + (f" Tilts {beyond} are not tested: too few tokens carry their variance." if beyond else ""),
    )
