"""Claims on the moments of the transformed tokens, tested on fitted rates (tables as in `table.rates_table`)."""

import numpy as np
import pandas as pd
import xarray as xr

from attnlimit.stats.fits import WITHOUT_REPLACEMENT, without_replacement
from attnlimit.stats.order import no_evidence
from attnlimit.stats.statements import STATEMENTS
from attnlimit.stats.table import rates_table
from attnlimit.stats.verdicts import (
    FAILS,
    HOLDS,
    UNTESTED,
    Finding,
    Record,
    asked_to_fall,
    by_statistic,
    every,
    falls_with_horizon,
    most,
    pick,
    powers,
    signed,
    spoken,
    spread,
    stays_above,
    unresolved_tilt,
)
from attnlimit.theory.bounds import predictions

FALL = ("level", "fewest_fits", "weakest_horizon", "weakest_correlation", "resolution")
ABOVE = ("level", "fewest_fits", "allowed_below")
FALL_TEST = "Rank correlation of β with H over unsaturated fits, with its interval."
ABOVE_TEST = "Unsaturated fits whose 95 % interval lies wholly below the curve, of those that could show it."
TILT = "a constant tilt s₀ that these n do not resolve (n below exp(2s₀²))"
PAPER_MODEL = "bert-base-uncased"
FIGURES = {  # that show the rates of a source against H, with the bound
    "heads": "beta_vs_horizon",
    "gaussian": "gaussian_beta_vs_horizon",
    "gaussian_published": "gaussian_protocol",
    "gaussian_asymptotic": "gaussian_asymptotic",
    "sphere": "sphere_beta_vs_horizon",
}


def error_fits(rates: xr.Dataset) -> pd.DataFrame:
    """Fits of the error itself, for mean and covariance, heads but no whole layers."""
    table = rates_table(rates)
    chosen = (table["part"] == "error") & table["statistic"].isin(["mean", "cov"]) & (table["head"] != "all")
    return table[chosen].reset_index(drop=True)


def moment_rate(asymptotic: pd.DataFrame, thresholds: dict) -> Record:
    """Is the rate below 1/2 where attention is strong?"""

    def find(fits: pd.DataFrame) -> Finding:
        strong = fits[(fits["horizon"] >= thresholds["strong_horizon"]) & ~no_evidence(fits)]
        if strong.empty or strong["n_min"].min() < thresholds["asymptotic_n"]:
            return Finding(UNTESTED, {"fits": len(strong)}, "no fit at such H and n", "only such fits could decide")
        edge = 0.5 - thresholds["slope_tolerance"]
        verdicts = [
            HOLDS if high < 0.5 else FAILS if low > edge else UNTESTED
            for low, high in zip(strong["beta_low"], strong["beta_high"], strict=True)
        ]
        weak = fits[fits["horizon"] < 1]
        measured = {"fits": len(strong), "beta": strong["beta"].tolist(), "beta_weak": weak["beta"].tolist()}
        reach = float((strong["beta_high"] - strong["beta_low"]).max() / 2)
        measured |= {"largest_half_interval": reach}
        return Finding(every(verdicts), measured, spread(strong["beta"]), f"a rate above {edge + reach:.2f}")

    findings = by_statistic(asymptotic, find)
    weak = asymptotic.loc[asymptotic["horizon"] < 1, "beta"]
    near = f" Below H = 1 it is {spread(weak)}: there the bound is not what is seen." if len(weak) else ""
    return Record(
        "moment_rate",
        STATEMENTS["moment_rate"],
        every([finding.verdict for finding in findings.values()]),
        f"β at H ≥ {thresholds['strong_horizon']:g}: {spoken(findings)}; required: interval below 0.5",
        {name: finding.measured for name, finding in findings.items()},
        "Every 95 % interval of β at strong attention lies below 1/2 (Gaussian tokens, d = 1); "
        "it fails if one lies wholly above 1/2 less the tolerance.",
        pick(thresholds, "strong_horizon", "asymptotic_n", "slope_tolerance"),
        ["results/rates/gaussian_asymptotic.zarr.zip", "figure gaussian_asymptotic"],
        f"At the largest n that can be simulated, β is {spoken(findings)}.{near}",
        could(findings),
    )


