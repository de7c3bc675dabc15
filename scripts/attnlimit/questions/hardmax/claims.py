"""The claim on the hardmax, tested on its exact expectation and on its simulation."""

import numpy as np

from attnlimit.stats.claim import Finding, Fits, claim
from attnlimit.stats.verdicts import FAILS, HARDLY, HOLDS, chance, decide, every, joint_chance, z_score

HALFWAY = 10**-1.5  # of the largest log10 n: the exact numbers must have come nearer to their limits from there on
ROUNDING = 1e-9


@claim(
    id="hardmax_logarithm",
    headline="Hardmax (softmax at infinite scores): only 1/√(ln n)",
    experiment="normal tokens, d = 1, exact",
    statement="In the hardmax regime the rate is logarithmic (abstract): on normal tokens, d = 1, "
    "E|meanₙ| = ln(4) σ / (2√(2 ln n)) · (1 + o(1)) (Proposition 5.1).",
    test="Exact E|meanₙ| as a function of ln n: at the largest n the local power of 1/ln n is 1/2 and the ratio to the "
    "formula 1, each within its tolerance and nearer than before; simulated over exact, with its interval, is 1 "
    "within the tolerance at every n that was drawn.",
    fits=("hardmax",),
    figure="hardmax",
    thresholds=("level", "hardmax_tolerance", "power_tolerance"),
)
def hardmax_logarithm(fits: Fits, thresholds: dict) -> Finding:
    """Proposition 5.1 on exact numbers; draws are the check of these, where n can be drawn."""
    data = fits.stores["hardmax"]
    decades = data["decades"].values
    before = np.searchsorted(decades, HALFWAY * decades[-1]) - 1
    allowed = 1 - thresholds["hardmax_tolerance"], 1 + thresholds["hardmax_tolerance"]
    edges = 0.5 - thresholds["power_tolerance"], 0.5 + thresholds["power_tolerance"]
    exact = {
        "power_of_log": tends_to(data["exact_local_power"].values[[before, -1]], 0.5, edges),
        "over_formula": tends_to(data["exact_ratio"].values[[before, -1]], 1.0, allowed),
    }
    ratio, half = data["line_ratio"].values, z_score(thresholds["level"]) * data["line_ratio_se"].values
    drawn = [decide(r - h, r + h, *allowed) for r, h in zip(ratio, half, strict=True)]
    chances = [chance(r, r - h, r + h, *allowed) for r, h in zip(ratio, half, strict=True)]
    power, over, slope = (float(data[f"exact_{name}"][-1]) for name in ("local_power", "ratio", "local_slope"))
    verdicts = [*exact.values(), *drawn]
    off = float(np.abs(ratio - 1).max())
    return Finding(
        every(verdicts),
        f"power of 1/ln n {power:.3f} and {over:.4f} of the formula at log₁₀ n = {decades[-1]:,.0f}; allowed "
        f"{edges[0]:.2f} to {edges[1]:.2f}, {allowed[0]:g} to {allowed[1]:g}",
        {"log10_n": float(decades[-1]), "power_of_log": power, "power_of_n": slope, "over_formula": over}
        | {"simulated_over_exact": ratio.tolist(), "half_interval": half.tolist()},
        f"The exact expectation falls like a power {power:.3f} of 1/ln n and is {over:.4f} of the formula at "
        f"log₁₀ n = {decades[-1]:,.0f}; as a power of n that is {slope:.2g}. Simulated over exact is within {off:.1%} "
        f"of 1 at the {len(ratio)} sizes drawn. At small n the formula is far off, as 1 + o(1) allows.",
        f"{HARDLY}: the exact expectation is known; a power of n, however small, or another power of 1/ln n than "
        f"{edges[0]:.2f} to {edges[1]:.2f}, would fail",
        {"log10_largest": decades[-1]},
        p=joint_chance(verdicts, [0.0, 0.0, *chances]),
        number=f"power of 1/ln n {power:.3f} at log₁₀ n = {decades[-1]:,.0f}",
    )


def tends_to(numbers: np.ndarray, limit: float, allowed: tuple[float, float]) -> str:
    """Of exact numbers, an earlier and the last: is the last within what is allowed, and no further from the limit?"""
    before, last = np.abs(numbers - limit)
    return HOLDS if decide(numbers[1], numbers[1], *allowed) == HOLDS and last <= before + ROUNDING else FAILS
