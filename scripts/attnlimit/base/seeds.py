"""Seeded streams. A seed is an address, (seed, name, layer, replicate, …): a new one changes no other number."""

from zlib import crc32

import numpy as np


def generator(seed: int, name: str, *address: int) -> np.random.Generator:
    """The random stream at an address. The name keeps rules apart: numpy takes [1, 2] and [1, 2, 0] for one seed."""
    return np.random.default_rng([seed, crc32(name.encode()), *address])
