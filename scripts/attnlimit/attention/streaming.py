"""The limit over a whole population, streamed: memory holds a few blocks of queries and one of keys, whatever N."""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from attnlimit.attention.kernel import (
    Heads,
    Segment,
    State,
    fourth_moment,
    free_bytes,
    limit_states,
    log_counts,
    output_moments,
    project_keys,
    project_queries,
)
from attnlimit.base.parts import cuts
from attnlimit.theory.moments import Moments

BLOCKS_AT_ONCE = 8  # of queries, on a CPU: for each such group keys are read and projected again, a small part of it


class Atoms(NamedTuple):
    """A population as it is read: tokens of a slice of atoms, and how many tokens each atom stands for."""

    read: Callable[[slice | np.ndarray], np.ndarray]  # slice or increasing places -> (atom, feature)
    counts: np.ndarray  # (atom,)


class Pass(NamedTuple):
    """How attention over the population is computed."""

    heads: Heads
    centre: np.ndarray  # (feature,): taken off all keys and values, see project_keys
    block: int
    device: str
    dtype: str


def states_of(
    queries: Atoms, keys: Atoms, mine: list[slice], how: Pass, watch: Callable[[Iterable], Iterable] = iter
) -> Iterator[State]:
    """For each slice of queries in `mine`, their attention to all keys.

    watch wraps the pass over keys, to show progress.
    """
    projection = (how.heads, how.centre, how.device, how.dtype)

    def segments():
        for cut in cuts(len(keys.counts), how.block):
            projected = project_keys(keys.read(cut), *projection)
            yield Segment(*projected, log_counts(keys.counts[cut], projected[0]))

    together = blocks_at_once(how, max((cut.stop - cut.start for cut in mine), default=how.block))
    for start in range(0, len(mine), together):
        group = mine[start : start + together]
        yield from limit_states([project_queries(queries.read(cut), *projection) for cut in group], watch(segments()))


def limit_blocks(
    queries: Atoms, keys: Atoms, mine: list[slice], how: Pass, watch: Callable[[Iterable], Iterable] = iter
) -> Iterator[tuple[Moments, np.ndarray]]:
    """For each slice of queries in `mine`, moments of their attention to all keys, and the fourth moments."""
    for cut, state in zip(mine, states_of(queries, keys, mine, how, watch), strict=True):
        yield moments_of(state.output, queries.counts[cut])


def moments_of(output: Tensor, counts: np.ndarray) -> tuple[Moments, np.ndarray]:
    """Moments of the outputs of a block of queries, each `counts` times, and the fourth moments."""
    counted = torch.as_tensor(counts, device=output.device)
    moments = output_moments(output, counted)
    return moments, fourth_moment(output, counted, moments.mean)


def as_rows(state: State) -> tuple[np.ndarray, np.ndarray]:
    """Outputs, heads side by side (query, feature), and their log-sum-exp (query, head), in the main memory."""
    return state.output.transpose(0, 1).flatten(1).cpu().numpy(), state.total.T.cpu().numpy()


def end_to_end(blocks: list[tuple[np.ndarray, np.ndarray]], how: Pass) -> tuple[np.ndarray, np.ndarray]:
    """Outputs and log-sum-exp of blocks of queries, one after the other; a job may have none."""
    heads, width = how.heads.query_bias.shape
    none = np.empty((0, heads * width), how.dtype), np.empty((0, heads), how.dtype)
    outputs, totals = (np.concatenate(parts) for parts in zip(none, *blocks, strict=True))
    return outputs, totals


def blocks_at_once(how: Pass, rows: int) -> int:
    """Blocks of `rows` queries held together, on a GPU as many as fit in its free memory. It does not affect results.

    A block needs its queries, their output so far and that to one more segment: 3 rows D floats.
    """
    if torch.device(how.device).type != "cuda":
        return max(1, BLOCKS_AT_ONCE * how.block // rows)
    floats = 3 * rows * how.heads.query_weight[..., 0].size
    return max(1, free_bytes(torch.device(how.device)) // (floats * getattr(torch, how.dtype).itemsize))