def horizon_dependence(groups: dict[str, pd.DataFrame], same: dict, thresholds: dict) -> Record:
    """Does beta fall with the horizon in simulations with exact limits?  One test a group and statistic.

    Settings with a constant tilt are another experiment: see `untilted`.
    """
    findings = {
        name: by_statistic(fits, lambda part: falls_with_horizon(part, thresholds)) for name, fits in groups.items()
    }
    parts = {}
    for statistic in ("mean", "cov"):
        able = [pair[statistic] for pair in findings.values() if "correlation" in pair[statistic].measured]
        parts[statistic] = most([finding.verdict for finding in able], thresholds["decided_share"])
    flat = [finding for pair in findings.values() for finding in pair.values()]
    known = [finding.measured["correlation"] for finding in flat if "correlation" in finding.measured]
    counts = f"{sum(finding.verdict == HOLDS for finding in flat)} of {len(flat)} tests show a fall"
    correlations = (
        f"correlations {signed(min(known))} to {signed(max(known))}" if known else "no correlation could be taken"
    )
    edges = [finding.measured["fails_above"] for finding in flat if "fails_above" in finding.measured]
    return Record(
        "horizon_dependence",
        STATEMENTS["horizon_dependence"],
        every(list(parts.values())),
        f"{counts}, {correlations}; required: all below 0",
        {name: {part: finding.measured for part, finding in pair.items()} for name, pair in findings.items()}
        | {"same_horizon": same},
        f"{FALL_TEST} One test for each simulation and statistic: none may fail, the share that must hold is given.",
        pick(thresholds, *FALL, "decided_share"),
        [
            *(f"results/rates/{name}.zarr.zip" for name in ("gaussian_asymptotic", "gaussian", "sphere")),
            *(
                f"figure {name}"
                for name in ("gaussian_asymptotic", "gaussian_beta_vs_horizon", "sphere_beta_vs_horizon")
            ),
        ],
        f"{counts} of β with H; {correlations}. At the same H, isotropic and anisotropic tokens differ in "
        f"{same['differ']} of {same['pairs']} pairs ({same['by_chance']:.1f} by chance if H alone told β).",
        f"yes: in the median test a correlation above {signed(float(np.median(edges)))} fails it"
        if edges
        else "not here",
    )


def same_horizon(gaussian: pd.DataFrame) -> dict:
    """Isotropic against anisotropic tokens of one dimension and horizon: does H alone tell beta?

    A pair differs if its difference exceeds the root of the sum of squares of both half-intervals.
    """
    used = gaussian[~no_evidence(gaussian)].assign(
        half=(gaussian["beta_high"] - gaussian["beta_low"]) / 2, horizon=gaussian["horizon"].round(6)
    )
    keys = ["statistic", "dimension", "horizon"]
    isotropic = used["isotropic"].astype(bool)
    pairs = used[isotropic].merge(used[~isotropic], on=keys, suffixes=("", "_other"))
    difference = pairs["beta"] - pairs["beta_other"]
    differ = difference.abs() > (pairs["half"] ** 2 + pairs["half_other"] ** 2) ** 0.5
    return {"pairs": len(pairs), "differ": int(differ.sum()), "by_chance": 0.05 * len(pairs)} | (
        {"largest_difference": float(difference.abs().max())} if len(pairs) else {}
    )


def untilted(fits: pd.DataFrame) -> pd.DataFrame:
    """Fits of settings without a constant tilt: what varies among them is the horizon."""
    return fits[~(fits["constant_tilt"].astype(float) > 0)]


def bound(name: str, column: str, claim: str, sources: dict[str, pd.DataFrame], thresholds: dict) -> Record:
    """Does any measured rate lie below a bound of the paper?  All sources with an exact limit.

    Fits with a constant tilt that their sizes do not resolve are counted apart: the bound is on n to infinity, and
    theory says that such a slope is still too small.  They are named, and how many of them lie below.
    """
    fits = pd.concat(sources.values(), ignore_index=True)
    tilted = unresolved_tilt(fits)
    finding = stays_above(fits[~tilted], fits[column][~tilted], thresholds)
    apart = {"fits": int(tilted.sum()), "below": int((tilted & (fits["beta_high"] < fits[column])).sum())}
    each = {source: stays_above(table, table[column], thresholds).measured for source, table in sources.items()}
    said = f"counted apart: {apart['below']} of {apart['fits']} fits below that have {TILT}"
    return Record(
        name,
        claim,
        finding.verdict,
        f"{finding.words}; allowed {thresholds['allowed_below']}; {said}",
        finding.measured | {"apart": apart, "by_source": each},
        f"{ABOVE_TEST} A fit can show it if a flat error would come out below. Fits with {TILT} are counted apart.",
        pick(thresholds, *ABOVE),
        [
            *(f"results/rates/{source}.zarr.zip" for source in sources),
            *("results/rates.csv", *(f"figure {FIGURES[source]}" for source in sources)),
        ],
        f"Against exact limits {finding.words}; {said}: before their limit they may lie below. Slopes over finite n "
        "prove nothing of n to infinity.",
        finding.power if finding.power.startswith(("yes", "hardly")) else f"not here: {finding.power}",
    )


