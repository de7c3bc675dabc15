"""Claims on the moments of the transformed tokens, where their limit is known exactly."""

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from attnlimit.stats.claim import Finding, Fits, claim
from attnlimit.stats.horizon_tests import (
    ABOVE,
    ABOVE_TEST,
    FALL,
    FALL_TEST,
    TILT,
    asked,
    by_statistic,
    falls_with_horizon,
    few_below,
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
    chance,
    could_fail,
    decide,
    every,
    every_p,
    every_part,
    joint_chance,
    many,
    measured_of,
    p_above,
    p_below,
    signed,
    spoken,
    spread,
    within,
)

SIMULATED = {  # fits to limits that are known exactly, and the figure that shows them against H
    "gaussian_asymptotic": "gaussian_asymptotic",
    "gaussian": "gaussian_beta_vs_horizon",
    "gaussian_published": "gaussian_protocol",
    "sphere": "sphere_beta_vs_horizon",
}


@claim(
    id="moment_rate",
    headline="Moments may converge like n⁻ᵝ with β below 1/2",
    experiment="Gaussian tokens, d = 1, strong attention",
    statement="Where attention is strong, moments of the transformed tokens converge more slowly than 1/√n: like n⁻ᵝ "
    "with β below 1/2 (the abstract's statement is an upper bound on the error).",
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
        each = zip(strong[["beta", "beta_low", "beta_high"]].itertuples(index=False), verdicts, strict=True)
        tails = {"freedom": int(strong["replicates"].min()) - 1}
        firm = [p_above(beta, edge, **tails) if v == FAILS else p_below(beta, 0.5, **tails) for beta, v in each]
        power = f"a rate above {edge + reach:.2f}"
        return Part(every(verdicts), measured, spread(strong["beta"]), power, p=joint_chance(verdicts, firm))

    parts = by_statistic(asymptotic, find)
    weak = asymptotic.loc[asymptotic["horizon"] < 1, "beta"]
    near = f" Below H = 1 it is {spread(weak)}: there the bound is not what is seen." if len(weak) else ""
    return Finding(
        every_part(parts),
        f"β at H ≥ {thresholds['strong_horizon']:g}: {spoken(parts)}; required: interval below 0.5",
        measured_of(parts),
        f"At the largest n that can be simulated, β is {spoken(parts)}.{near}",
        could_fail(parts),
        p=every_p(parts),
        number=f"β at H ≥ {thresholds['strong_horizon']:g}: {spoken(parts)}",
    )


@claim(
    id="horizon_dependence",
    headline="β falls as H grows (our reading of a figure)",
    experiment="simulated tokens",
    statement="Simulated tokens: the exponent β falls as H grows.",
    test=f"{FALL_TEST} A test for each simulation and statistic: none may fail, the share that must hold is given.",
    fits=tuple(SIMULATED),
    figure=tuple(SIMULATED.values()),
    thresholds=(*FALL, "decided_share", "level"),
)
def horizon_dependence(fits: Fits, thresholds: dict) -> Finding:
    """Does beta fall with the horizon?  One test a simulation and statistic.

    Simulations: Gaussian tokens from counts; of each dimension from draws; the published experiment, its errors to the
    exact limit and to a finite reference; a sphere.  Settings with a constant tilt are another experiment.
    """
    drawn, published = untilted(fits.errors("gaussian")), fits.errors("gaussian_published")
    groups = {"Gaussian, d = 1, counted": fits.errors("gaussian_asymptotic")}
    groups |= {f"Gaussian, d = {dimension}": table for dimension, table in drawn.groupby("dimension")}
    groups |= {
        f"published experiment, {'exact limit' if exact else 'finite reference'}": table
        for exact, table in published.groupby(published["exact"].astype(bool))
    }
    groups["sphere"] = fits.errors("sphere")
    parts = {
        name: by_statistic(table, lambda part: falls_with_horizon(part, thresholds)) for name, table in groups.items()
    }
    tests = {f"{name}, {STATISTIC_NAMES[of]}": part for name, pair in parts.items() for of, part in pair.items()}
    named = [name for name, part in tests.items() if "coefficient" in part.measured]
    able = [tests[name] for name in named]
    verdict, p, power = UNDECIDED, 1.0, NOT_HERE
    if able:
        power = f"yes: in the test of {named[len(able) // 2]}, {able[len(able) // 2].power}"
        false = [part.p if part.verdict == FAILS else 1.0 for part in able]
        true = [1.0 if part.verdict == FAILS else part.p for part in able]
        verdict, p = many(true, false, thresholds["decided_share"], thresholds["level"])
    found = [part.measured["coefficient"] for part in able]
    counts = f"{sum(part.verdict == HOLDS for part in able)} of {len(able)} tests show a fall"
    few = 2 * len(parts) - len(able)
    counts += f" ({few} more had too few unsaturated fits)" if few else ""
    numbers = f"coefficients {signed(min(found))} to {signed(max(found))}" if found else "no coefficient could be taken"
    rows = "; ".join(f"{name}: {spoken(pair)}" for name, pair in parts.items())
    same = same_horizon(drawn)
    return Finding(
        verdict,
        f"{counts}, {numbers}; {asked(thresholds)}",
        {name: measured_of(pair) for name, pair in parts.items()} | {"same_horizon": same},
        f"Coefficients on the curve. {rows}. Each dimension has one random coupling A. At the same H, isotropic and "
        f"anisotropic tokens differ in {same['differ']} of {same['pairs']} pairs "
        f"({same['by_chance']:.1f} by chance if H alone determined β).",
        power,
        p=p,
        number=counts,
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


@claim(
    id="bound_curve",
    headline="β is at least 1/(2(1+H²))",
    experiment="simulated tokens with exact limits",
    statement="Simulated tokens, errors to exact limits: β is at least 1/(2(1+H²)) (the curve of v3).",
    test=f"{ABOVE_TEST} Fits with {TILT} are counted apart.",
    fits=tuple(SIMULATED),
    figure=tuple(SIMULATED.values()),
    thresholds=ABOVE,
)
def bound_curve(fits: Fits, thresholds: dict) -> Finding:
    """Does any measured rate lie below the curve?  All simulations with an exact limit.

    Fits with a constant tilt that their sizes do not resolve are counted apart: the bound is on n to infinity, and
    theory says that such a slope is still too small.  The bound of the theorem of v1, 32 Psi in place of H^2, is so
    low that hardly anything could lie below: how many do is reported, not judged.
    """
    tables = {name: fits.errors(name) for name in SIMULATED}
    tables["gaussian_published"] = of_reference(fits, exact=True)
    table = pd.concat(tables.values(), ignore_index=True)
    tilted = unresolved_tilt(table)
    part = stays_above(table[~tilted], table["bound_v3"][~tilted], thresholds)
    apart = {"fits": int(tilted.sum()), "below": int((tilted & (table["beta_high"] < table["bound_v3"])).sum())}
    theorem = int((~no_evidence(table) & (table["beta_high"] < table["bound_v1_theorem"])).sum())
    each = {name: stays_above(one, one["bound_v3"], thresholds).measured for name, one in tables.items()}
    left, left_below = apart["fits"] + part.measured["saturated"], apart["below"] + part.measured["saturated_below"]
    unresolved = f"constant tilt unresolved and left out: {apart['fits']}, {apart['below']} of them below"
    return Finding(
        part.verdict,
        f"{part.words}; {unresolved}",
        part.measured | {"apart": apart, "below_the_theorem": theorem, "by_source": each},
        f"{part.words}; {unresolved}: these have {TILT}, and may lie below before their limit. Below 1/(2(1+32Ψ)), the "
        f"bound of the theorem in v1, lie {theorem}. Slopes over finite n prove nothing of n to infinity.",
        f"{part.able}: {part.power}",
        p=part.p,
        number=f"{few_below(part)}; {left} saturated or unresolved set aside, {left_below} of them below",
    )


def of_reference(fits: Fits, exact: bool) -> pd.DataFrame:
    """Of the published experiment: errors to the exact limit, or to a finite reference."""
    table = fits.errors("gaussian_published")
    return table[table["exact"].astype(bool) == exact]


@claim(
    id="gaussian_reference",
    headline="A finite sample in place of the limit changes β as expected",
    experiment="the published protocol",
    ours=True,
    statement="The published protocol on Gaussian tokens, errors to a finite reference: it lowers β of the mean by as "
    "much as the reference's own error does, added in quadrature.",
    test="Coefficient of the measured change of β on that which quadrature gives, through the origin, over unsaturated "
    "settings: 0 if the reference has no effect, 1 if errors add in quadrature. Its interval within the tolerance "
    "of 1.",
    fits=("gaussian_published",),
    figure="gaussian_protocol",
    thresholds=("fewest_fits", "reference_tolerance"),
)
def gaussian_reference(fits: Fits, thresholds: dict) -> Finding:
    """Is what a finite reference does to the rates of the mean its own error and no more?

    Sample and reference are both off the limit, independently.  The covariance has a bias that they share: not asked.
    """
    store, tolerance = fits.stores["gaussian_published"], thresholds["reference_tolerance"]
    exact, finite = (of_reference(fits, exact).query("statistic == 'mean'") for exact in (True, False))
    pairs = exact.merge(finite, on="scale", suffixes=("", "_finite"))
    pairs = pairs[~(no_evidence(pairs) | pairs["saturated_finite"].astype(bool))]
    tokens = store.attrs["reference_tokens"]
    measured: dict = {"settings": len(pairs), "reference_tokens": tokens}
    verdict, words, power, p = UNDECIDED, f"only {len(pairs)} settings with both", NOT_HERE, 1.0
    number = words
    if len(pairs) >= thresholds["fewest_fits"]:
        expected = np.array([reference_change(beta, store["n"].values, tokens) for beta in pairs["beta"]])
        change = (pairs["beta"] - pairs["beta_finite"]).to_numpy()
        found = through_origin(expected, change)
        edges = 1 - tolerance, 1 + tolerance
        verdict, p = decide(*found[1:], *edges), chance(*found, *edges, freedom=len(pairs) - 1)
        measured |= dict(zip(("coefficient", "low", "high"), found, strict=True))
        measured |= {"change": change.tolist(), "expected": expected.tolist()}
        number = f"{within(*found)} of the change that quadrature gives"
        words = f"{number}, {spread(expected, 3)}"
        power = f"yes: no change at all, or one {1 + tolerance + found[2] - found[0]:.2f} times as large, fails it"
    return Finding(
        verdict,
        f"{words}; allowed 1 ± {tolerance:g}",
        measured,
        f"A reference of {tokens:,} tokens is itself off the limit: {words}. At a rate of 1/2 it leaves "
        f"{0.5 - reference_change(0.5, store['n'].values, tokens):.3f} over these n, whatever the attention.",
        power,
        p=p,
        number=number,
    )


def reference_change(beta: float, sizes: np.ndarray, tokens: int) -> float:
    """By how much errors n^-beta lose of their rate against a reference of N tokens, whose own error adds in squares.

    The slope of ln sqrt(1 + (n/N)^(2 beta)) on ln n.
    """
    return float(np.polyfit(np.log(sizes), np.log1p((sizes / tokens) ** (2 * beta)) / 2, 1)[0])


def through_origin(x: np.ndarray, y: np.ndarray) -> tuple[float, float, float]:
    """Slope of y on x through the origin, with the 95 % interval of Student's law."""
    slope = x @ y / (x @ x)
    reach = stdtrit(len(x) - 1, 0.975) * np.sqrt(((y - slope * x) ** 2).sum() / (len(x) - 1) / (x @ x))
    return float(slope), float(slope - reach), float(slope + reach)
