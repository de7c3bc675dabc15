"""Samples of a population, as token numbers, and which sizes are read off one draw."""

from typing import NamedTuple

import numpy as np

from attnlimit.base.seeds import generator


class Draw(NamedTuple):
    """One draw of a replicate."""

    address: tuple[int, ...]  # what its seed has after the replicate
    sizes: list[int]  # n, increasing: the first n of its tokens are the sample of size n


def planned_draws(sizes: list[int], nested: bool) -> list[Draw]:
    """Nested: one draw of the largest size serves all. Otherwise each size has its own, as published."""
    return [Draw((), list(sizes))] if nested else [Draw((size,), [size]) for size in sizes]


def draws(
    population: int,
    sizes: list[int],
    nested: bool,
    replacement: bool,
    seed: int,
    layer: int,
    replicate: int,
    name: str = "measure_errors",
) -> list[tuple[np.ndarray, list[int]]]:
    """Samples of one replicate: token numbers in random order, and the sizes n read off their first n."""
    samples = []
    for address, served in planned_draws(sizes, nested):
        stream = generator(seed, name, layer, replicate, *address)
        if replacement:
            rows = stream.integers(population, size=served[-1])
        else:
            rows = stream.choice(population, size=served[-1], replace=False)
        samples.append((rows, served))
    return samples
