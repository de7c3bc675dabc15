"""Three ways to the same moments, for the benchmark: as published, fused attention per size, and ours.

Each takes a pool of tokens, the heads and the rows drawn, and returns (mean, covariance) at each size.
"""

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from attnlimit.attention.kernel import Heads, Projected, nested_moments, output_moments, output_shift, project

CHUNK = 512  # keys at a time in the published loop


def published(tokens: np.ndarray, heads: Heads, rows: np.ndarray, sizes: list[int]) -> list:
    """Per size: gather, project, then an online softmax over chunks of keys with float16 accumulators."""
    results = []
    for size in sizes:
        sample = torch.as_tensor(tokens[rows[:size]])  # (n, feature)
        outputs = [online_softmax(*one_head(sample, *head)) for head in zip(*heads, strict=True)]
        results.append(plain_moments(torch.cat(outputs, dim=1)))
    return results


def one_head(sample: Tensor, query_weight, key_weight, value_weight, query_bias, value_bias) -> tuple:
    queries, keys, values = (sample @ torch.as_tensor(weight).T for weight in (query_weight, key_weight, value_weight))
    return (
        (queries + torch.as_tensor(query_bias)) * len(query_weight) ** -0.5,
        keys,
        values + torch.as_tensor(value_bias),
    )


def online_softmax(queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    largest = torch.full((len(queries), 1), -torch.inf)
    total = torch.zeros(len(queries), 1, dtype=torch.float16)
    output = torch.zeros(len(queries), values.shape[1], dtype=torch.float16)
    for key, value in zip(keys.split(CHUNK), values.split(CHUNK), strict=True):
        scores = queries @ key.T  # (query, key)
        larger = torch.maximum(largest, scores.amax(1, keepdim=True))
        weights, fade = (scores - larger).exp(), (largest - larger).exp()
        total = (total * fade + weights.sum(1, keepdim=True)).half()
        output = (output * fade + weights @ value).half()
        largest = larger
    return (output / total).float()


def dense(tokens: np.ndarray, heads: Heads, rows: np.ndarray, sizes: list[int]) -> list:
    """Per size: the whole matrix of scores at once, as published for Gaussian tokens."""
    results = []
    for size in sizes:
        queries, keys, values = one_head(torch.as_tensor(tokens[rows[:size]]), *(part[0] for part in heads))
        results.append(plain_moments((queries @ keys.T).softmax(1) @ values))
    return results


def fused(pool: Projected, shift: np.ndarray, rows: np.ndarray, sizes: list[int]) -> list:
    """Per size: torch's fused attention on the projected pool."""
    results = []
    for size in sizes:
        sample = pool.take(torch.as_tensor(rows[:size]))
        queries, keys, values = (part[None] for part in sample)
        output = functional.scaled_dot_product_attention(queries, keys, values, scale=1.0)[0]
        moments = output_moments(output)
        results.append((moments.mean + shift, moments.covariance))
    return results


def ours(pool: Projected, shift: np.ndarray, rows: np.ndarray, sizes: list[int]) -> list:
    """All sizes in one pass."""
    sample = pool.take(torch.as_tensor(rows[: sizes[-1]]))
    return [(moments.mean + shift, moments.covariance) for moments in nested_moments(sample, sizes)]


def plain_moments(rows: Tensor) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance as anyone would write them."""
    return rows.mean(0).numpy(), torch.cov(rows.T, correction=0).numpy()


def exact(tokens: np.ndarray, heads: Heads, rows: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """The dense formula in float64, in strips of queries."""
    sample = torch.as_tensor(tokens[rows[:size]]).double()
    outputs = []
    for head in zip(*(part.astype(np.float64) for part in heads), strict=True):
        queries, keys, values = one_head(sample, *head)
        outputs.append(torch.cat([(strip @ keys.T).softmax(1) @ values for strip in queries.split(2048)]))
    return plain_moments(torch.cat(outputs, dim=1))


def prepare(tokens: np.ndarray, heads: Heads) -> tuple[Projected, np.ndarray]:
    """The pool projected once, and the shift of its outputs."""
    centre = tokens.mean(0, dtype=np.float64)
    return project(tokens, heads, centre, "cpu", "float32"), output_shift(heads, centre)
