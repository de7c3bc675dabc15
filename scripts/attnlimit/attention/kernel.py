"""The streaming-softmax kernel: attention over many tokens, of which only moments are kept.

One head maps a token x to Gamma(x) = sum_i w_i v_i, w = softmax_i(<q(x), k_i>). Keys come in segments; the output
over all segments so far follows from the output over each one and its log-sum-exp, exactly. The same pass serves

- a sample at nested sizes n_1 < n_2 < …: at n_j the queries so far attend to the new keys, the new queries to all keys
  so far. That gives the output on the first n_j tokens, so every size comes at the cost of the largest;
- the limit: queries attend to all tokens, read in blocks (`streaming.py`).
"""

import math
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from attnlimit.attention.products import product
from attnlimit.base.parts import cuts
from attnlimit.theory.moments import Moments

QUERIES, KEYS = 1024, 512  # of a tile on the CPU, see tile_side
ROWS_PER_SUM = 1024
PANEL = 128  # features
PLAIN_BYTES = 2**28


class Heads(NamedTuple):
    """The projections of one attention layer, one row block a head."""

    query_weight: np.ndarray  # (head, width, feature)
    key_weight: np.ndarray  # (head, width, feature)
    value_weight: np.ndarray  # (head, width, feature)
    query_bias: np.ndarray  # (head, width)
    value_bias: np.ndarray  # (head, width)

    @classmethod
    def of(cls, layer) -> "Heads":
        """From one layer of the store that fetch_model writes."""
        return cls(**{name: layer[name].values for name in cls._fields})


class Projected(NamedTuple):
    """Tokens as attention sees them."""

    queries: Tensor  # (head, token, width), scaled by 1/sqrt(width)
    keys: Tensor  # (head, token, width)
    values: Tensor  # (head, token, width)

    def take(self, index: Tensor) -> "Projected":
        return Projected(*(part[:, index] for part in self))


class Segment(NamedTuple):
    """A run of keys and their values. A key that stands for c equal tokens has log c added to its scores."""

    keys: Tensor  # (head, key, width)
    values: Tensor  # (head, key, width)
    log_counts: Tensor | None = None  # (key,)


class State(NamedTuple):
    """Attention to the keys absorbed so far."""

    output: Tensor  # (head, query, width)
    total: Tensor  # (head, query): log-sum-exp of the scores

    def first(self, queries: int) -> "State":
        """That of the first queries: a view."""
        return State(self.output[:, :queries], self.total[:, :queries])


def choose_device(wanted: str) -> str:
    """`auto` is a CUDA GPU where there is one, else the CPU. TF32 stays off: it would round scores to 10 bits."""
    torch.set_float32_matmul_precision("highest")
    present = "cuda" if torch.cuda.is_available() else "cpu"
    if wanted == "cuda" != present:
        raise ValueError("config: device: cuda, but torch sees no CUDA GPU here; use auto or cpu")
    return present if wanted == "auto" else wanted


def project(tokens: np.ndarray, heads: Heads, centre: np.ndarray, device: str, dtype: str) -> Projected:
    """Queries, keys and values of tokens (token, feature)."""
    queries = project_queries(tokens, heads, centre, device, dtype)
    return Projected(queries, *project_keys(tokens, heads, centre, device, dtype))


def project_queries(tokens: np.ndarray, heads: Heads, centre: np.ndarray, device: str, dtype: str) -> Tensor:
    """(W_q x + b_q) / sqrt(width), (head, token, width)."""
    require_finite("query_bias", heads.query_bias)
    queries = project_centred(tokens, heads.query_weight, "query_weight", centre, device, dtype)
    bias = heads.query_bias + heads.query_weight.astype(np.float64) @ centre  # (head, width)
    queries += torch.as_tensor(bias[:, None], dtype=queries.dtype, device=device)
    queries.mul_(heads.query_weight.shape[1] ** -0.5)
    require_moderate("query_weight", queries)
    return queries


