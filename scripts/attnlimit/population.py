"""The token population: embeddings in shards, and the distinct atoms of layer 0."""

import numpy as np

from attnlimit.store import read


def gather(shards: list[str], layer: int, wanted: np.ndarray) -> np.ndarray:
    """Tokens (wanted, feature) of one layer by increasing number, read shard by shard: only they stay in memory."""
    rows = []
    for shard in shards:
        part = read(shard, layer=layer, token=slice(int(wanted[0]), int(wanted[-1])))
        numbers = part["token"].values
        if len(numbers):
            rows.append(part["tokens"].sel(token=np.intersect1d(wanted, numbers, assume_unique=True)).values)
    found = sum(map(len, rows))
    if found != len(wanted):
        raise LookupError(f"embeddings: {found} of {len(wanted)} tokens found; run extract_embeddings again")
    return np.concatenate(rows).astype(np.float32)


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


def cuts(total: int, block: int) -> list[slice]:
    """Fixed blocks of a population: they depend on nothing but its size, so a cut into jobs changes no number."""
    return [slice(start, min(start + block, total)) for start in range(0, total, block)]


def share(items: list, part: int, parts: int) -> list:
    """The items of job `part` of `parts`, in order and as even as can be."""
    return items[part * len(items) // parts : (part + 1) * len(items) // parts]