def could(findings: dict[str, Finding]) -> str:
    """In words: what would have failed a claim of two statistics."""
    words = powers(findings)
    return (
        f"not here: {words}" if all(f.power.startswith(("only", "too")) for f in findings.values()) else f"yes: {words}"
    )


def experiment_falls(
    name: str, claim: str, fits: pd.DataFrame, evidence: list, remark: str, thresholds: dict, ordered=None
) -> Record:
    """Does an experiment of the paper, done again, show beta falling with H?"""
    findings = by_statistic(fits, lambda part: falls_with_horizon(part, thresholds, ordered))
    return Record(
        name,
        claim,
        every([finding.verdict for finding in findings.values()]),
        f"rank correlation {spoken(findings)}; {asked_to_fall(thresholds)}",
        {part: finding.measured for part, finding in findings.items()},
        FALL_TEST,
        pick(thresholds, *FALL, *(("fewest_groups",) if ordered else ())),
        evidence,
        f"Correlation of β with H: {spoken(findings)}. {remark}",
        could(findings),
    )


def experiment_above(
    name: str,
    claim: str,
    fits: pd.DataFrame,
    evidence: list,
    remark: str,
    thresholds: dict,
    reference_slope: float = np.inf,
) -> Record:
    """Does an experiment of the paper, done again, keep beta at or above the curve that is drawn with it?

    reference_slope: what a finite reference alone leaves of 1/2; no rate can be required to lie above it.
    """
    finding = stays_above(fits, fits["bound_v3"].clip(upper=reference_slope), thresholds)
    published = predictions(fits["horizon_published"], fits["psi"])["bound_v3"].clip(upper=reference_slope)
    below_half = {part: int((rows["beta_high"] < 0.5).sum()) for part, rows in fits.groupby("statistic", sort=False)}
    measured = finding.measured | {
        "below_half": below_half,
        "below_on_published_axis": stays_above(fits, published, thresholds).measured["below"],
    }
    against = "1/(2(1+H²))"
    if np.isfinite(reference_slope):
        curve = stays_above(fits, fits["bound_v3"], thresholds).measured
        measured |= {"reference_slope": reference_slope, "below_the_curve_alone": curve["below"]}
        against += f" or {reference_slope:.3f}, whichever is less,"
    tilts = measured["below_with_large_tilt"]
    tilted = f" {tilts} of those below have {TILT}." if measured["below"] else ""
    return Record(
        name,
        claim,
        finding.verdict,
        f"{finding.words}; allowed {thresholds['allowed_below']}",
        measured,
        ABOVE_TEST,
        pick(thresholds, *ABOVE),
        evidence,
        f"Against {against} {finding.words}.{tilted} {remark}",
        finding.power if finding.power.startswith(("yes", "hardly")) else f"not here: {finding.power}",
    )


def finite_reference_slope(sizes: np.ndarray, reference_tokens: int) -> float:
    """What a reference of N tokens alone leaves of the rate 1/2: minus the slope of ln sqrt(1/n + 1/N) on ln n.

    Sample and reference are both off the limit, independently: their squared errors add.
    """
    return float(-np.polyfit(np.log(sizes), np.log(1 / sizes + 1 / reference_tokens) / 2, 1)[0])


def model_remark(rates: xr.Dataset) -> str:
    """Which model this is, what a finite population means, and what draws without replacement do."""
    name, population = rates.attrs["model"]["name"], rates.attrs["population"]
    other = "" if PAPER_MODEL in name else f", which is not the paper's {PAPER_MODEL}"
    if without_replacement(rates.attrs):
        finite = WITHOUT_REPLACEMENT
    else:
        finite = "with finitely many tokens the rate for n to infinity is 1/2 in every head"
    return f"The model is {name}{other}, on {population:,} tokens, n up to {int(rates['n'][-1]):,}; {finite}."
