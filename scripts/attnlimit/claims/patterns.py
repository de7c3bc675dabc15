"""The claim on keys drawn at random: does the error of sparse attention fall as theory has it?"""

import numpy as np
import xarray as xr
from scipy.special import stdtrit

from attnlimit.claims.statements import STATEMENTS
from attnlimit.claims.verdicts import FAILS, HOLDS, UNTESTED, Record, decide, most, pick, spread

RANDOM = {"statistic": "pointwise", "pattern": "random"}


def patterns_random_rate(rates: xr.Dataset, thresholds: dict) -> Record:
    """Is the rate of the pointwise error 1/2, from the n on at which theory asks for it?

    Every head for which it asks at three budgets or more is a test; its interval is from resampling blocks, and as wide
    as many tests ask for (the level divided by their number: heads share draws, and so it is on the safe side).  Holds:
    no head lies wholly outside of 1/2 +- slope_tolerance, and the share that must hold does.
    """
    head_count, blocks = rates["late_beta"].size, rates.attrs["blocks"]
    tested = np.isfinite(rates["late_beta"].values)
    beta, low, high = (rates[f"late_beta{end}"].values[tested] for end in ("", "_low", "_high"))
    heads = [f"{layer}.{head}" for layer, head in labels(rates, tested)]
    inside = rates["beta"].sel(RANDOM).median("head").values
    within = int((rates["theory_from"] <= rates.attrs["block"]).sum())
    measured: dict = {"heads": head_count, "tested": len(beta), "asked_within_the_block": within, "blocks": blocks}
    measured |= {"beta_within_the_block": inside.tolist(), "beta": beta.tolist()}
    tolerance = thresholds["slope_tolerance"]
    enough = len(beta) >= thresholds["fewest_fits"] and blocks >= thresholds["fewest_groups"]
    words, power, named = f"{len(beta)} of {head_count} heads and {blocks} blocks: too few", "", ""
    verdict = UNTESTED
    if enough:
        chance = (1 - thresholds["level"]) / 2
        wider = float(stdtrit(blocks - 1, 1 - chance / len(beta)) / stdtrit(blocks - 1, 1 - chance))
        ends = beta - wider * (beta - low), beta + wider * (high - beta)
        each = [decide(*pair, 0.5 - tolerance, 0.5 + tolerance) for pair in zip(*ends, strict=True)]
        verdict = most(each, thresholds["decided_share"])
        reach = float(np.median(ends[1] - ends[0]) / 2)
        off = {head: float(b) for head, b, v in zip(heads, beta, each, strict=True) if v == FAILS}
        largest = rates.isel(n=-1)
        ratio = (largest["value"].sel(RANDOM) / largest["theory_value"]).values[tested]
        measured |= {"holds": each.count(HOLDS), "fails": off, "undecided": each.count(UNTESTED)}
        measured |= {"half_interval": reach, "over_theory": ratio.tolist()}
        words = f"β {spread(beta)}, median {np.median(beta):.3f}, in {len(beta)} of {head_count} heads"
        words += f"; {each.count(HOLDS)} hold, {len(off)} fail"
        named = f" Error over √(c₁/n) at n = {int(largest['n']):,}: {spread(ratio)}."
        named += f" Heads off (layer.head): {', '.join(off)}." if off else ""
        power = (
            f"yes: a rate {tolerance + reach:.3f} off 1/2 in one head fails it, in the median one of {len(beta)} heads"
        )
    return Record(
        "patterns_random_rate",
        STATEMENTS["patterns_random_rate"],
        verdict,
        f"{words}; allowed 1/2 ± {tolerance:g}",
        measured,
        "Rate of the pointwise error from the n on at which theory's next term is small; intervals by resampling "
        "blocks, widened for the number of heads.",
        pick(thresholds, "level", "slope_tolerance", "decided_share", "fewest_fits", "fewest_groups"),
        ["results/rates/patterns.zarr.zip", "figure patterns"],
        f"{words}.{named} Budgets beyond the block count too, as keys are drawn with replacement. Up to a block, "
        f"{rates.attrs['block']:,} keys, theory asks for 1/2 in {within} of {head_count} heads only, and the rate is "
        f"{spread(inside)} (medians over heads, by layer): few keys carry most of the weight, and few draws hit them.",
        power or "not here: theory asks for 1/2 in too few heads at these n, or blocks are too few",
    )


def labels(rates: xr.Dataset, chosen: np.ndarray) -> list[tuple[int, int]]:
    """(layer, head) where chosen (layer, head)."""
    return [(int(rates["layer"][layer]), int(rates["head"][head])) for layer, head in np.argwhere(chosen)]
