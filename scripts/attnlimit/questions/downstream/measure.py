"""What the user of a model sees when every layer attends to keys that were drawn: the embedding of a text, its scores.

The embedding is the mean of the last states over all tokens of the text, opening and closing mark among them, as
sentence encoders pool them, divided by its length.
"""

from typing import NamedTuple

import numpy as np
import torch
import xarray as xr
from transformers import PreTrainedModel

from attnlimit.base.seeds import generator
from attnlimit.sources.model.classifier import Head
from attnlimit.sources.model.drawn_keys import dense_states, draw_counts, drawn_states
from attnlimit.theory.projected import block_couplings


class Drawing(NamedTuple):
    """How keys are drawn: how many, how often, and from which seed."""

    sizes: list[int]
    replicates: int
    replacement: bool
    seed: int

    @classmethod
    def of(cls, section: dict, seed: int) -> "Drawing":
        return cls(section["sizes"], section["replicates"], section["replacement"], seed)

    def counts(self, text: int, tokens: int, layers: int, replicate: int, n: int) -> list[np.ndarray]:
        """How often each token of a text is a key of each layer, (1, key) for one replicate; layers are independent."""
        stream = generator(self.seed, "measure_downstream", text, replicate, n)
        return [draw_counts(tokens, n, self.replacement, stream)[None] for _ in range(layers)]


def tokens_of(texts: xr.Dataset) -> list[np.ndarray]:
    """Token ids of each text, of texts end to end."""
    ends = np.flatnonzero(np.diff(texts["text_of_token"].values)) + 1
    return np.split(texts["token_id"].values, ends)


def pooled(states: torch.Tensor) -> np.ndarray:
    """The embedding (feature,) of a text from its last states (token, feature)."""
    mean = states.double().mean(0)
    return (mean / mean.norm()).float().numpy()


def couplings(states: torch.Tensor, heads: xr.Dataset) -> dict[str, np.ndarray]:
    """Of every head on the tokens of one text: inputs of its layers (layer, token, feature) -> (layer, head)."""
    inputs = states.numpy()[:, None]  # (layer, 1, token, feature)

    def projected(name: str) -> np.ndarray:  # (layer, head, token, width)
        weight, bias = heads[f"{name}_weight"].values, heads[f"{name}_bias"].values
        return inputs @ weight.swapaxes(-1, -2) + bias[:, :, None]

    return block_couplings(projected("query"), projected("key"))


def dense_embedding(model: PreTrainedModel, tokens: np.ndarray) -> np.ndarray:
    """The embedding (feature,) of a text when nothing is drawn."""
    return pooled(dense_states(model, tokens)[-1])


def measure_text(
    model: PreTrainedModel, heads: xr.Dataset, classifier: Head | None, tokens: np.ndarray, text: int, drawing: Drawing
) -> xr.Dataset:
    """Embeddings and, of a classifier, scores of one text: dense, and for every draw of keys; its couplings.

    One draw at a time: as fast as many at once, in a fraction of the memory, and no number depends on how many.
    """
    states = dense_states(model, tokens)
    features, layers = states.shape[-1], len(states) - 1
    shape = drawing.replicates, len(drawing.sizes)
    embedding = np.empty((*shape, features), np.float32)
    scores = np.empty((*shape, len(classifier.out[0]) if classifier else 0), np.float32)
    for replicate in range(drawing.replicates):
        for place, n in enumerate(drawing.sizes):
            counts = drawing.counts(text, len(tokens), layers, replicate, n)
            *_, last = drawn_states(model, states[:1], counts)
            embedding[replicate, place] = pooled(last[0])
            if classifier:
                scores[replicate, place] = classifier.scores(last[0]).numpy()
    found: dict[str, tuple] = {
        "embedding": (("replicate", "n", "feature"), embedding),
        "dense_embedding": ("feature", pooled(states[-1])),
    }
    if classifier:
        found["scores"] = (("replicate", "n", "class"), scores)
        found["dense_scores"] = ("class", classifier.scores(states[-1]).numpy())
    found |= {name: (("layer", "head"), values) for name, values in couplings(states[:-1], heads).items()}
    labels = {"n": drawing.sizes, "replicate": range(drawing.replicates), "text": text}
    return xr.Dataset(found, coords=labels | {name: heads[name].values for name in ("layer", "head")})
