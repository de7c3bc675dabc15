"""Speeds of a machine and counts of work from which questions say what their jobs cost.

Speeds were measured on one core of a machine with AVX-512, busy with other work; the rest is counting. So these are
estimates: good to about a factor of two on another machine. Standard library and pydantic only.
"""

from collections.abc import Mapping
from typing import Any

from attnlimit.base.about import Cost
from attnlimit.base.parts import share

LIMIT_FLOPS = 110e9  # a second, of float32 attention over a population: attend_queries of a million tokens
ERROR_FLOPS = 55e9  # of attention on samples with its moments: measure_errors of a million tokens
DRAWN_FLOPS = 66e9  # of layers reading blocks with drawn keys: measure_propagation of the default run
START_BYTES = 500e6  # torch, transformers, xarray, zarr in memory before any work
TOKEN_BYTES = 40.0  # of a token of the population: its number, word, position, count


def token_bytes(config: Mapping[str, Any]) -> float:
    """What every job that reads the population holds."""
    return TOKEN_BYTES * config["tokenize_corpus"]["population"]


def sample_pairs(section: Mapping[str, Any]) -> float:
    """Pairs of tokens in the samples of one setting, all replicates; attention at the largest n serves nested sizes."""
    sizes = section["sizes"]
    return section["replicates"] * float(sizes[-1] ** 2 if section["nested"] else sum(size**2 for size in sizes))


def pair_flops(dimension: int) -> float:
    """Of attention between two tokens: 4 d; below 32 dimensions the exponential costs as much as the products."""
    return 4.0 * max(dimension, 32)


def cost_by_setting(section: Mapping[str, Any], dimensions: list[int], further_pairs: float = 0) -> Cost:
    """Of a simulation whose settings are shared among jobs, each with pairs of tokens besides its samples."""
    pairs, parts = sample_pairs(section) + further_pairs, section["parts"]
    work = [pairs * pair_flops(dimension) for dimension in dimensions]
    longest = max(sum(share(work, part, parts)) for part in range(parts))
    return Cost(parts, job_seconds=longest / ERROR_FLOPS, on_gpu=True)
