"""From numbers and thresholds to a verdict, and to words. Every rule can go either way, and can leave it undecided."""

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri, stdtr, stdtrit

HOLDS, FAILS, UNDECIDED = "holds", "does not hold", "undecided"
VERDICTS = (HOLDS, FAILS, UNDECIDED)
YES, HARDLY, NOT_HERE = "yes", "hardly", "not here"  # could a test have failed?
DIGITS = 4  # significant ones of the numbers written
STATISTIC_NAMES = {"mean": "mean", "cov": "covariance"}


class Look(NamedTuple):
    """How page and figure show a verdict."""

    symbol: str
    colour: str


# Told apart by the colour-blind, by their symbols too, and dark on white.
LOOKS = {HOLDS: Look("✓", "#00795c"), FAILS: Look("✗", "#b34d00"), UNDECIDED: Look("?", "#5f5f5f")}


class Part(NamedTuple):
    """What one part of a test found, such as that on the mean: a verdict, the numbers behind it, and a few words."""

    verdict: str
    measured: dict
    words: str
    power: str = ""  # what would have failed it, or what it takes to decide it
    able: str = YES  # could it have failed?
    p: float = 1.0  # of a verdict this firm by chance


Parts = dict[str, Part]


def decide(low: float, high: float, least: float = -np.inf, most: float = np.inf) -> str:
    """Where an interval lies: within what is allowed, wholly outside, or across its edge, which decides nothing."""
    if least <= low and high <= most:
        return HOLDS
    return FAILS if high < least or low > most else UNDECIDED


def chance(
    value: float,
    low: float,
    high: float,
    least: float = -np.inf,
    most: float = np.inf,
    *,
    freedom: float = np.inf,
) -> float:
    """Two-sided probability by chance of what `decide` says, from the distance to the edge in half-intervals.

    Below 0.05 exactly if the 95 % interval (low, high) decides; an edge at infinity asks for nothing; 1 if the number
    or its interval is NaN.  freedom: degrees of freedom of Student's law, where the interval has its tails; a normal's
    else.
    """
    if any(map(math.isnan, (value, low, high))):
        return 1.0
    below, above = value - low, high - value
    inside = min((value - least) / below if below else np.inf, (most - value) / above if above else np.inf)
    outside = max((least - value) / above if above else np.inf, (value - most) / below if below else np.inf)
    p = float(2 * stdtr(freedom, -stdtrit(freedom, 0.975) * max(inside, outside, 0.0)))
    return max(p, np.finfo(float).tiny) if low < high else p  # only a number without an interval is exact


def p_above(found: Iterable[float], edge: float, *, freedom: float = np.inf) -> float:
    """Of a number, with its interval, beyond an edge: how probable by chance, see `chance`; 1 if it is not there."""
    value, low, high = found
    return chance(value, low, high, least=edge, freedom=freedom) if value > edge else 1.0


def p_below(found: Iterable[float], edge: float, *, freedom: float = np.inf) -> float:
    value, low, high = found
    return chance(value, low, high, most=edge, freedom=freedom) if value < edge else 1.0


def number_needed(share: float, count: int) -> int:
    """share m rounded up, at least 1; the product's own rounding is no reason to ask for one more: 0.28 * 25 > 7."""
    return max(math.ceil(share * count - 1e-9), 1)


def at_least(probabilities: list[float], share: float) -> float:
    """Of "at least this share of many like statements is true" (Benjamini and Heller, 2008).

    (m - r + 1) p_(r), p_(r) the r-th smallest of m, r = `number_needed`: valid for any dependence of the statements.
    """
    count = len(probabilities)
    needed = number_needed(share, count)
    return min((count - needed + 1) * sorted(probabilities)[needed - 1], 1.0)


def many(true: list[float], false: list[float], share: float, level: float) -> tuple[str, float]:
    """Of many like statements none may be shown false, and this share must be shown true: verdict, probability.

    true, false: for each, how probable evidence this strong for and against it is by chance.  Against: the smallest
    times their number, as Holm's correction has it; for: `at_least`.
    """
    against, favour = min(min(false) * len(false), 1.0), at_least(true, share)
    if against <= 1 - level:
        return FAILS, against
    return (HOLDS if favour <= 1 - level else UNDECIDED), favour


