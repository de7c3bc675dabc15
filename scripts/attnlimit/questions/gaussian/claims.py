"""Claims on the moments of the transformed tokens, where their limit is known exactly."""

import numpy as np
import pandas as pd

from attnlimit.stats.claim import Finding, Fits, claim
from attnlimit.stats.fits import without_replacement
from attnlimit.stats.horizon_tests import (
    ABOVE,
    ABOVE_TEST,
    FALL,
    FALL_TEST,
    TILT,
    by_statistic,
    experiment_above,
    experiment_falls,
    falls_with_horizon,
    stays_above,
    unresolved_tilt,
)
from attnlimit.stats.order import no_evidence
from attnlimit.stats.verdicts import (
    FAILS,
    HOLDS,
    NOT_HERE,
    STATISTIC_NAMES,
    UNDECIDED,
    Part,
    could_fail,
    every,
    every_part,
    measured_of,
    most,
    signed,
    spoken,
    spread,
)

EXACT = {  # fits to limits that are known exactly, and the figure that shows them against H with the bound
    "heads": "beta_vs_horizon",
    "gaussian": "gaussian_beta_vs_horizon",
    "gaussian_published": "gaussian_protocol",
    "gaussian_asymptotic": "gaussian_asymptotic",
    "sphere": "sphere_beta_vs_horizon",
}
SIMULATED = ("gaussian_asymptotic", "gaussian", "sphere")


@claim(
    id="moment_rate",
    statement="Moments of the transformed tokens converge like n⁻ᵝ with β below 1/2 (abstract).",
    test="Every 95 % interval of β at strong attention lies below 1/2 (Gaussian tokens, d = 1); it fails if one lies "
    "wholly above 1/2 less the tolerance.",
    fits=("gaussian_asymptotic",),
    figure="gaussian_asymptotic",
    thresholds=("strong_horizon", "asymptotic_n", "slope_tolerance"),
)
def moment_rate(fits: Fits, thresholds: dict) -> Finding:
    """Is the rate below 1/2 where attention is strong?"""
    asymptotic, edge = fits.errors("gaussian_asymptotic"), 0.5 - thresholds["slope_tolerance"]

    def find(table: pd.DataFrame) -> Part:
        strong = table[(table["horizon"] >= thresholds["strong_horizon"]) & ~no_evidence(table)]
        if strong.empty or strong["n_min"].min() < thresholds["asymptotic_n"]:
            nothing = {"fits": len(strong)}
            return Part(UNDECIDED, nothing, "no fit at such H and n", "only such fits could decide", NOT_HERE)
        verdicts = [
            HOLDS if high < 0.5 else FAILS if low > edge else UNDECIDED
            for low, high in zip(strong["beta_low"], strong["beta_high"], strict=True)
        ]
        weak = table[table["horizon"] < 1]
        measured = {"fits": len(strong), "beta": strong["beta"].tolist(), "beta_weak": weak["beta"].tolist()}
        reach = float((strong["beta_high"] - strong["beta_low"]).max() / 2)
        measured |= {"largest_half_interval": reach}
        return Part(every(verdicts), measured, spread(strong["beta"]), f"a rate above {edge + reach:.2f}")

    parts = by_statistic(asymptotic, find)
    weak = asymptotic.loc[asymptotic["horizon"] < 1, "beta"]
    near = f" Below H = 1 it is {spread(weak)}: there the bound is not what is seen." if len(weak) else ""
    return Finding(
        every_part(parts),
        f"β at H ≥ {thresholds['strong_horizon']:g}: {spoken(parts)}; required: interval below 0.5",
        measured_of(parts),
        f"At the largest n that can be simulated, β is {spoken(parts)}.{near}",
        could_fail(parts),
    )


