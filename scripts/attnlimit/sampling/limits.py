"""The limit of one layer: attention of the population's tokens, or of some of them, to all of them."""

from collections.abc import Callable
from functools import partial

import numpy as np
import xarray as xr

from attnlimit.attention.kernel import output_shift
from attnlimit.attention.streaming import Atoms, Pass, as_rows, end_to_end, moments_of, states_of
from attnlimit.base.log import bar
from attnlimit.base.parts import cuts
from attnlimit.sampling.joining import moments_variables
from attnlimit.sources.model.population import atoms


def keys_of(token_id: np.ndarray, position: np.ndarray, layer: int, read: Callable[[np.ndarray], np.ndarray]) -> Atoms:
    """All tokens, equal ones at layer 0 as one; read gives the tokens (token, feature) of increasing numbers."""
    numbers, counts = atoms(token_id, position, layer)
    return Atoms(lambda cut: read(numbers[cut]), counts)


def drawn_queries(
    population: int, queries: int, read: Callable[[np.ndarray], np.ndarray], stream: np.random.Generator
) -> Atoms:
    """This number of tokens drawn without replacement, by increasing number."""
    numbers = np.sort(stream.choice(population, queries, replace=False))
    return Atoms(lambda cut: read(numbers[cut]), np.ones(queries))


def centre_of(keys: Atoms, block: int) -> np.ndarray:
    """A point near the tokens, (feature,): any will do, and every job must have the same one."""
    return keys.read(slice(0, block)).mean(0, dtype=np.float64)


def limit_part(keys: Atoms, queries: Atoms, mine: list[int], how: Pass) -> xr.Dataset:
    """Moments of the outputs, less their shift, for the query blocks of these numbers; and the outputs themselves.

    The outputs and their log-sum-exp are what first order needs of the limit pass (questions/first_order).
    """
    watch = partial(bar, total=len(cuts(len(keys.counts), how.block)), unit="key blocks", name="limit")
    blocks = cuts(len(queries.counts), how.block)
    own = [blocks[number] for number in mine]
    parts, rows, counts = [], [], [np.empty(0)]
    for cut, state in zip(own, states_of(queries, keys, own, how, watch), strict=True):
        parts.append(moments_of(state.output, queries.counts[cut]))
        rows.append(as_rows(state))
        counts.append(queries.counts[cut])
    outputs, totals = end_to_end(rows, how)
    shift = output_shift(how.heads, how.centre)
    fourth = np.reshape([fourth for _, fourth in parts], (-1, len(how.heads.query_weight) + 1))  # (block, unit)
    return xr.Dataset(
        {
            **moments_variables([moments for moments, _ in parts], "block", len(shift)),
            "fourth_moment": (("block", "unit"), fourth),
            "output_shift": ("feature", shift),
            "centre": ("feature", how.centre),
            "output": (("query", "feature"), outputs),
            "total": (("query", "head"), totals),
            "stands_for": ("query", np.concatenate(counts)),
        },
        coords={"block": mine},
    )
