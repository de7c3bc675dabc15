"""The claim on keys drawn at random: does the error of sparse attention fall as theory has it?"""

import numpy as np
import xarray as xr
from scipy.special import stdtrit

from attnlimit.stats.claim import Finding, Fits, claim
from attnlimit.stats.verdicts import AFTER_A_LOOK, FAILS, HOLDS, UNDECIDED, decide, most, spread

RANDOM = {"statistic": "pointwise", "pattern": "random"}


@claim(
    id="patterns_random_rate",
    statement="Keys of a text drawn at random, n for each query: the error at a query falls like 1/√n, once the "
    "next-order term is negligible (our question, not the paper's).",
    test="Rate of the pointwise error once theory's next-order term is negligible; intervals by resampling blocks, "
    "widened for the number of heads.",
    fits=("patterns",),
    figure="patterns",
    thresholds=("level", "slope_tolerance", "decided_share", "fewest_fits", "fewest_groups"),
)
def patterns_random_rate(fits: Fits, thresholds: dict) -> Finding:
    """Is the rate of the pointwise error 1/2, from the n on at which theory asks for it?

    Every head for which it asks at three budgets or more is a test; its interval is from resampling blocks, and as wide
    as many tests ask for (the level divided by their number: heads share draws, and so it is on the safe side).  Holds:
    no head lies wholly outside of 1/2 +- slope_tolerance, the share that must hold does, and no rate, not even an
    undecided one, is further off.
    """
    rates = fits.stores["patterns"]
    if "late_beta" not in rates:
        return found(UNDECIDED, f"pattern {RANDOM['pattern']} was not measured", {}, thresholds)
    blocks, block, tolerance = rates.attrs["blocks"], rates.attrs["block"], thresholds["slope_tolerance"]
    tested = np.isfinite(rates["late_beta"].values)  # (layer, head)
    beta, low, high = (rates[f"late_beta{end}"].values[tested] for end in ("", "_low", "_high"))
    within = rates["beta"].sel(RANDOM).median("head").dropna("layer").values.tolist()
    asked = int((rates["theory_from"] <= block).sum())
    measured: dict = {"heads": tested.size, "tested": len(beta), "blocks": blocks, "beta": beta.tolist()}
    measured |= {"asked_within_the_block": asked, "beta_within_the_block": within}
    remark = f" Budgets beyond the block count too, as keys are drawn with replacement. Up to a block, {block:,} keys, "
    remark += f"theory asks for 1/2 in {asked} of {tested.size} heads only"
    remark += f", and the rate is {spread(within)} (medians over heads, by layer)" if within else ""
    remark += ": few keys carry most of the weight, and few draws hit them."
    if len(beta) < thresholds["fewest_fits"] or blocks < thresholds["fewest_groups"]:
        words = f"theory asks for it in {len(beta)} of {tested.size} heads at these n, with {blocks} blocks: too few"
        return found(UNDECIDED, words, measured, thresholds, remark)
    chance = (1 - thresholds["level"]) / 2
    wider = float(stdtrit(blocks - 1, 1 - chance / len(beta)) / stdtrit(blocks - 1, 1 - chance))
    low, high = beta - wider * (beta - low), beta + wider * (high - beta)
    verdicts = [decide(*ends, 0.5 - tolerance, 0.5 + tolerance) for ends in zip(low, high, strict=True)]
    off = [name for name, verdict in zip(named(rates, tested), verdicts, strict=True) if verdict == FAILS]
    last = rates.isel(n=-1)
    ratio = (last["value"].sel(RANDOM) / last["theory_value"]).values  # (layer, head): of all heads
    reach = float(np.median(high - low) / 2)
    measured |= {"holding": verdicts.count(HOLDS), "failing": off, "undecided": verdicts.count(UNDECIDED)}
    measured |= {"half_interval": reach, "over_theory": [float(ratio.min()), float(ratio.max())]}
    words = f"β {spread(beta, 3)} in {len(beta)} of {tested.size} heads, {verdicts.count(HOLDS)} surely within"
    size = f" At n = {int(last['n']):,} the error of all heads is {spread(ratio.ravel())} times what theory expects."
    others = f" In the other {tested.size - len(beta)} heads that term is small at fewer than three of the budgets."
    remark = (f" Off (layer.head): {', '.join(off)}." if off else "") + size + others + remark
    power = f"yes: a rate {tolerance + reach:.3f} off 1/2 in one head fails it (the median head's interval)"
    verdict = most(verdicts, thresholds["decided_share"])
    verdict = UNDECIDED if verdict == HOLDS and (np.abs(beta - 0.5) > tolerance).any() else verdict
    return found(verdict, words, measured, thresholds, remark, power)


def found(verdict: str, words: str, measured: dict, thresholds: dict, remark: str = "", power: str = "") -> Finding:
    return Finding(
        verdict,
        f"{words}; allowed 1/2 ± {thresholds['slope_tolerance']:g}",
        measured,
        f"{words}.{remark}{AFTER_A_LOOK}",
        power or "not here: too few heads, blocks or draws",
    )


def named(rates: xr.Dataset, chosen: np.ndarray) -> list[str]:
    """layer.head of those chosen (layer, head)."""
    return [f"{int(rates['layer'][layer])}.{int(rates['head'][head])}" for layer, head in np.argwhere(chosen)]