def chance_words(p: float | None) -> str:
    """As on page and README; tail probabilities below 1e-6 are not given, since the laws are approximate there."""
    if p is None:
        return "–"
    return "exact" if p == 0 else "below 1e-06" if p < 1e-6 else f"{p:.1g}"


def holm(probabilities: list[float]) -> list[float]:
    """Adjusted so that, of all that stay below a level, any is there by chance with at most that probability (Holm)."""
    order = np.argsort(probabilities, kind="stable")
    steps = np.array(probabilities)[order] * np.arange(len(order), 0, -1)
    adjusted = np.empty(len(order))
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1)
    return adjusted.tolist()


def every(verdicts: list[str]) -> str:
    """All parts must hold; one that does not is enough to fail."""
    if FAILS in verdicts:
        return FAILS
    return HOLDS if verdicts and set(verdicts) == {HOLDS} else UNDECIDED


def joint_chance(verdicts: list[str], probabilities: list[float], share: float = 1.0) -> float:
    """Of what `every` says by chance, or `most` with a share, from the chances of the parts.

    One failure among many tests: the smallest, times their number (Bonferroni).  Else a share must hold, all of them if
    it is 1: see `at_least`.  Any dependence of the parts is allowed for.
    """
    failed = [p for verdict, p in zip(verdicts, probabilities, strict=True) if verdict == FAILS]
    if failed:
        return min(1.0, len(verdicts) * min(failed))
    return at_least(probabilities, share) if verdicts else 1.0


def every_part(parts: Parts) -> str:
    return every([part.verdict for part in parts.values()])


def every_p(parts: Parts) -> float:
    return joint_chance([part.verdict for part in parts.values()], [part.p for part in parts.values()])


def most(verdicts: list[str], share: float) -> str:
    """Of many like tests none may fail, and at least this share must hold; the rest may be undecided."""
    if FAILS in verdicts:
        return FAILS
    return HOLDS if verdicts.count(HOLDS) >= number_needed(share, len(verdicts)) else UNDECIDED


def measured_of(parts: Parts) -> dict[str, dict]:
    return {name: part.measured for name, part in parts.items()}


def spoken(parts: Parts) -> str:
    """mean +0.12 [-0.12, +0.34]; covariance …"""
    return "; ".join(f"{STATISTIC_NAMES.get(name, name)} {part.words}" for name, part in parts.items())


def powers(parts: Parts) -> str:
    """What would have failed each part, stated once if they agree."""
    each = {STATISTIC_NAMES.get(name, name): part.power for name, part in parts.items()}
    alike = set(each.values())
    return alike.pop() if len(alike) == 1 else "; ".join(f"{name}: {power}" for name, power in each.items())


def could_fail(parts: Parts) -> str:
    """Whether any part could have failed, and what would have failed each."""
    able = {part.able for part in parts.values()}
    return f"{able.pop() if len(able) == 1 else YES}: {powers(parts)}"


def z_score(level: float) -> float:
    """Half-width in standard errors of an interval at this level: 1.96 at 0.95."""
    return float(ndtri((1 + level) / 2))


def spread(values, digits: int = 2) -> str:
    """Smallest and largest number, or one of them if they print alike."""
    low, high = f"{min(values):.{digits}f}", f"{max(values):.{digits}f}"
    return low if low == high else f"{low} to {high}"


def signed(value: float, digits: int = 2) -> str:
    """With a sign, and a minus that is one."""
    return f"{value:+.{digits}f}".replace("-", "−")


def within(value: float, low: float, high: float, digits: int = 2) -> str:
    """A number and its interval."""
    return f"{signed(value, digits)} [{signed(low, digits)}, {signed(high, digits)}]"


def rounded(value):
    """Plain numbers of few digits, which JSON can hold; one that is not finite is refused."""
    if isinstance(value, dict):
        return {str(key): rounded(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [rounded(inner) for inner in value]
    if isinstance(value, (float, np.floating)):
        if not math.isfinite(value):
            raise ValueError(f"a claim measured {value}: not a finite number")
        return float(f"{value:.{DIGITS}g}")
    return value.item() if isinstance(value, np.generic) else value
