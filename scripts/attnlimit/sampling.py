"""Seeded draws. A seed is an address, (seed, name, layer, replicate, …): a new one changes no other number."""

from zlib import crc32

import numpy as np


def generator(seed: int, name: str, *address: int) -> np.random.Generator:
    """The random stream at an address. The name keeps rules apart: numpy takes [1, 2] and [1, 2, 0] for one seed."""
    return np.random.default_rng([seed, crc32(name.encode()), *address])


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
    """Samples of one replicate: token numbers in random order, and the sizes n read off their first n.

    Nested: one sample of the largest size serves all. Otherwise each size has its own, as in the published protocol.
    """
    plan = [((replicate,), list(sizes))] if nested else [((replicate, size), [size]) for size in sizes]
    samples = []
    for address, served in plan:
        stream = generator(seed, name, layer, *address)
        if replacement:
            rows = stream.integers(population, size=served[-1])
        else:
            rows = stream.choice(population, size=served[-1], replace=False)
        samples.append((rows, served))
    return samples
