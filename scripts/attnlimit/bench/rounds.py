"""Timing in rounds: contenders by turns, the machine's own speed between them.

Seconds are those of the processor, on one thread as in every job of a run. Other work on the machine still slows down
what runs at the same moment (it takes caches and clock rate), so only ratios within a round are compared; of these the
median over the rounds counts, with its quartiles.
"""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch

from attnlimit.attention.products import product


class Roof(NamedTuple):
    """What torch does in a second at this moment, at its best, on one thread."""

    flops: float  # of a float32 matrix product, by the faster of its libraries
    exponentials: float  # of the faster base, 2


class Lap(NamedTuple):
    """One run of one contender."""

    seconds: float
    roof: Roof  # mean of what was measured before it and after it


class Elsewhere(NamedTuple):
    """What a contender returns that ran in another process: the seconds of that one count."""

    seconds: float
    result: Any


def clock(work: Callable) -> tuple[float, Any]:
    """Seconds of processor time, and what the work returns."""
    start = time.process_time()
    result = work()
    return result if isinstance(result, Elsewhere) else (time.process_time() - start, result)


def measure_roof(side: int = 1024, passes: int = 100) -> Roof:
    matrix, vector = torch.ones(side, side), torch.ones(2**16)
    for_product, _ = clock(lambda: product(matrix, matrix))
    for_exponentials, _ = clock(lambda: [vector.exp2() for _ in range(passes)])
    return Roof(2 * side**3 / for_product, passes * len(vector) / for_exponentials)


def run_rounds(
    methods: dict[str, Callable], rounds: int, generator: np.random.Generator, roof: Callable[[], Roof] = measure_roof
) -> tuple[dict, dict]:
    """Laps of each contender, one a round, in shuffled order; and what each returned last."""
    laps: dict[str, list[Lap]] = {name: [] for name in methods}
    results = {}
    roof()  # the first is slow: libraries are loaded
    before = roof()
    for _ in range(rounds):
        for name in map(str, generator.permutation(list(methods))):
            seconds, results[name] = clock(methods[name])
            after = roof()
            laps[name].append(Lap(seconds, Roof(*np.mean([before, after], axis=0).tolist())))
            before = after
    return laps, results


def ratios(laps: list[Lap], others: list[Lap]) -> list[float]:
    """How many times faster, round by round."""
    return [other.seconds / lap.seconds for lap, other in zip(laps, others, strict=True)]


def spread(name: str, numbers: list[float] | None) -> dict:
    """Two entries of a record: the median, and the quartiles, which a single number has none of."""
    if numbers is None:
        return {name: None, f"{name}_quartiles": None}
    low, median, high = np.quantile(numbers, [0.25, 0.5, 0.75]).tolist()
    return {name: median, f"{name}_quartiles": [low, high] if len(numbers) > 1 else None}
