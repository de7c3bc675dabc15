"""A forward pass of the model's own layers in which queries attend to keys that were drawn.

A draw of keys is its counts c (key,): a key drawn c_j times weighs c_j exp(score_j), so log c_j is added to its scores,
for all heads and queries of the layer alike, and c_j = 0 drops it. A constant count changes nothing: it is the dense
model, which draws with replacement tend to as their size grows.
"""

from collections.abc import Iterator, Sequence
from operator import attrgetter

import numpy as np
import torch
from transformers import PreTrainedModel

from attnlimit.sources.model.families import FAMILIES


def draw_counts(tokens: int, n: int, replacement: bool, stream: np.random.Generator) -> np.ndarray:
    """How often each token of a block is among n drawn keys, (key,).

    With replacement: Multinomial(n, 1/tokens), and n may exceed the tokens. Without: 1 in a random subset of n, else 0;
    all of them would be the dense model, which has no error to measure.
    """
    if replacement:
        return stream.multinomial(n, np.full(tokens, 1 / tokens))
    if n >= tokens:
        raise ValueError(f"sizes: {n} keys of a block of {tokens} tokens; take fewer, or `replacement: true`")
    counts = np.zeros(tokens, dtype=np.int64)
    counts[stream.choice(tokens, n, replace=False)] = 1
    return counts


def dense_states(model: PreTrainedModel, block: np.ndarray) -> torch.Tensor:
    """Input of every layer and output of the last (layer + 1, token, feature): transformers' own pass over a block."""
    ids = torch.as_tensor(block, dtype=torch.long)[None]
    with torch.inference_mode():
        return torch.cat(model(input_ids=ids, output_hidden_states=True).hidden_states)


def drawn_states(
    model: PreTrainedModel, states: torch.Tensor, counts: Sequence[np.ndarray | None], first: int = 0
) -> Iterator[torch.Tensor]:
    """States (replicate, token, feature) after layer `first`, the next, …, the last: one at a time, as each is large.

    states (replicate, token, feature) are the input of layer `first`; one (1, token, feature) serves all replicates.
    counts are those of layer `first` and of each layer after it: (replicate, key), or None where it is dense.
    """
    layers = attrgetter(FAMILIES[model.config.model_type].layers)(model)[first:]
    if len(counts) != len(layers):
        raise ValueError(f"counts: of {len(counts)} layers, but the model has {len(layers)} from layer {first} on")
    for layer, drawn in zip(layers, counts, strict=True):
        mask = None
        if drawn is not None:
            mask = torch.as_tensor(drawn, dtype=states.dtype).log()[:, None, None]  # (replicate, 1, 1, key)
            states = states.expand(len(mask), -1, -1)
        with torch.inference_mode():
            states = layer(states, mask)
        yield states
