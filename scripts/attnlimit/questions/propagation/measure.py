"""What an error of attention becomes in the layers after it: blocks of text read with keys drawn in all layers, or one.

The dense model is the exact limit: keys are drawn from the block itself, with replacement. Errors are of the states
after a whole layer, its residual, norms and feed-forward included.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import torch
import xarray as xr
from transformers import PreTrainedModel

from attnlimit.base.parts import REPLICATES_AT_ONCE, cuts
from attnlimit.base.seeds import generator
from attnlimit.sources.model.drawn_keys import dense_states, draw_counts, drawn_states

STATISTICS = ("mean", "cov", "pointwise")  # pointwise: root mean square over tokens


class Draws(NamedTuple):
    """The draws of a block: the same keys for all queries and heads of a layer, in both regimes alike."""

    sizes: list[int]  # n, increasing
    single_sizes: list[int]  # those of them at which one layer is also drawn alone
    replicates: int
    replacement: bool
    seed: int

    def counts(self, tokens: int, block: int, layer: int, n: int) -> np.ndarray:
        """(replicate, key): independent over blocks, replicates, layers and sizes.

        The same for a layer drawn alone as for all drawn at once: their difference is then less noisy than each.
        """
        streams = [generator(self.seed, "measure_propagation", block, r, layer, n) for r in range(self.replicates)]
        return np.stack([draw_counts(tokens, n, self.replacement, stream) for stream in streams])


class Dense(NamedTuple):
    """The dense states after one layer, with their moments, and the scale of each statistic's error."""

    states: torch.Tensor  # (token, feature)
    mean: torch.Tensor  # (feature,)
    covariance: torch.Tensor  # (feature, feature)
    scale: np.ndarray  # (statistic,)


def chosen_blocks(block_of_token: np.ndarray, page_id: np.ndarray, blocks: int, shortest: int) -> list[int]:
    """Numbers of at most so many blocks of at least `shortest` tokens, of as many articles as there are.

    First one block of each article, in the corpus's order, which is random, then a second one, …: blocks of one
    article resemble each other, and an interval over them would be too narrow.
    """
    full = np.flatnonzero(np.bincount(block_of_token, minlength=len(page_id)) >= shortest)
    if len(full) < 2:
        raise ValueError(
            f"measure_propagation: {len(full)} blocks of at least {shortest} tokens, an interval needs 2; raise "
            "tokenize_corpus.population, or lower measure_propagation.shortest"
        )
    before = [int((page_id[full[:place]] == page_id[number]).sum()) for place, number in enumerate(full)]
    return sorted(full[np.argsort(before, kind="stable")][:blocks].tolist())


def dense_layer(states: torch.Tensor) -> Dense:
    """Scales: sqrt(mean |h - mean h|^2), the spread of the states, for mean and pointwise; for cov its norm."""
    mean = states.mean(0)
    centred = states - mean
    covariance = centred.T @ centred / len(states)
    spread, norm = covariance.trace().double().sqrt(), covariance.double().norm()
    return Dense(states, mean, covariance, np.array([spread, norm, spread]))


def distances(drawn: torch.Tensor, dense: Dense) -> np.ndarray:
    """Of drawn states (replicate, token, feature) from the dense ones, (statistic, replicate).

    Euclidean norm of the difference of means, Frobenius norm of that of covariances, sqrt(mean_i |h_i - h'_i|^2).
    """
    shifted = drawn - dense.mean
    mean = shifted.mean(1)  # (replicate, feature)
    covariance = shifted.mT @ shifted / drawn.shape[1] - mean[:, :, None] * mean[:, None]
    pointwise = (drawn - dense.states).double().square().sum(2).mean(1).sqrt()
    norms = mean.double().norm(dim=1), (covariance - dense.covariance).double().norm(dim=(1, 2)), pointwise
    return torch.stack(norms).numpy()


def measure_blocks(
    model: PreTrainedModel, texts: Iterable[np.ndarray], numbers: list[int], draws: Draws, layers: int
) -> xr.Dataset:
    """Errors after every layer of blocks with these numbers, one by one: none depends on which blocks share a job.

    error (statistic, layer, block, replicate, n): all layers drawn; single_error (statistic, drawn_layer, layer, block,
    replicate, single_n): one; limit_scale (statistic, layer, block).  A job may have no block at all.
    """
    labels = {"statistic": list(STATISTICS), "drawn_layer": range(layers), "layer": range(layers), "block": numbers}
    labels |= {"replicate": range(draws.replicates), "n": draws.sizes, "single_n": draws.single_sizes}

    def empty(*dims: str) -> xr.DataArray:
        return xr.DataArray(np.zeros([len(labels[name]) for name in dims]), {name: labels[name] for name in dims}, dims)

    errors = xr.Dataset(
        {
            "error": empty("statistic", "layer", "block", "replicate", "n"),
            "single_error": empty("statistic", "drawn_layer", "layer", "block", "replicate", "single_n"),
            "limit_scale": empty("statistic", "layer", "block"),
        }
    )
    for number, tokens in zip(numbers, texts, strict=True):
        measure_block(model, tokens, number, draws, errors.sel(block=number))
    return errors


def measure_block(model: PreTrainedModel, tokens: np.ndarray, number: int, draws: Draws, errors: xr.Dataset) -> None:
    """Fill in the errors of one block, a view of those of all.

    A layer drawn alone starts from the dense states before it; layers before it have no error, 0.
    """
    starts = dense_states(model, tokens)  # (layer + 1, token, feature)
    dense = [dense_layer(states) for states in starts[1:]]
    error, single, scale = (errors[name].values for name in ("error", "single_error", "limit_scale"))
    scale[:] = np.stack([layer.scale for layer in dense], axis=1)
    for place, n in enumerate(draws.sizes):
        drawn = np.stack([draws.counts(len(tokens), number, layer, n) for layer in range(len(dense))])
        for cut in cuts(draws.replicates, REPLICATES_AT_ONCE):
            counts = list(drawn[:, cut])  # of each layer, (replicate, key)
            for layer, states in enumerate(drawn_states(model, starts[:1], counts)):
                error[:, layer, cut, place] = distances(states, dense[layer])
            if n not in draws.single_sizes:
                continue
            column = draws.single_sizes.index(n)
            for first, own in enumerate(counts):
                alone = [own, *[None] * (len(dense) - first - 1)]
                for layer, states in enumerate(drawn_states(model, starts[first, None], alone, first), start=first):
                    single[:, first, layer, cut, column] = distances(states, dense[layer])