def project_keys(
    tokens: np.ndarray, heads: Heads, centre: np.ndarray, device: str, dtype: str
) -> tuple[Tensor, Tensor]:
    """Keys and values of x - centre, (head, token, width) each.

    A shift of all keys adds one constant to all scores of a query, which the softmax forgets (so does the key bias,
    left out for that reason); a shift of all values shifts the output, which `output_shift` gives back. Small keys
    and values are what keeps float32 exact: real tokens have a mean far larger than their spread.
    """
    require_finite("value_bias", heads.value_bias)
    weights = {"key_weight": heads.key_weight, "value_weight": heads.value_weight}
    keys, values = (project_centred(tokens, weight, name, centre, device, dtype) for name, weight in weights.items())
    return keys, values


def project_centred(
    tokens: np.ndarray, weight: np.ndarray, name: str, centre: np.ndarray, device: str, dtype: str
) -> Tensor:
    """W (x - centre) for the weight (head, width, feature) of that name, contiguous (head, token, width)."""
    require_finite("tokens", tokens)
    require_finite(name, weight)
    if tokens.shape[-1] != weight.shape[-1]:
        raise ValueError(
            f"{name}: for {weight.shape[-1]} features, but the tokens have {tokens.shape[-1]}: "
            "they come from two models; delete results/embeddings and run again"
        )
    kind = {"dtype": getattr(torch, dtype), "device": device}
    centred, matrix = torch.as_tensor(tokens - centre, **kind), torch.as_tensor(weight, **kind)
    projected = torch.einsum("tf,hwf->htw", centred, matrix).contiguous()
    require_moderate(name, projected)
    return projected


def require_moderate(name: str, projected: Tensor) -> None:
    """Refuse what would make a score overflow: |<q, k>| <= width max|q| max|k|, and half of that is left for sums.

    Here, not in the scores: fused attention on the CPU gives 0, not NaN, to a query whose scores are all infinite.
    """
    limits = torch.finfo(projected.dtype)
    largest = torch.linalg.vector_norm(projected, float("inf"))  # NaN if any number is
    if not largest <= (limits.max / 2 / projected.shape[-1]) ** 0.5:
        raise ValueError(
            f"{name}: its product with the tokens overflows {limits.dtype}, or scores made of it do; "
            "set dtype: float64, or take smaller weights"
        )


def require_finite(name: str, array: np.ndarray) -> None:
    """Refuse an array by its name: fused attention on the CPU turns NaN into finite numbers."""
    if not np.isfinite(array).all():
        raise ValueError(f"{name}: holds NaN or infinite values")


def output_shift(heads: Heads, centre: np.ndarray) -> np.ndarray:
    """What `project` took out of the output of every head: W_v centre + b_v, heads concatenated."""
    return (heads.value_weight.astype(np.float64) @ centre + heads.value_bias).ravel()  # (feature,)


def log_counts(counts: np.ndarray, keys: Tensor) -> Tensor | None:
    """For a Segment of these keys: log c, or nothing where every key stands for one token, which saves a pass."""
    return None if (counts == 1).all() else torch.as_tensor(np.log(counts)).to(keys)


def attend(queries: Tensor, segment: Segment) -> State:
    """Softmax attention of queries (head, query, width) to one segment of keys, and its log-sum-exp.

    One fused pass where torch has one that returns the log-sum-exp; out of memory, the queries are halved.
    """
    if segment.keys.shape[1] == 0:
        raise ValueError("attention: no keys to attend to; give a segment of one token at least")
    kernel = FUSED.get((queries.device.type, queries.dtype), attend_plain)
    state = None
    try:
        state = kernel(queries, segment)
    except torch.OutOfMemoryError:
        if queries.shape[1] < 2:
            raise
    if state is None:  # halved here, not in the except: there the error still holds the tensors of the failed pass
        half = queries.shape[1] // 2
        states = [attend(part, segment) for part in (queries[:, :half], queries[:, half:])]
        return State(*(torch.cat(parts, dim=1) for parts in zip(*states, strict=True)))
    if not torch.isfinite(state.total).all():  # the softmax of an infinite score is NaN
        raise ValueError(f"attention: scores overflow {queries.dtype}; set dtype: float64, or take smaller weights")
    return state


