"""The token population: embeddings in shards, and the distinct atoms of layer 0."""

from collections.abc import Iterable
from contextlib import ExitStack
from functools import cache, lru_cache

import numpy as np
import xarray as xr

from attnlimit.base.store import opened, select

LEFT_OPEN = ExitStack()


def assemble(blocks: Iterable[np.ndarray], tokens: int, dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """Blocks (layer, token, feature) end to end in the dtype of storage, and what rounding to it cost each layer.

    The rounding error (layer,) is sqrt(E|rounded x - x|^2 / E|x - E x|^2), 0 where the dtype is the blocks' own.
    """
    joined: np.ndarray | None = None
    lost, start = 0.0, 0
    for block in blocks:
        if joined is None:
            joined = np.empty((len(block), tokens, block.shape[2]), dtype)
        stop = start + block.shape[1]
        with np.errstate(over="ignore"):  # refused below, by name
            joined[:, start:stop] = block
        if joined.dtype != block.dtype:
            missed = joined[:, start:stop] - block  # exact: both have few digits, and are near each other
            lost = lost + np.einsum("ltf,ltf->l", missed, missed, dtype=np.float64)  # (layer,)
        start = stop
    if joined is None:
        raise ValueError("embeddings: no block of tokens; run tokenize_corpus again")
    if not all(np.isfinite(layer).all() for layer in joined):
        raise ValueError(f"embeddings: NaN, infinite, or beyond {dtype}; is extract_embeddings.dtype too narrow?")
    spread = [layer.var(0, dtype=np.float64).sum() * tokens for layer in joined]
    return joined, np.sqrt(lost / np.array(spread))


def gather(
    shards: list[str], layer: int, wanted: np.ndarray, dtype: type[np.floating] | None = np.float32
) -> np.ndarray:
    """Tokens (wanted, feature) of one layer by increasing number, chunk by chunk: only they stay in memory.

    dtype None leaves them as they are stored.
    """
    rows: list[np.ndarray] = []
    for shard in map(str, shards):
        store = open_shard(shard)
        first, last = store.attrs["first_token"], store.attrs["last_token"]
        inside = wanted[np.searchsorted(wanted, first) : np.searchsorted(wanted, last, side="right")] - first
        length = store["tokens"].encoding["chunks"][1]
        for number in np.unique(inside // length):
            start, stop = int(number) * length, (int(number) + 1) * length
            mine = inside[np.searchsorted(inside, start) : np.searchsorted(inside, stop)]
            rows.append(chunk_of(shard, layer, first + start, min(first + stop - 1, last))[mine - start])
    present = sum(map(len, rows))
    if present != len(wanted):
        raise LookupError(f"embeddings: {present} of {len(wanted)} tokens found; run extract_embeddings again")
    return np.concatenate(rows, dtype=dtype)


@cache
def open_shard(path: str) -> xr.Dataset:
    """Opened and checked once a process, and left open: its numbers are read lazily."""
    store = LEFT_OPEN.enter_context(opened(path))
    first, last = store.attrs["first_token"], store.attrs["last_token"]
    if not np.array_equal(store["token"].values, np.arange(first, last + 1)):
        raise ValueError(f"{path}: its tokens are not consecutive; delete it and run extract_embeddings again")
    return store


@lru_cache(maxsize=1)  # blocks are read in order, and several of them lie in one chunk, which is unpacked as a whole
def chunk_of(shard: str, layer: int, first: int, last: int) -> np.ndarray:
    """Tokens of one chunk of a shard, (token, feature), as they are stored."""
    return select(shard, open_shard(shard), "tokens", layer=layer, token=slice(first, last)).values


def atoms(token_id: np.ndarray, position: np.ndarray, layer: int) -> tuple[np.ndarray, np.ndarray]:
    """Token numbers that stand for the whole population at a layer, increasing, and how many tokens each stands for.

    The input of layer 0 is a function of (word, position), so equal pairs are one atom; deeper, context makes every
    token its own.
    """
    if layer > 0:
        return np.arange(len(token_id)), np.ones(len(token_id), dtype=np.int64)
    pairs = token_id.astype(np.int64) * (int(position.max()) + 1) + position
    _, first, counts = np.unique(pairs, return_index=True, return_counts=True)
    order = np.argsort(first)
    return first[order], counts[order]
