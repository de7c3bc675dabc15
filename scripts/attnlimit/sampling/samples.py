"""The core of every measurement: draw tokens, project them, take samples, moments at each size, distances to the limit.

A replicate is a list of draws; of a draw, the first n tokens are the sample of size n.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np
import torch
import xarray as xr

from attnlimit.attention.kernel import Heads, Projected, nested_moments, output_shift, project
from attnlimit.base.coordinates import STATISTICS, with_whole_layer
from attnlimit.base.log import bar
from attnlimit.base.parts import TOKENS_AT_ONCE
from attnlimit.sampling.errors import replicate_errors
from attnlimit.sampling.protocol import Protocol
from attnlimit.theory.moments import Moments

Sample = list[tuple[np.ndarray, list[int]]]  # of one replicate: token numbers in random order, and the sizes n
Tokens = Callable[[np.random.Generator, int], np.ndarray]  # the given number of fresh tokens of a law, (token, feature)
Stream = Callable[..., np.random.Generator]  # of a replicate, and of a size if each has a draw of its own


class Attention(NamedTuple):
    """The heads of a layer, and how they are computed."""

    heads: Heads
    centre: np.ndarray  # (feature,): taken off the tokens
    device: str
    dtype: str


def sampled_moments(samples: Iterable[Sample], pool: Projected) -> Iterator[Iterator[Moments]]:
    """For each replicate, moments at each size, one at a time: its rows number the tokens of the pool."""
    for sample in samples:
        yield (
            moments
            for rows, sizes in sample
            for moments in nested_moments(pool.take(torch.as_tensor(rows, device=pool.keys.device)), sizes)
        )


def simulated_moments(tokens: Tokens, attention: Attention, protocol: Protocol, stream: Stream) -> Iterator[list]:
    """For each replicate, moments at each size, of fresh tokens: of one nested draw, or of a draw for each size."""
    for replicate in range(protocol.replicates):
        yield [
            moments
            for address, sizes in protocol.draws()
            for moments in nested_moments(project(tokens(stream(replicate, *address), sizes[-1]), *attention), sizes)
        ]


def batches(samples: Iterable[Sample], tokens: int, most: int) -> Iterator[tuple[list[Sample], np.ndarray]]:
    """Replicates in order, in batches of at most `most` distinct tokens or of one, with the numbers of the tokens."""
    batch: list[Sample] = []
    held = np.zeros(tokens, dtype=bool)
    for sample in samples:
        own = np.zeros(tokens, dtype=bool)
        for rows, _ in sample:
            own[rows] = True
        if batch and np.count_nonzero(held | own) > most:
            yield batch, np.flatnonzero(held)
            batch, held = [], np.zeros(tokens, dtype=bool)
        batch, held = [*batch, sample], held | own
    if batch:
        yield batch, np.flatnonzero(held)


def layer_errors(
    samples: list[Sample],
    read: Callable[[np.ndarray], np.ndarray],
    attention: Attention,
    limit: xr.Dataset,
    group: int,
    name: str,
) -> xr.Dataset:
    """Errors of the heads of a layer on samples of its tokens: error (statistic, head, replicate, n), and the mean
    differences to the limit of each `group` replicates, {mean,cov}_difference (group, n, feature[, feature_2]).

    read gives the tokens (token, feature) of increasing numbers: only those drawn are held, as they are stored, and
    projected, when they take many times the place, for some replicates after the others.
    """
    drawn = np.unique(np.concatenate([rows for sample in samples for rows, _ in sample]))
    tokens = read(drawn)
    placed = ([(np.searchsorted(drawn, rows), sizes) for rows, sizes in sample] for sample in samples)

    def moments() -> Iterator[Iterator[Moments]]:
        for batch, mine in batches(placed, len(drawn), TOKENS_AT_ONCE):
            pool = project(tokens[mine], *attention)
            yield from sampled_moments(
                ([(np.searchsorted(mine, rows), sizes) for rows, sizes in sample] for sample in batch), pool
            )

    shifted = limit["limit_mean"].values - output_shift(attention.heads, attention.centre)
    heads = len(attention.heads.query_weight)
    shown = bar(moments(), total=len(samples), unit="replicates", name=name)
    measured = replicate_errors(shown, shifted, limit["limit_covariance"].values, heads, group)
    return xr.Dataset(
        {
            "error": (("statistic", "head", "replicate", "n"), measured["error"]),
            "mean_difference": (("group", "n", "feature"), measured["mean_difference"]),
            "cov_difference": (("group", "n", "feature", "feature_2"), measured["cov_difference"]),
        },
        coords={
            "statistic": list(STATISTICS),
            "head": with_whole_layer(heads),
            "n": [size for _, sizes in samples[0] for size in sizes],
        },
    )