def attend_cpu(queries: Tensor, segment: Segment) -> State:
    """Head by head and tile by tile, in powers of 2: torch has them several times as fast as those of e."""
    keys, values, logs = segment
    logs = None if logs is None else logs / math.log(2)
    scaled = queries / math.log(2)
    output, total = queries.new_empty(*queries.shape[:2], values.shape[2]), queries.new_empty(queries.shape[:2])
    for head in range(len(queries)):
        for rows in cuts(queries.shape[1], tile_side(QUERIES, KEYS, keys.shape[1])):
            output[head, rows], total[head, rows] = online_softmax(scaled[head, rows], keys[head], values[head], logs)
    return State(output, total.mul_(math.log(2)))


def online_softmax(queries: Tensor, keys: Tensor, values: Tensor, bias: Tensor | None) -> tuple[Tensor, Tensor]:
    """sum_i 2^s_i v_i / sum_i 2^s_i for scores s_i = <q, k_i> + bias_i, and log2 sum_i 2^s_i, a tile of keys at a time.

    Each tile's sums are about the largest score so far: none overflows.
    """
    largest, below = queries.new_full((len(queries), 1), -torch.inf), queries.new_zeros(len(queries), 1)
    above = queries.new_zeros(len(queries), values.shape[1])
    for tile in cuts(len(keys), tile_side(KEYS, QUERIES, len(queries))):
        scores = product(queries, keys[tile].T, None if bias is None else bias[tile])  # (query, key)
        larger = torch.maximum(largest, scores.amax(1, keepdim=True))
        weights, fade = scores.sub_(larger).exp2_(), (largest - larger).exp2_()
        below.mul_(fade).add_(weights.sum(1, keepdim=True))
        above.mul_(fade).add_(product(weights, values[tile]))
        largest = larger
    return above.div_(below), below.log2_().add_(largest)[:, 0]


def tile_side(side: int, other: int, there: int) -> int:
    """Of a tile of side x other scores, which stay in the cache; longer where fewer than `other` are there."""
    return side * other // min(other, there)


def attend_cuda(queries: Tensor, segment: Segment) -> State:
    """The kernel wants widths that are multiples of 8, and returns the log-sum-exp in whole tiles."""
    parts = counts_as_coordinate(queries, segment)
    batch = [functional.pad(part, (0, -part.shape[-1] % 8))[None] for part in parts]
    output, total, *_ = torch.ops.aten._scaled_dot_product_efficient_attention(*batch, None, True, scale=1.0)
    return State(output[0, ..., : queries.shape[-1]], total[0, :, : queries.shape[1]])


