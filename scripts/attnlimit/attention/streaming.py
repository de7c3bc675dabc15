"""The limit over a whole population, streamed: memory holds a few blocks of queries and one of keys, whatever N."""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np
import torch

from attnlimit.attention.kernel import (
    Heads,
    Segment,
    fourth_moment,
    free_bytes,
    limit_outputs,
    log_counts,
    output_moments,
    project_keys,
    project_queries,
)
from attnlimit.parts import cuts
from attnlimit.theory.moments import Moments

BLOCKS_AT_ONCE = (
    8  # of queries, on a CPU: keys are read and projected again for each such group, a small part of the work
)


class Atoms(NamedTuple):
    """A population as it is read: tokens of a slice of atoms, and how many tokens each atom stands for."""

    read: Callable[[slice], np.ndarray]  # slice -> (atom, feature)
    counts: np.ndarray  # (atom,)


class Pass(NamedTuple):
    """How the population is gone through."""

    heads: Heads
    centre: np.ndarray  # (feature,): taken off all keys and values, see project_keys
    block: int
    device: str
    dtype: str


def limit_blocks(
    queries: Atoms, keys: Atoms, mine: list[slice], how: Pass, watch: Callable[[Iterable], Iterable] = iter
) -> Iterator[tuple[Moments, np.ndarray]]:
    """For each slice of queries in `mine`, moments of their attention to all keys, and the fourth moments.

    watch wraps the pass over keys, to show progress.
    """
    projection = (how.heads, how.centre, how.device, how.dtype)

    def segments():
        for cut in cuts(len(keys.counts), how.block):
            projected = project_keys(keys.read(cut), *projection)
            yield Segment(*projected, log_counts(keys.counts[cut], projected[0]))

    together = blocks_at_once(how)
    for start in range(0, len(mine), together):
        group = mine[start : start + together]
        outputs = limit_outputs([project_queries(queries.read(cut), *projection) for cut in group], watch(segments()))
        for cut, output in zip(group, outputs, strict=True):
            counted = torch.as_tensor(queries.counts[cut], device=how.device)
            moments = output_moments(output, counted)
            yield moments, fourth_moment(output, counted, moments.mean)


def blocks_at_once(how: Pass) -> int:
    """Blocks of queries held together; on a GPU as many as its free memory takes. It changes no number.

    A block needs its queries, their output so far and that to one more segment: 3 block D floats.
    """
    if torch.device(how.device).type != "cuda":
        return BLOCKS_AT_ONCE
    floats = 3 * how.block * how.heads.query_weight[..., 0].size
    return max(1, free_bytes(torch.device(how.device)) // (floats * getattr(torch, how.dtype).itemsize))
