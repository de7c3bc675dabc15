"""Sparse attention: which keys a query reads when it may read n of them, and attention to those.

A pattern is a function of positions, the budget n and a random stream.  It gives counts (query, key), rows of sum n:
how often a query reads a key, 0 for not at all.  A key read c times has log c added to its score, so that attention to
counts is attention to the keys read.  Three are of another kind: `pooled` reads means of keys, `top` looks at scores,
`herding` at keys and values.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from attnlimit.attention.kernel import Projected
from attnlimit.base.parts import PUBLISHED_RANDOM

PUBLISHED_WINDOW = "published_window"  # chooses tokens, not keys of a query: see `published_tokens`
STRIP = 256  # queries at a time: rows of scores in memory, for sequences of any length


class Place(NamedTuple):
    """Some queries of a sequence."""

    queries: np.ndarray  # (query,): their positions
    length: int  # of the sequence: keys stand at 0 … length - 1


Counts = np.ndarray  # (query, key)
Pattern = Callable[[Place, int, np.random.Generator], Counts]


def random(place: Place, n: int, stream: np.random.Generator) -> Counts:
    """n independent keys for every query, with replacement: the tokens of the theory, as sparse models draw them."""
    rows, length = len(place.queries), place.length
    cells = stream.integers(length, size=(rows, n)) + length * np.arange(rows)[:, None]
    return np.bincount(cells.ravel(), minlength=rows * length).reshape(rows, length)


def random_shared(place: Place, n: int, stream: np.random.Generator) -> Counts:
    """The same n independent keys for all queries: one sample of tokens, as in the theory of the moments."""
    counts = np.bincount(stream.integers(place.length, size=n), minlength=place.length)
    return np.tile(counts, (len(place.queries), 1))


def window(place: Place, n: int, stream: np.random.Generator) -> Counts:
    """The n nearest keys, the query's own among them; at an end of the sequence the window is shifted inwards."""
    return run(place.length, nearest(place.queries, place.length, n), n)


