"""How many keys of its context does a query need?  One layer of attention as its scores see it, on all keys or on some.

Dense weights p_ij = softmax_j <q_i, k_j> scaling over the keys that query i may read: all up to i if causal, else all.
A protocol keeps the keys F_i for certain; the m_i others are the stratum S_i, from which n keys are drawn uniformly
with replacement, for each query its own, one draw for all heads. A kept key weighs 1, each draw m_i / n:

    o_n = [sum_F e^s v + (m/n) sum_t e^{s_t} v_t] / [sum_F e^s + (m/n) sum_t e^{s_t}].

Numerator and denominator are unbiased, and n to infinity is the dense output o, exactly.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch

from attnlimit.attention.key_protocols import PLAIN
from attnlimit.base.parts import cuts

QUERIES_AT_ONCE = 64  # so that memory grows with the context, not with its square


class Kept(NamedTuple):
    """How many keys a protocol keeps for certain, where it keeps such."""

    first: int
    last: int  # the query's own among them
    heavy: int

    @property
    def budget(self) -> int:
        """Keys that `sink_recent` keeps: PLAIN protocols read as many more than n, and are then as expensive."""
        return self.first + self.last

    def by_protocol(self) -> dict[str, int]:
        """Keys that a query reads besides n."""
        both = dict.fromkeys(("sink_recent", "reservoir", *PLAIN), self.budget)
        return both | {"uniform": 0, "sink": self.first, "recent": self.last, "heavy_recent": self.heavy + self.last}


class Attention(NamedTuple):
    """One layer on one text, as the scores see it: rotated where the model rotates, keys and values once a group."""

    queries: torch.Tensor  # (head, query, width)
    keys: torch.Tensor  # (kv_head, key, width)
    values: torch.Tensor  # (kv_head, key, width)
    scaling: float
    causal: bool

    @classmethod
    def of(cls, queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, scaling: float, causal: bool):
        """Refuses heads without whole groups, and numbers that are not finite."""
        heads, groups = len(queries), len(keys)
        if heads % groups or keys.shape != values.shape:
            raise ValueError(f"{heads} heads are no multiple of {groups} KV heads; take a model with whole groups")
        for name, tensor in (("queries", queries), ("keys", keys), ("values", values)):
            if not torch.isfinite(tensor).all():
                raise ValueError(f"{name} are not finite; check the model's weights and the text")
        return cls(queries, keys, values, scaling, causal)

    @property
    def group(self) -> int:
        """Heads that share a KV head."""
        return len(self.queries) // len(self.keys)

    def first(self, context: int) -> "Attention":
        """The same layer on the first tokens of the text: exact where attention is causal."""
        queries, keys, values = (each[:, :context] for each in self[:3])
        return self._replace(queries=queries, keys=keys, values=values)

    def up_to(self, places: torch.Tensor) -> "Attention":
        """The same layer without the keys that none of these queries may read."""
        last = int(places.max()) + 1 if self.causal else self.keys.shape[1]
        return self._replace(keys=self.keys[:, :last], values=self.values[:, :last])

    def scores(self, places: torch.Tensor, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        """Of the queries at these places, (head, query, key); -inf where a query may not read."""
        chosen = self.queries[:, places].to(dtype) * self.scaling
        scores = self.grouped(chosen) @ self.keys.to(dtype).mT  # (kv_head, group * query, key)
        scores = scores.view(len(self.queries), len(places), -1)
        return scores.masked_fill_(~self.readable(places), -torch.inf)

    def mix(self, weights: torch.Tensor) -> torch.Tensor:
        """Values averaged by weights (head, query, key): (head, query, width)."""
        mixed = self.grouped(weights) @ self.values.to(weights.dtype)
        return mixed.view(*weights.shape[:2], -1)

    def grouped(self, rows: torch.Tensor) -> torch.Tensor:
        """(head, query, …) as (kv_head, group * query, …): nothing is copied for each head of a group."""
        return rows.reshape(len(self.keys), self.group * rows.shape[1], rows.shape[2])

    def readable(self, places: torch.Tensor) -> torch.Tensor:
        """Keys that queries may read, (1, query, key)."""
        number = torch.arange(self.keys.shape[1], device=self.keys.device)
        limit = places if self.causal else torch.full_like(places, len(number) - 1)
        return (number <= limit[:, None])[None]

    def nearest(self, places: torch.Tensor, count: int) -> torch.Tensor:
        """The keys nearest to each query, its own among them, (1, query, key): if causal, the last ones up to it."""
        number = torch.arange(self.keys.shape[1], device=self.keys.device)
        last = places if self.causal else (places + count // 2).clamp(min=count - 1, max=len(number) - 1)
        return ((number <= last[:, None]) & (number > last[:, None] - count))[None]


class Stratum(NamedTuple):
    """Which keys of each query are kept, and from which others it draws."""

    kept: torch.Tensor  # (head or 1, query, key)
    others: torch.Tensor  # (head or 1, query, key)
    size: torch.Tensor  # (query,): m, the same for all heads


def even_places(context: int, count: int) -> np.ndarray:
    """Places of at most `count` queries, evenly spaced over the last half of a context up to its end, (query,)."""
    half = context // 2
    count = min(count, half)
    return context - 1 - (np.arange(count) * half // count)[::-1]


def stratum(
    protocol: str, layer: Attention, places: torch.Tensor, kept: Kept, received: torch.Tensor | None = None
) -> Stratum:
    """What a protocol keeps; `heavy_recent` needs what keys received before, see `received_weights`."""
    readable = layer.readable(places)
    mask = torch.zeros_like(readable)
    if "sink" in protocol or protocol == "reservoir":
        mask[..., : kept.first] = True
    if "recent" in protocol or protocol == "reservoir":
        mask = mask | layer.nearest(places, kept.last)
    mask = mask & readable
    if protocol == "heavy_recent":
        if received is None:
            raise ValueError("heavy_recent: without the weights that keys received before")
        eligible = received.masked_fill(mask | ~readable, -1.0)  # (head, query, key)
        heaviest = eligible.topk(min(kept.heavy, eligible.shape[-1]), dim=-1).indices
        mask = mask.expand(eligible.shape).scatter(-1, heaviest, True) & readable
    others = readable & ~mask
    return Stratum(mask, others, others[0].sum(-1))


def received_weights(layer: Attention, places: torch.Tensor) -> torch.Tensor:
    """Dense weight that each key got from earlier queries, of all if not causal: (head, place, key).

    One pass over all queries serves any places; of a causal layer also those of shorter contexts, its first tokens.
    """
    heads, queries, keys = len(layer.queries), layer.queries.shape[1], layer.keys.shape[1]
    running = torch.zeros(heads, keys, dtype=torch.float64, device=layer.keys.device)
    found = torch.zeros(heads, len(places), keys, device=layer.keys.device)
    for cut in cuts(queries, QUERIES_AT_ONCE):
        block = torch.arange(cut.start, cut.stop, device=places.device)
        part = layer.up_to(block)
        weights, read = torch.softmax(part.scores(block), -1), slice(part.keys.shape[1])  # (head, query, key)
        inside = ((places >= cut.start) & (places < cut.stop)).nonzero()[:, 0]
        if layer.causal and len(inside):
            earlier = (block < places[inside, None]).float()  # (place, query): of the block
            found[:, inside, read] = (running[:, None, read] + earlier @ weights).float()
        running[:, read] += weights.sum(1)
    return found if layer.causal else running.float()[:, None].expand_as(found)


def drawn_weights(from_stratum: Stratum, uniforms: torch.Tensor) -> torch.Tensor:
    """1 for a kept key, m / n for each draw of another: (head or 1, query, key).

    uniforms (query, n) in [0, 1): draw t of query i takes the key of rank floor(u m_i) in its stratum; heads that keep
    other keys take the same rank in theirs.
    """
    kept, others, count = from_stratum
    n = uniforms.shape[1]
    ranks = (uniforms * count[:, None]).long()  # (query, n); of an empty stratum 0, which no key has
    times = torch.zeros(others.shape[1:], device=others.device)
    times.scatter_add_(1, ranks, torch.ones(ranks.shape, device=others.device))  # (query, rank)
    rank = (others.cumsum(-1) - 1).clamp(min=0)
    drawn = times.expand(others.shape).gather(-1, rank) * others
    return kept + drawn * (count[:, None] / n)


def reservoir_weights(from_stratum: Stratum, tags: torch.Tensor, n: int) -> torch.Tensor:
    """1 for a kept key, m / n for each of n others that a cache holds: one sample, carried from query to query.

    Each key has a tag, uniform and its own, and those with the n smallest tags among the keys so far stay. A new key
    enters with probability n / m and a uniformly random one leaves: the law of Vitter's Algorithm R.
    """
    kept, others, count = from_stratum
    tagged = tags.expand(others.shape).masked_fill(~others, torch.inf)
    last = min(n, others.shape[-1])
    limit = tagged.topk(last, dim=-1, largest=False).values[..., -1:]
    held = others & (tagged <= limit)
    return kept + held * (count[:, None] / count.clamp(min=1, max=n)[:, None])


def chosen_weights(
    protocol: str, layer: Attention, places: torch.Tensor, scores: torch.Tensor, n: int, kept: Kept
) -> torch.Tensor:
    """Nothing is drawn, and each of n + kept.budget keys weighs 1.

    `window`: the nearest;  `sink_window`: the first ones and, for the rest, the nearest;  `top`: the largest scores.
    """
    keys = n + kept.budget
    if protocol in ("window", "sink_window"):
        first = kept.first if protocol == "sink_window" else 0
        mask = layer.nearest(places, keys - first)
        mask[..., :first] = True
        return (mask & layer.readable(places)).float()
    if keys >= scores.shape[-1]:
        return layer.readable(places).float()
    least = scores.topk(keys, dim=-1).values[..., -1:]  # -inf where a query reads fewer
    return ((scores >= least) & layer.readable(places)).float()


def weighted_output(layer: Attention, scores: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """sum_j w_j e^{s_j} v_j / sum_j w_j e^{s_j}: (head, query, width)."""
    return layer.mix(torch.softmax(scores + weights.log(), -1))


def uniforms(stream: np.random.Generator, queries: int, n: int, device: torch.device) -> torch.Tensor:
    """The draws of queries, (query, n): those of a smaller n are the first of a larger one."""
    return torch.as_tensor(stream.random((n, queries)).T, device=device)


class FirstOrder(NamedTuple):
    """Exact first order of the error of n draws, for each head and query (head, query).

    c1: E |o_n - o|^2 = c1 / n + …, c1 = m sum_S p^2 |v - o|^2 - |sum_S p (v - o)|^2;
    second_moment: E u^2 = m sum_S p^2: the first order may be used from n well above it on.
    """

    c1: torch.Tensor
    second_moment: torch.Tensor


class Dense(NamedTuple):
    """Dense attention of some queries in float64."""

    weights: torch.Tensor  # p (head, query, key)
    output: torch.Tensor  # o (head, query, width)
    distances: torch.Tensor  # |v_j - o_i|^2 (head, query, key)

    @classmethod
    def of(cls, layer: Attention, places: torch.Tensor) -> "Dense":
        """Values are centred first: |v - o|^2 is a difference of squares."""
        values = layer.values.double()
        centre = values.mean(1, keepdim=True)  # (kv_head, 1, width)
        centred = layer._replace(values=values - centre)
        weights = torch.softmax(layer.scores(places, torch.float64), -1)
        output = centred.mix(weights)
        products = (layer.grouped(output) @ centred.values.mT).view(weights.shape)
        squares = centred.values.square().sum(-1).repeat_interleave(layer.group, 0)[:, None]  # (head, 1, key)
        distances = (squares - 2 * products + output.square().sum(-1, keepdim=True)).clamp_(min=0)
        return cls(weights, output + centre.repeat_interleave(layer.group, 0), distances)

    def first_order(self, layer: Attention, drawn_from: Stratum) -> FirstOrder:
        count = drawn_from.size.double()  # (query,)
        inside = self.weights * drawn_from.others
        squares = inside.square()
        pull = layer.mix(inside) - inside.sum(-1, keepdim=True) * self.output  # sum_S p (v - o)
        c1 = count * (squares * self.distances).sum(-1) - pull.square().sum(-1)
        return FirstOrder(c1.clamp_(min=0), count * squares.sum(-1))


def blocks(places: np.ndarray, device: torch.device) -> Iterator[tuple[slice, torch.Tensor]]:
    """Queries in fixed blocks: where they stand in the list, and their places in the text."""
    for cut in cuts(len(places), QUERIES_AT_ONCE):
        yield cut, torch.as_tensor(places[cut], device=device)


def value_spread(layer: Attention) -> torch.Tensor:
    """S = sqrt(tr Cov v) over the keys, of each head (head,): what errors are relative to."""
    variance = layer.values.double().var(1, correction=0).sum(-1)
    if not (variance > 0).all():
        raise ValueError("the values of a head are the same at every token; its errors have no scale")
    return variance.sqrt().repeat_interleave(layer.group)


def attend(
    layer: Attention, protocol: str, n: int, kept: Kept, stream: np.random.Generator | None = None
) -> torch.Tensor:
    """The output of all queries under a protocol that carries nothing from query to query: (head, query, width)."""
    outputs = []
    for _, places in blocks(np.arange(layer.queries.shape[1]), layer.keys.device):
        part = layer.up_to(places)
        scores = part.scores(places)
        if protocol in PLAIN:
            weights = chosen_weights(protocol, part, places, scores, n, kept)
        else:
            if stream is None:
                raise ValueError(f"{protocol}: a sample needs a random stream")
            draws = uniforms(stream, len(places), n, layer.keys.device)
            weights = drawn_weights(stratum(protocol, part, places, kept), draws)
        outputs.append(weighted_output(part, scores, weights))
    return torch.cat(outputs, 1)
