"""The claim on keys drawn at random: does the error of sparse attention fall as theory has it?"""

import numpy as np
import xarray as xr

from attnlimit.stats.claim import Finding, Fits, claim
from attnlimit.stats.verdicts import AFTER_A_LOOK, UNDECIDED, chance, many, p_above, p_below, spread, z_score

RANDOM = {"statistic": "pointwise", "pattern": "random"}


@claim(
    id="patterns_random_rate",
    headline="Random keys of a context: error like 1/√n at a query",
    experiment="heads of {model}",
    ours=True,
    statement="Keys of a text drawn at random, n for each query: the error at a query falls like 1/√n, once the "
    "next-order term is negligible.",
    test="Rate of the pointwise error once theory's next-order term is negligible; intervals by resampling blocks. "
    "No head surely outside of the tolerance (Holm), the share that must surely within.",
    fits=("patterns",),
    figure="patterns",
    thresholds=("level", "slope_tolerance", "decided_share", "fewest_fits", "fewest_groups"),
)
def patterns_random_rate(fits: Fits, thresholds: dict) -> Finding:
    """Is the rate of the pointwise error 1/2, from the n on at which theory asks for it?

    Every head for which it asks at three budgets or more is a test; its interval is from resampling blocks.  Fails: a
    head surely outside of 1/2 +- slope_tolerance, corrected for their number.  Holds: the share that must is surely
    within (see `verdicts.many`: heads share draws, which it allows for).
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
    edges = 0.5 - tolerance, 0.5 + tolerance
    each = list(zip(beta.tolist(), low.tolist(), high.tolist(), strict=True))
    inside = [chance(*one, *edges) if edges[0] < one[0] < edges[1] else 1.0 for one in each]
    outside = [min(p_below(one, edges[0]), p_above(one, edges[1])) for one in each]
    verdict, p = many(inside, outside, thresholds["decided_share"], thresholds["level"])
    doubt = 1 - thresholds["level"]
    off = [name for name, one in zip(named(rates, tested), outside, strict=True) if one * len(beta) <= doubt]
    sure = sum(one <= doubt for one in inside)
    last = rates.isel(n=-1)
    ratio = (last["value"].sel(RANDOM) / last["theory_value"]).values  # (layer, head): of all heads
    reach = float(np.median(high - low) / 2)
    measured |= {"holding": sure, "failing": off, "undecided": len(beta) - sure - len(off)}
    measured |= {"half_interval": reach, "over_theory": [float(ratio.min()), float(ratio.max())]}
    words = f"β {spread(beta, 3)} in {len(beta)} of {tested.size} heads, {sure} surely within"
    size = f" At n = {int(last['n']):,} the error of all heads is {spread(ratio.ravel())} times what theory expects."
    others = f" In the other {tested.size - len(beta)} heads that term is small at fewer than three of the budgets."
    remark = (f" Off (layer.head): {', '.join(off)}." if off else "") + size + others + remark
    far = tolerance + reach * z_score(1 - doubt / len(beta)) / z_score(thresholds["level"])
    power = f"yes: a rate {far:.3f} off 1/2 in one head fails it (the median head's interval)"
    return found(verdict, words, measured, thresholds, remark, power, p)


def found(
    verdict: str, words: str, measured: dict, thresholds: dict, remark: str = "", power: str = "", p: float = 1.0
) -> Finding:
    return Finding(
        verdict,
        f"{words}; allowed 1/2 ± {thresholds['slope_tolerance']:g}",
        measured,
        f"{words}.{remark}{AFTER_A_LOOK}",
        power or "not here: too few heads, blocks or draws",
        p=p,
        number=f"{words.partition(' in ')[0]} in the heads where theory asks for it",
    )


def named(rates: xr.Dataset, chosen: np.ndarray) -> list[str]:
    """layer.head of those chosen (layer, head)."""
    return [f"{int(rates['layer'][layer])}.{int(rates['head'][head])}" for layer, head in np.argwhere(chosen)]