def window_random(place: Place, n: int, stream: np.random.Generator) -> Counts:
    """Half of the keys from a window, half drawn from outside it without replacement."""
    return with_random(window(place, n - n // 2, stream), n // 2, stream)


def window_random_50(place: Place, n: int, stream: np.random.Generator) -> Counts:
    """A window of n - 50 keys about each query, and 50 of its own, drawn from outside it without replacement."""
    return with_random(window(place, n - PUBLISHED_RANDOM, stream), PUBLISHED_RANDOM, stream)


def global_window_random(place: Place, n: int, stream: np.random.Generator) -> Counts:
    """As in BigBird: a quarter of the keys are the first of the sequence, the rest half window and half random.

    Every query reads the first keys.  BigBird also lets these tokens read everything; here they have the budget of all.
    """
    first = n // 4
    near = n - first - (n - first) // 2
    start = first + nearest(np.maximum(place.queries - first, 0), place.length - first, near)
    counts = run(place.length, start, near)
    counts[:, :first] = 1
    return with_random(counts, n - first - near, stream)


def strided(place: Place, n: int, stream: np.random.Generator) -> Counts:
    """n keys at even steps over the whole sequence, from the query's own on, wrapping around at its end."""
    steps = np.arange(n) * place.length // n
    counts = np.zeros((len(place.queries), place.length), np.int64)
    np.put_along_axis(counts, (place.queries[:, None] + steps) % place.length, 1, 1)
    return counts


def dilated(place: Place, n: int, stream: np.random.Generator) -> Counts:
    """The n nearest keys at even distance; where these run out, the nearest at odd distance too."""
    counts = np.zeros((len(place.queries), place.length), np.int64)
    for odd in (0, 1):
        side = place.queries % 2 == odd
        for start, left in ((odd, 0), (1 - odd, -(-(place.length - odd) // 2))):
            lattice = -(-(place.length - start) // 2)  # keys at start, start + 2, …
            taken = min(max(n - left, 0), lattice)
            first = nearest(place.queries[side] // 2, lattice, taken)
            counts[side, start::2] = run(lattice, first, taken)
    return counts


def published_tokens(length: int, n: int, stream: np.random.Generator) -> np.ndarray:
    """The n tokens of the published window experiment, increasing: they are queries and keys, the same for all queries.

    One window of n - 50 tokens at the middle of the sequence, of half-width w if n = 2 w + 1 + 50, and 50 more drawn
    from outside it without replacement.
    """
    width = n - PUBLISHED_RANDOM
    inside = run(length, nearest(np.array([length // 2]), length, width), width)
    return np.flatnonzero(with_random(inside, PUBLISHED_RANDOM, stream)[0])


def nearest(centre: np.ndarray, length: int, n: int) -> np.ndarray:
    """Where the n nearest of `length` places about a centre begin; of two as near, the earlier one is in."""
    return np.clip(centre - n // 2, 0, length - n)


def run(length: int, start: np.ndarray, n: int) -> Counts:
    """1 at n places from `start` (query,) on, 0 elsewhere."""
    offset = np.arange(length) - start[:, None]
    return ((offset >= 0) & (offset < n)).astype(np.int64)


def with_random(counts: Counts, more: int, stream: np.random.Generator) -> Counts:
    """The counts with `more` further keys in each row, drawn without replacement from those not yet read."""
    order = np.where(counts > 0, np.inf, stream.random(counts.shape))
    drawn = np.argpartition(order, max(more - 1, 0), axis=1)[:, :more]
    np.put_along_axis(counts, drawn, 1, 1)
    return counts


def groups(length: int, n: int) -> np.ndarray:
    """Of each key, its group: n runs of neighbours, as even as can be."""
    return np.arange(length) * n // length


PATTERNS: dict[str, Pattern] = {
    "random": random,
    "random_shared": random_shared,
    "window": window,
    "window_random": window_random,
    "window_random_50": window_random_50,
    "global_window_random": global_window_random,
    "strided": strided,
    "dilated": dilated,
}
DRAWN = ("random", "random_shared", "window_random", "window_random_50", "global_window_random")  # differ by replicate
INDEPENDENT = ("random", "random_shared")  # keys drawn with replacement: of these a budget may exceed the sequence
SHARED = "random_shared"  # one draw for all queries: one row of counts
POOLED, ORACLE, HERDING = "pooled", "top", "herding"  # not of positions alone
NAMES = (*PATTERNS, POOLED, ORACLE, HERDING)
SMALLEST = dict.fromkeys(("window_random_50", PUBLISHED_WINDOW), PUBLISHED_RANDOM + 1)  # budget, where it is not 1


def possible(name: str, n: int, length: int) -> bool:
    """Whether a pattern has such a budget in a sequence of this length."""
    return n >= SMALLEST.get(name, 1) and (n <= length or name in INDEPENDENT)


def require_budget(name: str, n: int, length: int) -> None:
    if not possible(name, n, length):
        raise ValueError(f"pattern {name}: no budget of {n} keys in a sequence of {length}; take another size")


def attend_counts(queries: Tensor, keys: Tensor, values: Tensor, log_counts: Tensor) -> Tensor:
    """softmax(<q, k> + log c) v, (head, query, width); log_counts ([head,] query, key), -inf for a key not read."""
    mask = log_counts.expand(len(queries), queries.shape[1], keys.shape[1])
    output = functional.scaled_dot_product_attention(queries[None], keys[None], values[None], mask[None], scale=1.0)
    return output[0]


def dense(tokens: Projected) -> Tensor:
    """Attention of every token to all, in the pass of the patterns: reading every key once gives the same bits."""
    parts = [
        attend_counts(queries, tokens.keys, tokens.values, queries.new_zeros(queries.shape[1], tokens.keys.shape[1]))
        for queries in tokens.queries.split(STRIP, 1)
    ]
    return torch.cat(parts, 1)


def attend_pattern(
    name: str, tokens: Projected, sizes: list[int], stream: Callable[[int, int], np.random.Generator]
) -> list[Tensor]:
    """Attention of every token by one pattern, (head, token, width) for each budget of sizes.

    stream(n, strip) gives the random stream of a strip of queries.
    """
    if name not in NAMES:
        raise ValueError(f"pattern {name!r}: not one of {', '.join(NAMES)}")
    length = tokens.keys.shape[1]
    for n in sizes:
        require_budget(name, n, length)
    steps = max((n for n in sizes if n < length), default=0)
    order = herding(tokens.keys, tokens.values, steps) if name == HERDING else None
    strips = []
    for number, queries in enumerate(tokens.queries.split(STRIP, 1)):
        rows = 1 if name == SHARED else queries.shape[1]
        place = Place(np.arange(number * STRIP, number * STRIP + rows), length)
        if name == POOLED:
            read = (pooled(tokens, n) for n in sizes)
        elif order is not None:
            read = (taken(tokens, order[:, :n]) for n in sizes)
        elif name == ORACLE:
            read = ((tokens.keys, tokens.values, mask) for mask in top(queries @ tokens.keys.mT, sizes))
        else:
            drawn = 0 if name == SHARED else number
            counts = (PATTERNS[name](place, n, stream(n, drawn)) for n in sizes)
            read = ((tokens.keys, tokens.values, logarithm(each, queries)) for each in counts)
        strips.append([attend_counts(queries, *each) for each in read])
    return [torch.cat(parts, 1) for parts in zip(*strips, strict=True)]


def logarithm(counts: Counts, like: Tensor) -> Tensor:
    return torch.as_tensor(counts).to(like).log_()


def pooled(tokens: Projected, n: int) -> tuple[Tensor, Tensor, Tensor]:
    """Means of keys and of values over groups of neighbours, and the log of the groups' sizes, (1, group)."""
    group = groups(tokens.keys.shape[1], n)
    member = torch.as_tensor(group[None] == np.arange(n)[:, None]).to(tokens.keys)  # (group, key)
    size = member.sum(1)
    mean = member / size[:, None]
    return mean @ tokens.keys, mean @ tokens.values, size.log()[None]


def top(scores: Tensor, sizes: list[int]) -> Iterator[Tensor]:
    """0 at the n largest scores of each query and head, -inf elsewhere, for each n; of equal scores the earlier key."""
    rising = ordered(scores)
    for n in sizes:
        last = rising[..., -n, None]  # the smallest that is read
        left = scores < last
        if n < scores.shape[-1] and (rising[..., -n - 1, None] == last).any():  # equal scores, not all of them read
            equal = scores == last
            left |= equal & (equal.cumsum(-1) > n - (scores > last).sum(-1, keepdim=True))
        yield torch.zeros_like(scores).masked_fill_(left, -torch.inf)


def ordered(scores: Tensor) -> Tensor:
    """Scores of each query from the smallest to the largest."""
    return torch.as_tensor(np.sort(scores.cpu().numpy(), -1)).to(scores)  # many times as fast as torch's


def smallest_mass(scores: Tensor) -> Tensor:
    """Weight of the j + 1 smallest scores of each query, (…, key): the n largest leave out the one at L - n - 1."""
    return ordered(scores).softmax(-1).cumsum(-1, dtype=torch.float64)


def herding(keys: Tensor, values: Tensor, n: int) -> Tensor:
    """The keys of each head, (head, key), in the order taken, the same for all queries: the first n by greedy herding.

    Kernel of two tokens, keys and values centred over the block:
        K = exp(-|k - k'|^2 / (2 sqrt(width))) (<v, v'> + E|v|^2).
    That of arXiv 2502.12063 (Low-Rank Thinning, for attention) is exp(<k, k'> / sqrt(width)) (<v, v'> + max v^2); they
    halve the keys at random, again and again.  Ours: its first factor is divided by its roots at (k, k) and (k', k'),
    so that the longest keys do not outweigh all others;  keys are taken one by one, so that any n is possible and
    nothing is drawn.  The next one maximises (t + 1) mean_l K(j, l) - sum over the t taken of K(j, l) - K(j, j) / 2,
    which brings the mean feature of those taken as near to that of all keys as one more can.
    """
    keys, values = (part - part.mean(1, keepdim=True) for part in (keys, values))
    keys = keys / keys.shape[-1] ** 0.25
    level = values.square().sum(-1).mean(-1).sqrt()[:, None, None]
    values = torch.cat([values, level.expand(-1, values.shape[1], 1)], -1)  # <v, v'> + E|v|^2 is their product
    half = keys.square().sum(-1) / 2  # (head, key)

    def kernel(key: Tensor, value: Tensor) -> Tensor:
        near = (key @ keys.mT).sub_(half[:, None]).sub_(key.square().sum(-1, keepdim=True) / 2)
        return near.exp_().mul_(value @ values.mT)  # (head, row, key)

    rows = zip(keys.split(STRIP, 1), values.split(STRIP, 1), strict=True)
    mean = torch.cat([kernel(*each).mean(-1) for each in rows], 1)  # (head, key)
    gain = mean - values.square().sum(-1) / 2
    head, order = torch.arange(len(keys), device=keys.device)[:, None], []
    for _ in range(n):
        best = gain.argmax(-1, keepdim=True)
        order.append(best)
        gain += mean - kernel(keys[head, best], values[head, best])[:, 0]
        gain.scatter_(1, best, -torch.inf)
    rest = gain.argsort(-1, descending=True)[:, : gain.shape[1] - n]
    return torch.cat([*order, rest], -1)


def taken(tokens: Projected, index: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Keys and values of each head by number, (head, n), in their order in the sequence, each read once."""
    index = index.sort(-1).values[..., None]
    keys, values = (part.take_along_dim(index, 1) for part in (tokens.keys, tokens.values))
    return keys, values, keys.new_zeros(1, index.shape[1])
