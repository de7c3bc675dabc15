"""Sparse attention against dense attention of the same block, at equal budgets of keys."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
import torch
import xarray as xr
from torch import Tensor

from attnlimit.attention.kernel import Projected
from attnlimit.attention.patterns import (
    DRAWN,
    ORACLE,
    PUBLISHED_WINDOW,
    STRIP,
    attend_pattern,
    dense,
    possible,
    published_tokens,
    smallest_mass,
)
from attnlimit.base.seeds import generator

STATISTICS = ("pointwise", "mean", "cov")  # of errors to dense attention: see `distances_to_dense`
MOMENTS = STATISTICS[1:]  # of the published window
TERMS = ("first", "second", "second_size")  # of the expected square of the error with independent keys
DELTAS = (0.10, 0.05)  # shares of a query's weight that keys may leave out
LEAST_SPREAD, KEYS_A_PEAK = 1.0, 10  # of the queries that the law of Gaussian scores is asked of: see `gaussian_scores`
DIMS = {  # of what is kept of a block
    "error": ("statistic", "pattern", "head", "replicate", "n"),
    "limit_scale": ("statistic", "head"),
    "expected_square": ("term", "head"),
    "length": (),
    "left_out": ("head", "n"),
    "keys_needed": ("delta", "head"),
    "keys_gaussian": ("delta", "head"),
    "score_spread": ("head",),
    "asked": ("head",),
    "published_window_error": ("moment", "head", "replicate", "n"),
}


class Reading(NamedTuple):
    """What is read of a layer, and how often it is drawn."""

    patterns: list[str]
    sizes: list[int]  # n: budgets
    replicates: int
    seed: int
    layer: int
    published_window: bool = False

    @classmethod
    def of(cls, options: dict, seed: int, layer: int) -> "Reading":
        """From the config section of measure_patterns, which names the published window among the patterns."""
        patterns = [name for name in options["patterns"] if name != PUBLISHED_WINDOW]
        sizes = options["sizes"] + options["random_sizes"]
        return cls(patterns, sizes, options["replicates"], seed, layer, PUBLISHED_WINDOW in options["patterns"])


class Outputs(NamedTuple):
    """Attention of a block and its moments, in float64."""

    output: Tensor  # (head, token, width)
    mean: Tensor  # (head, width)
    covariance: Tensor  # (head, width, width): 1/n

    @classmethod
    def of(cls, output: Tensor) -> "Outputs":
        output = output.double()
        mean = output.mean(1)
        centred = output - mean[:, None]
        return cls(output, mean, centred.mT @ centred / output.shape[1])


def chosen_blocks(block_of_token: np.ndarray, count: int, sizes: list[int]) -> list[np.ndarray]:
    """Token numbers of so many blocks, spread evenly over those that hold the largest budget.

    If the text has too few of these, over those that hold the largest budget that so many blocks do hold; and if not
    even the smallest has so many, all that hold this one.
    """
    ends = np.flatnonzero(np.diff(block_of_token, append=block_of_token[-1] + 1)) + 1
    blocks = np.split(np.arange(len(block_of_token)), ends[:-1])
    holding = {size: [tokens for tokens in blocks if len(tokens) >= size] for size in sizes}
    largest = max((size for size in sizes if len(holding[size]) >= count), default=sizes[0])
    able = holding[largest]
    if not able:
        raise ValueError(
            f"config: measure_patterns.sizes: no block of the text holds {sizes[0]} tokens, the smallest budget; "
            "lower it, or leave out chapter contexts"
        )
    return [able[place * len(able) // count] for place in range(count)] if len(able) >= count else able


def distances_to_dense(sparse: Outputs, reference: Outputs) -> np.ndarray:
    """(statistic, head): how far sparse attention is from dense attention of the same queries.

    pointwise: sqrt of the mean over queries of |y - y_dense|^2;  mean: |mean y - mean y_dense|;  cov: Frobenius norm of
    the difference of their covariances.
    """
    pointwise = (sparse.output - reference.output).square().sum(-1).mean(-1).sqrt()
    return np.concatenate([pointwise[None].cpu().numpy(), moment_distances(sparse, reference)])


def moment_distances(sparse: Outputs, reference: Outputs) -> np.ndarray:
    """(moment, head): of the mean and of the covariance, whatever the queries."""
    mean = torch.linalg.vector_norm(sparse.mean - reference.mean, dim=-1)
    covariance = torch.linalg.matrix_norm(sparse.covariance - reference.covariance)
    return torch.stack([mean, covariance]).cpu().numpy()


def published_window(tokens: Projected, reference: Outputs, block: int, reading: Reading) -> np.ndarray:
    """The published window experiment, (moment, head, replicate, n): chosen tokens are queries and keys of the moments.

    It has no error at a query, as most queries are left out: so it is no pattern like the others.  NaN where a budget
    does not hold 50 random tokens or exceeds the block.
    """
    length = tokens.keys.shape[1]
    error = np.full((len(MOMENTS), len(reference.mean), reading.replicates, len(reading.sizes)), np.nan)
    for place, n in enumerate(reading.sizes):
        for replicate in range(reading.replicates if possible(PUBLISHED_WINDOW, n, length) else 0):
            stream = streams(PUBLISHED_WINDOW, block, replicate, reading)(n, 0)
            chosen = torch.as_tensor(published_tokens(length, n, stream), device=tokens.keys.device)
            error[..., replicate, place] = moment_distances(Outputs.of(dense(tokens.take(chosen))), reference)
    return error


def scales(tokens: Projected, reference: Outputs) -> np.ndarray:
    """(statistic, head): what errors are relative to.

    pointwise, mean: sqrt(tr V Sigma V^T) over the block, by which the value of a single token misses their mean;
    cov: norm of the covariance of dense attention.
    """
    spread = tokens.values.double().var(1, correction=0).sum(-1).sqrt()
    return torch.stack([spread, spread, torch.linalg.matrix_norm(reference.covariance)]).cpu().numpy()


def expected_square(tokens: Projected) -> np.ndarray:
    """(term, head): c1 and c2 of n E|y_n - y|^2 = c1 + c2 / n + …, keys drawn independently, means over queries.

    At one query with weights w_j over L keys, u_j = L w_j, y = sum w_j v_j, X_j = u_j (v_j - y), E the mean over keys:
    y_n - y is the mean of X over the draws over that of u.  With u = 1 + (u - 1) in the denominator, to second order,
    c1 = E|X|^2,  c2 = -2 E|X|^2 (u - 1) + 3 c1 E(u - 1)^2 + 6 |E X (u - 1)|^2.
    Third, the size of c2: its three parts without their signs.  They may cancel where the series says nothing yet.
    """
    keys, values = tokens.keys.double(), tokens.values.double()
    length, square = keys.shape[1], values.square().sum(-1)  # square (head, key)
    sums = keys.new_zeros(len(TERMS), len(keys))
    for queries in tokens.queries.double().split(STRIP, 1):
        weights = (queries @ keys.mT).softmax(-1)  # (head, query, key)
        output = weights @ values
        distance = square[:, None] - 2 * output @ values.mT + output.square().sum(-1, keepdim=True)  # |v - y|^2
        first = length * (weights**2 * distance).sum(-1)  # (head, query)
        third = length**2 * (weights**3 * distance).sum(-1) - first
        spread = length * weights.square().sum(-1)  # E u^2
        coupled = length * (weights.square() @ values) - spread[..., None] * output  # E X u = E X (u - 1)
        rest = 3 * first * (spread - 1) + 6 * coupled.square().sum(-1)
        sums += torch.stack([first, rest - 2 * third, rest + 2 * third.abs()]).sum(-1)
    return (sums / length).cpu().numpy()


def top_law(tokens: Projected, sizes: list[int]) -> dict[str, np.ndarray]:
    """Of the largest scores: left_out (head, n), root mean square over queries, NaN beyond the block; `score_law`.

    Kept weights of a query sum to 1 - t.  With m the mean of the values under the kept weights and l under those left
    out, dense attention is (1 - t) m + t l and sparse attention m: the error is t |m - l|, exactly (arXiv 2512.07647).
    """
    length, sums, left = tokens.keys.shape[1], [], tokens.keys.new_zeros(1).double()
    out = torch.tensor([max(length - n, 0) for n in sizes], device=tokens.keys.device)  # keys left out
    for queries in tokens.queries.split(STRIP, 1):
        scores = queries @ tokens.keys.mT
        mass = smallest_mass(scores)
        left = left + (mass[..., out - 1] * (out > 0)).square().sum(1)  # (head, n)
        sums.append(gaussian_scores(scores, mass))
    known = np.where(np.array(sizes) <= length, 1.0, np.nan)
    return score_law(sums) | {"left_out": (left / length).sqrt().cpu().numpy() * known}


def gaussian_scores(scores: Tensor, mass: Tensor) -> dict[str, Tensor]:
    """Sums over queries, those `asked` (head,): keys_needed, keys_gaussian (delta, head), score_spread s (head,).

    keys_needed: the smallest share of the keys that holds all but delta of the weight.  If the scores of L keys are
    normal with standard deviation s, weights e^score turn their law into a normal one with its mean s^2 higher.  Scores
    above the mean + s z are the share a = 1 - Phi(z) of the keys and have Phi(s - z) of the weight; they leave out
    delta = Phi(z - s), hence z = s + z_delta and
        keys_gaussian = 1 - Phi(s + z_delta)   (arXiv 2512.07647, for L to infinity).
    Asked are queries with s of at least 1, as flatter attention needs nearly as many keys whatever the law of scores,
    and with 10 e^(s^2) at most L, as else few keys hold most of the weight: 512 normal scores then need 2 % more.
    """
    length = scores.shape[-1]
    spread = (scores - scores.mean(-1, keepdim=True)).square_().mean(-1, dtype=torch.float64).sqrt()  # (head, query)
    asked = (spread >= LEAST_SPREAD) & (KEYS_A_PEAK * (spread**2).exp() <= length)
    deltas = spread.new_tensor(DELTAS)
    out = torch.searchsorted(mass, deltas.expand(*mass.shape[:-1], -1).contiguous(), right=True)  # mass <= delta
    needed = 1 - out.double().movedim(-1, 0) / length  # (delta, head, query)
    quantile = torch.special.ndtri(deltas)[:, None, None]
    gaussian = torch.special.ndtr(-spread - quantile)
    means = {"keys_needed": needed, "keys_gaussian": gaussian, "score_spread": spread}
    sums = {name: (each * asked).sum(-1) for name, each in means.items()}
    return sums | {"asked": asked.sum(-1), "queries": torch.full_like(asked.sum(-1), asked.shape[-1])}


def score_law(sums: list[dict[str, Tensor]]) -> dict[str, np.ndarray]:
    """From sums over some queries each, means over all that are asked, NaN if none is; and `asked`, their share."""
    law = {name: torch.stack([part[name] for part in sums]).sum(0).cpu().numpy() for name in sums[0]}
    queries, asked = law.pop("queries"), law.pop("asked")
    with np.errstate(invalid="ignore"):
        return {name: total / asked for name, total in law.items()} | {"asked": asked / queries}


def block_errors(tokens: Projected, block: int, reading: Reading) -> dict[str, np.ndarray]:
    """Of one block: error (statistic, pattern, head, replicate, n), limit_scale (statistic, head), expected_square.

    NaN where a pattern has no such budget.  A pattern that draws nothing has the same error in every replicate.
    """
    reference, length = Outputs.of(dense(tokens)), tokens.keys.shape[1]
    shape = (len(STATISTICS), len(reading.patterns), len(reference.mean), reading.replicates, len(reading.sizes))
    error = np.full(shape, np.nan)
    for row, name in enumerate(reading.patterns):
        places = [place for place, n in enumerate(reading.sizes) if possible(name, n, length)]
        sizes = [reading.sizes[place] for place in places]
        for replicate in range(reading.replicates if name in DRAWN else 1):
            outputs = attend_pattern(name, tokens, sizes, streams(name, block, replicate, reading))
            drawn = slice(replicate, replicate + 1) if name in DRAWN else slice(None)
            for place, output in zip(places, outputs, strict=True):
                error[:, row, :, drawn, place] = distances_to_dense(Outputs.of(output), reference)[..., None]
    kept = {"error": error, "limit_scale": scales(tokens, reference), "expected_square": expected_square(tokens)}
    if ORACLE in reading.patterns:
        kept |= top_law(tokens, reading.sizes)
    if reading.published_window:
        kept["published_window_error"] = published_window(tokens, reference, block, reading)
    return kept


def streams(name: str, block: int, replicate: int, reading: Reading) -> Callable[[int, int], np.random.Generator]:
    """By budget and strip of queries: a budget, block or pattern more leaves the others as they are."""
    address = reading.layer, block, replicate
    return lambda n, strip: generator(reading.seed, f"measure_patterns {name}", *address, n, strip)


def layer_errors(blocks: Iterable[tuple[int, Projected]], reading: Reading) -> xr.Dataset:
    """Errors of the blocks of one layer, by number."""
    numbers, kept = [], []
    for block, tokens in blocks:
        numbers.append(block)
        kept.append(block_errors(tokens, block, reading) | {"length": np.array(tokens.keys.shape[1])})
    order = ("moment", "delta", "statistic", "pattern", "term", "head", "block", "replicate", "n")
    dataset = stacked(kept).transpose(*order, missing_dims="ignore")
    dataset = dataset.assign_coords(moment=list(MOMENTS)) if reading.published_window else dataset
    return dataset.assign_coords(
        statistic=list(STATISTICS),
        pattern=reading.patterns,
        term=list(TERMS),
        head=range(dataset.sizes["head"]),
        block=numbers,
        replicate=range(reading.replicates),
        n=reading.sizes,
        layer=reading.layer,
    )


def stacked(kept: list[dict[str, np.ndarray]]) -> xr.Dataset:
    """Variables of blocks, along dimension block."""
    joined = {name: (("block", *DIMS[name]), np.stack([block[name] for block in kept])) for name in kept[0]}
    dataset = xr.Dataset(joined)
    return dataset.assign_coords(delta=list(DELTAS)) if "delta" in dataset.dims else dataset