def attend_plain(queries: Tensor, segment: Segment) -> State:
    """The formula itself, a few queries at a time: for a device or precision without a fused kernel."""
    queries, keys, values = counts_as_coordinate(queries, segment)
    rows = max(1, free_bytes(queries.device) // (4 * len(keys) * keys.shape[1] * keys.itemsize))
    states = []
    for part in queries.split(rows, dim=1):
        scores = part @ keys.mT  # (head, query, key)
        total = scores.logsumexp(-1)
        states.append(State((scores - total[..., None]).exp_() @ values, total))
    output, total = (torch.cat(parts, dim=1) for parts in zip(*states, strict=True))
    return State(output[..., : segment.values.shape[-1]], total)


def counts_as_coordinate(queries: Tensor, segment: Segment) -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values, with log c added to the scores by one more coordinate: 1 in queries, log c in keys."""
    if segment.log_counts is None:
        return queries, segment.keys, segment.values
    ones, zeros = queries.new_ones(*queries.shape[:2], 1), segment.values.new_zeros(*segment.values.shape[:2], 1)
    logs = segment.log_counts[None, :, None].expand(len(queries), -1, 1)
    pairs = [(queries, ones), (segment.keys, logs), (segment.values, zeros)]
    queries, keys, values = (torch.cat(pair, dim=-1) for pair in pairs)
    return queries, keys, values


def free_bytes(device: torch.device) -> int:
    """What a pass may fill: most of the free memory of a GPU, elsewhere a fixed share."""
    return torch.cuda.mem_get_info(device)[0] * 3 // 4 if device.type == "cuda" else PLAIN_BYTES


FUSED = {
    ("cpu", torch.float32): attend_cpu,
    ("cpu", torch.float64): attend_cpu,
    ("cuda", torch.float32): attend_cuda,
}


def absorb(state: State | None, queries: Tensor, segment: Segment) -> State:
    """Attention of queries to all segments absorbed so far, from that to the earlier ones and to this one.

    With L the log-sum-exp and O the output so far, l and o those of the new segment:
    L' = log(e^L + e^l),  O' = O e^(L - L') + o e^(l - L').  The old state is overwritten.
    """
    new = attend(queries, segment)
    if state is None:
        return new
    total = torch.logaddexp(state.total, new.total)
    state.output.mul_((state.total - total).exp_()[..., None])
    state.output.addcmul_(new.output, (new.total - total).exp_()[..., None])
    state.total[:] = total
    return state


def nested_moments(sample: Projected, sizes: list[int]) -> Iterator[Moments]:
    """Moments of self-attention on the first n tokens of a sample, for each n of sizes, smallest first."""
    tokens = sample.keys.shape[1]
    if not all(low < high for low, high in pairwise([0, *sizes, tokens + 1])):
        raise ValueError(f"sizes {sizes}: must grow, from 1 up to the {tokens} tokens of the sample")
    queries, keys, values = (part[:, : sizes[-1]] for part in sample)
    state = State(torch.empty_like(values), queries.new_empty(queries.shape[:2]))
    for start, size in pairwise([0, *sizes]):
        fresh = attend(queries[:, start:size], Segment(keys[:, :size], values[:, :size]))
        state.output[:, start:size], state.total[:, start:size] = fresh
        if start:
            absorb(state.first(start), queries[:, :start], Segment(keys[:, start:size], values[:, start:size]))
        yield output_moments(state.output[:, :size])


def limit_states(blocks: list[Tensor], segments: Iterable[Segment]) -> list[State]:
    """Attention of each block of queries to all segments of keys: memory holds the blocks and one segment."""
    states: list[State] = []
    for segment in segments:
        before: list[State | None] = [*states] or [None] * len(blocks)
        states = [absorb(state, queries, segment) for state, queries in zip(before, blocks, strict=True)]
    return states


def output_moments(output: Tensor, counts: Tensor | None = None) -> Moments:
    """Moments of the outputs of all heads side by side, each row counted `counts` times (once by default).

    A product of a few rows is taken in the output's own precision, sums of products in float64: as exact as the
    rows themselves, at half the cost. Of the products, which are symmetric, only panels from the diagonal on are taken.
    """
    columns = output.mT.flatten(0, 1)  # (feature, query)
    numbers = columns.new_ones(columns.shape[1]) if counts is None else counts.to(columns)
    parts = list(zip(columns.split(ROWS_PER_SUM, 1), numbers.split(ROWS_PER_SUM), strict=True))
    count = numbers.double().sum()
    mean = sum(part.double() @ weights.double() for part, weights in parts) / count  # (feature,)
    rounded = mean.to(columns.dtype)
    scatter, panels = mean.new_zeros(len(mean), len(mean)), cuts(len(mean), PANEL)  # (feature, feature)
    for part, weights in parts:
        right = part - rounded[:, None]
        left = right if counts is None else right * weights
        for panel in panels:
            scatter[panel, panel.start :].add_(product(left[panel], right[panel.start :].T))
    for panel in panels:
        scatter[panel, panel] = (scatter[panel, panel] + scatter[panel, panel].T) / 2
        scatter[panel.stop :, panel] = scatter[panel, panel.stop :].T
    rest = mean - rounded
    scatter -= count * torch.outer(rest, rest)
    if not torch.isfinite(scatter.diagonal()).all():  # no other product is larger than the larger of two squares
        raise ValueError(
            f"attention: squares of the outputs overflow {columns.dtype}; set dtype: float64, or take smaller weights"
        )
    return Moments(float(count), mean.cpu().numpy(), scatter.cpu().numpy())


def fourth_moment(output: Tensor, counts: Tensor, mean: np.ndarray) -> np.ndarray:
    """Sum of |y - mean|^4 over the outputs of each head and, last, of all heads side by side: (head + 1,).

    It gives the standard error of a covariance estimated from some of the queries. Summed over blocks, each about its
    own mean, it is slightly small.
    """
    centre = torch.as_tensor(mean, device=output.device).view(len(output), 1, -1)
    squares = (output.double() - centre).square().sum(-1)  # (head, query)
    squares = torch.cat([squares, squares.sum(0, keepdim=True)])
    return (squares.square() @ counts.double()).cpu().numpy()
