"""Claims on sparse attention: the error of keys drawn at random, and how many keys the largest scores need."""

import numpy as np
import xarray as xr
from scipy.special import stdtrit

from attnlimit.stats.claim import Finding, Fits, claim
from attnlimit.stats.estimate import ENDS
from attnlimit.stats.verdicts import (
    FAILS,
    HOLDS,
    UNDECIDED,
    at_least,
    chance,
    many,
    number_needed,
    p_above,
    p_below,
    spread,
)

RANDOM = {"statistic": "pointwise", "pattern": "random"}
SHARES = ("keys_needed", "keys_gaussian")
DELTA = 0.05  # weight left out, of the claim on the largest scores


@claim(
    id="patterns_random_rate",
    headline="Random keys of a context: error like 1/√n at a query",
    experiment="heads of {model}",
    ours=True,
    after_a_look=True,
    statement="Keys of a text drawn at random, n for each query: the error at a query falls like 1/√n, once the "
    "next-order term is negligible.",
    test="Rate of the pointwise error once theory's next-order term is negligible; intervals by resampling blocks. "
    "It fails if one lies entirely outside of the tolerance (Holm); it holds if the required share lies within.",
    fits=("patterns",),
    figure="patterns",
    thresholds=("level", "slope_tolerance", "decided_share", "fewest_fits", "fewest_groups"),
)
def patterns_random_rate(fits: Fits, thresholds: dict) -> Finding:
    """Is the rate of the pointwise error 1/2, from the n on at which theory asks for it?

    Every head for which it asks at three budgets or more is a test; its interval is from resampling blocks.  Fails: a
    head outside of 1/2 +- slope_tolerance, corrected for their number.  Holds: the required share is
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
    of_blocks = {"freedom": blocks - 1}
    inside = [chance(*one, *edges, **of_blocks) if edges[0] < one[0] < edges[1] else 1.0 for one in each]
    outside = [min(p_below(one, edges[0], **of_blocks), p_above(one, edges[1], **of_blocks)) for one in each]
    verdict, p = many(inside, outside, thresholds["decided_share"], thresholds["level"])
    doubt = 1 - thresholds["level"]
    off = [name for name, one in zip(named(rates, tested), outside, strict=True) if one * len(beta) <= doubt]
    sure = sum(one <= doubt for one in inside)
    last = rates.isel(n=-1)
    ratio = (last["value"].sel(RANDOM) / last["theory_value"]).values  # (layer, head): of all heads
    reach = float(np.median(high - low) / 2)
    measured |= {"holding": sure, "failing": off, "undecided": len(beta) - sure - len(off)}
    measured |= {"half_interval": reach, "over_theory": [float(ratio.min()), float(ratio.max())]}
    words = f"β {spread(beta, 3)} in {len(beta)} of {tested.size} heads, interval within the tolerance in {sure}"
    size = f" At n = {int(last['n']):,} the error of all heads is {spread(ratio.ravel())} times what theory expects."
    others = f" In the other {tested.size - len(beta)} heads that term is small at fewer than three of the budgets."
    remark = (f" Off (layer.head): {', '.join(off)}." if off else "") + size + others + remark
    strict, plain = (stdtrit(blocks - 1, 1 - each / 2) for each in (doubt / len(beta), doubt))
    far = tolerance + reach * strict / plain
    power = f"yes: a rate {far:.3f} off 1/2 in one head fails it (the median head's interval)"
    return found(verdict, words, measured, thresholds, remark, power, p)


def found(
    verdict: str, words: str, measured: dict, thresholds: dict, remark: str = "", power: str = "", p: float = 1.0
) -> Finding:
    return Finding(
        verdict,
        f"{words}; allowed 1/2 ± {thresholds['slope_tolerance']:g}",
        measured,
        f"{words}.{remark}",
        power or "not here: too few heads, blocks or draws",
        p=p,
        number=f"{words.partition(' in ')[0]} in the heads where theory asks for it"
        if words.startswith("β")
        else words,
    )


@claim(
    id="patterns_top_law",
    headline="The spread of scores tells how many keys hold 95 % of the weight",
    experiment="heads of {model}",
    ours=True,
    statement="The share of keys that holds 95 % of a query's weight follows from the standard deviation s of its "
    "scores: 1 − Φ(s − 1.64), as if these were normal (arXiv 2512.07647), within 10 % in at least four of five heads "
    "with s between 1 and what the block resolves.",
    test="Share of keys by that law over the share measured, queries with s ≥ 1 and 10 exp(s²) at most the length of "
    "the block, heads with half of their queries among these; intervals over blocks with Student's law. It "
    "holds if the intervals of the required share lie within the tolerance, and fails if too many lie outside, at a "
    "level corrected for the number of heads.",
    fits=("patterns",),
    figure="patterns",
    thresholds=("level", "top_tolerance", "top_share", "fewest_fits", "fewest_groups"),
)
def patterns_top_law(fits: Fits, thresholds: dict) -> Finding:
    """Is gaussian_ratio within the tolerance of 1, in the share of the heads that must?  The law: `gaussian_scores`.

    Of m heads r = share m, rounded up, must be within.  Holds: at least r are.  Fails: at least m - r + 1 are
    not (both by `verdicts.at_least`: heads share keys, which it allows for).
    """
    rates, tolerance, least = fits.stores["patterns"], thresholds["top_tolerance"], thresholds["top_share"]
    asked = f"allowed 1 ± {tolerance:g} in {least:g} of the heads"
    unable = "not here: too few heads or blocks"
    if "gaussian_ratio" not in rates:
        words = "pattern top was not measured"
        return Finding(UNDECIDED, f"{words}; {asked}", {}, f"{words}.", unable, p=1.0)
    blocks, of_delta = rates.attrs["blocks"], rates.sel(delta=DELTA)
    order = ("layer", "head")
    each = np.stack([of_delta[f"gaussian_ratio{end}"].transpose(*order).values for end in ENDS], -1)
    tested = np.isfinite(each[..., 0])  # (layer, head)
    count = int(tested.sum())
    measured: dict = {"heads": tested.size, "tested": count, "blocks": blocks}
    if count < thresholds["fewest_fits"] or blocks < thresholds["fewest_groups"]:
        words = f"the law is asked of {count} of {tested.size} heads, with {blocks} blocks: too few"
        return Finding(UNDECIDED, f"{words}; {asked}", measured, f"{words}.", unable, p=1.0)
    edges = np.log([1 - tolerance, 1 + tolerance])
    logs = np.log(each[tested])  # (head, value and ends)
    within = (logs[:, 0] > edges[0]) & (logs[:, 0] < edges[1])
    chances = np.array([chance(*one, *edges, freedom=blocks - 1) for one in logs])  # within, or outside
    needed = number_needed(least, count)
    favour = at_least(np.where(within, chances, 1.0).tolist(), needed / count)
    against = at_least(np.where(within, 1.0, chances).tolist(), (count - needed + 1) / count)
    doubt = 1 - thresholds["level"]
    verdict = HOLDS if favour <= doubt else FAILS if against <= doubt else UNDECIDED
    sure, off = (int((chances[side] <= doubt).sum()) for side in (within, ~within))
    ratio, of_heads = each[tested][:, 0], {name: of_delta[name].transpose(*order).values[tested] for name in SHARES}
    measured |= {"ratio": ratio.tolist(), "within": int(within.sum()), "interval_within": sure, "interval_outside": off}
    measured |= {name: numbers.tolist() for name, numbers in of_heads.items()}
    words = f"law over measured {np.median(ratio):.2f} (median; {spread(ratio)}) in {count} heads, interval within the "
    words += f"tolerance in {sure}"
    return Finding(
        verdict,
        f"{words}; {asked}",
        measured,
        f"{words}, entirely outside in {off}. 95 % of the weight is on {spread(of_heads['keys_needed'])} of the keys, "
        f"where normal scores would need {spread(of_heads['keys_gaussian'])}; of {tested.size} heads, "
        f"{tested.size - count} are too flat or too peaked to be asked.",
        f"yes: {count - needed + 1} heads whose {100 * (1 - doubt / needed):.2f} % interval lies entirely more than "
        f"{100 * tolerance:.0f} % off fail it",
        p=min(favour, against),
        number=f"{int(within.sum())} of {count} heads within {100 * tolerance:.0f} %",
    )


def named(rates: xr.Dataset, chosen: np.ndarray) -> list[str]:
    """layer.head of those chosen (layer, head)."""
    return [f"{int(rates['layer'][layer])}.{int(rates['head'][head])}" for layer, head in np.argwhere(chosen)]