@claim(
    id="horizon_dependence",
    statement="The exponent β depends on the attention's geometry and the tokens' covariance: it falls as H grows.",
    test=f"{FALL_TEST} One test for each simulation and statistic: none may fail, the share that must hold is given.",
    fits=SIMULATED,
    figure=tuple(EXACT[name] for name in SIMULATED),
    thresholds=(*FALL, "decided_share"),
)
def horizon_dependence(fits: Fits, thresholds: dict) -> Finding:
    """Does beta fall with the horizon in simulations with exact limits?  One test a group and statistic.

    Groups: Gaussian tokens of each dimension, from draws and from counts, and tokens on a sphere.  Settings with a
    constant tilt are another experiment: see `untilted`.
    """
    drawn = untilted(fits.errors("gaussian"))
    groups = {"Gaussian, d = 1, counted": fits.errors("gaussian_asymptotic")}
    groups |= {f"Gaussian, d = {dimension}": table for dimension, table in drawn.groupby("dimension")}
    groups["sphere"] = fits.errors("sphere")
    parts = {
        name: by_statistic(table, lambda part: falls_with_horizon(part, thresholds)) for name, table in groups.items()
    }
    verdicts = []
    for statistic in STATISTIC_NAMES:
        able = [pair[statistic] for pair in parts.values() if "correlation" in pair[statistic].measured]
        verdicts.append(most([part.verdict for part in able], thresholds["decided_share"]))
    flat = [part for pair in parts.values() for part in pair.values()]
    known = [part.measured["correlation"] for part in flat if "correlation" in part.measured]
    counts = f"{sum(part.verdict == HOLDS for part in flat)} of {len(flat)} tests show a fall"
    correlations = (
        f"correlations {signed(min(known))} to {signed(max(known))}" if known else "no correlation could be taken"
    )
    edges = [part.measured["fails_above"] for part in flat if "fails_above" in part.measured]
    same = same_horizon(drawn)
    return Finding(
        every(verdicts),
        f"{counts}, {correlations}; required: all below 0",
        {name: measured_of(pair) for name, pair in parts.items()} | {"same_horizon": same},
        f"{counts} of β with H; {correlations}. At the same H, isotropic and anisotropic tokens differ in "
        f"{same['differ']} of {same['pairs']} pairs ({same['by_chance']:.1f} by chance if H alone told β).",
        f"yes: in the median test a correlation above {signed(float(np.median(edges)))} fails it"
        if edges
        else NOT_HERE,
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


BOUND_TEST = f"{ABOVE_TEST} A fit can show it if a flat error would come out below. Fits with {TILT} are counted apart."


@claim(
    id="bound_theorem",
    statement="The rate is at least 1/(2(1+32Ψ)) (theorem, v1).",
    test=BOUND_TEST,
    fits=tuple(EXACT),
    figure=tuple(EXACT.values()),
    thresholds=ABOVE,
    any_of=True,
)
def bound_theorem(fits: Fits, thresholds: dict) -> Finding:
    return bound("bound_v1_theorem", fits, thresholds)


@claim(
    id="bound_curve",
    statement="The rate is at least 1/(2(1+H²)) (the curve of v3).",
    test=BOUND_TEST,
    fits=tuple(EXACT),
    figure=tuple(EXACT.values()),
    thresholds=ABOVE,
    any_of=True,
)
def bound_curve(fits: Fits, thresholds: dict) -> Finding:
    return bound("bound_v3", fits, thresholds)


def bound(column: str, fits: Fits, thresholds: dict) -> Finding:
    """Does any measured rate lie below a bound of the paper?  All fits to an exact limit.

    Fits with a constant tilt that their sizes do not resolve are counted apart: the bound is on n to infinity, and
    theory says that such a slope is still too small.  They are named, and how many of them lie below.
    """
    tables = {name: fits.errors(name) for name in EXACT if name in fits.stores}
    if "heads" in tables and without_replacement(fits.stores["heads"].attrs):
        del tables["heads"]  # attention over the population is then not the limit of the draws
    if "gaussian_published" in tables:
        tables["gaussian_published"] = of_reference(fits, exact=True)
    table = pd.concat(tables.values(), ignore_index=True)
    tilted = unresolved_tilt(table)
    part = stays_above(table[~tilted], table[column][~tilted], thresholds)
    apart = {"fits": int(tilted.sum()), "below": int((tilted & (table["beta_high"] < table[column])).sum())}
    each = {name: stays_above(one, one[column], thresholds).measured for name, one in tables.items()}
    said = f"counted apart: {apart['below']} of {apart['fits']} fits below that have {TILT}"
    return Finding(
        part.verdict,
        f"{part.words}; allowed {thresholds['allowed_below']}; {said}",
        part.measured | {"apart": apart, "by_source": each},
        f"Against exact limits {part.words}; {said}: before their limit they may lie below. Slopes over finite n "
        "prove nothing of n to infinity.",
        f"{part.able}: {part.power}",
        used=tuple(tables),
    )


def of_reference(fits: Fits, exact: bool) -> pd.DataFrame:
    """Of the published experiment: errors to the exact limit, or to a finite reference."""
    table = fits.errors("gaussian_published")
    return table[table["exact"].astype(bool) == exact]


GAUSSIAN = "Gaussian experiment, errors to the exact limit"
PUBLISHED = "The published protocol on Gaussian tokens, errors to a finite reference"


@claim(
    id="gaussian_exact_falls",
    statement=f"{GAUSSIAN}: β falls as H grows.",
    test=FALL_TEST,
    fits=("gaussian_published",),
    figure="gaussian_protocol",
    thresholds=FALL,
)
def gaussian_exact_falls(fits: Fits, thresholds: dict) -> Finding:
    table = of_reference(fits, exact=True)
    return experiment_falls(table, thresholds, saturated_fits(table))


@claim(
    id="gaussian_exact_above",
    statement=f"{GAUSSIAN}: β is at or above 1/(2(1+H²)).",
    test=ABOVE_TEST,
    fits=("gaussian_published",),
    figure="gaussian_protocol",
    thresholds=ABOVE,
)
def gaussian_exact_above(fits: Fits, thresholds: dict) -> Finding:
    table = of_reference(fits, exact=True)
    return experiment_above(table, thresholds, saturated_fits(table))


@claim(
    id="gaussian_published_falls",
    statement=f"{PUBLISHED}: β falls as H grows.",
    test=FALL_TEST,
    fits=("gaussian_published",),
    figure="gaussian_protocol",
    thresholds=FALL,
)
def gaussian_published_falls(fits: Fits, thresholds: dict) -> Finding:
    return experiment_falls(of_reference(fits, exact=False), thresholds, of_protocol(fits)[0])


@claim(
    id="gaussian_published_above",
    statement=f"{PUBLISHED}: β is at or above 1/(2(1+H²)), or the slope that a finite reference imposes.",
    test=ABOVE_TEST,
    fits=("gaussian_published",),
    figure="gaussian_protocol",
    thresholds=ABOVE,
)
def gaussian_published_above(fits: Fits, thresholds: dict) -> Finding:
    return experiment_above(of_reference(fits, exact=False), thresholds, *of_protocol(fits))


def saturated_fits(table: pd.DataFrame) -> str:
    return f"{int(table['saturated'].sum())} of {len(table)} fits are saturated."


def of_protocol(fits: Fits) -> tuple[str, float]:
    """What to say of errors to a finite reference, and the slope that it imposes on a rate of 1/2."""
    store = fits.stores["gaussian_published"]
    tokens = store.attrs["reference_tokens"]
    slope = finite_reference_slope(store["n"].values, tokens)
    remark = (
        f"This is about the protocol and not the paper's curve: a reference of {tokens:,} tokens is itself off the "
        f"limit, and alone turns a rate of 1/2 into {slope:.3f} over these n, whatever the attention."
    )
    return remark, slope


def finite_reference_slope(sizes: np.ndarray, reference_tokens: int) -> float:
    """What a reference of N tokens alone leaves of the rate 1/2: minus the slope of ln sqrt(1/n + 1/N) on ln n.

    Sample and reference are both off the limit, independently: their squared errors add.
    """
    return float(-np.polyfit(np.log(sizes), np.log(1 / sizes + 1 / reference_tokens) / 2, 1)[0])
