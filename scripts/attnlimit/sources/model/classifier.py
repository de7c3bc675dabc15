"""The head of a fine-tuned sequence classifier, read from the checkpoint: from the last states to a score a class."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import torch
from safetensors import safe_open
from transformers.activations import ACT2FN

from attnlimit.sources.model.families import class_names, read_config


class Layers(NamedTuple):
    """Where a family keeps the two linear maps of its head, and what stands between them; "" takes `hidden_act`."""

    dense: str  # as the name of the tensor ends
    out: str
    activation: str


LONG = Layers("classifier.dense", "classifier.out_proj", "tanh")
HEADS = {
    "bert": Layers("pooler.dense", "classifier", "tanh"),
    "roberta": LONG,
    "xlm-roberta": LONG,
    "electra": LONG._replace(activation="gelu"),
    "big_bird": LONG._replace(activation=""),
    "distilbert": Layers("pre_classifier", "classifier", "relu"),
}


class Head(NamedTuple):
    """scores = W_2 f(W_1 h + b_1) + b_2, h the last state of the first token."""

    dense: tuple[torch.Tensor, torch.Tensor]  # W_1, b_1
    activation: Callable[[torch.Tensor], torch.Tensor]
    out: tuple[torch.Tensor, torch.Tensor]  # W_2 (class, feature), b_2

    def scores(self, states: torch.Tensor) -> torch.Tensor:
        """Last states (…, token, feature) -> (…, class)."""
        weight, bias = self.dense
        inner = self.activation(states[..., 0, :] @ weight.T + bias)
        weight, bias = self.out
        return inner @ weight.T + bias


def load_head(folder: Path) -> Head:
    """The head of the checkpoint of a folder, in float32; one that has none, or one of other classes, is refused."""
    config, weights = read_config(folder / "config.json"), folder / "model.safetensors"
    layers, names = HEADS[config["model_type"]], class_names(folder / "config.json")
    with safe_open(weights, "pt") as tensors:
        present = list(tensors.keys())

        def linear(place: str) -> tuple[torch.Tensor, torch.Tensor]:
            """Weight and bias, with any prefix, such as the name of the base model."""
            pair = []
            for kind in ("weight", "bias"):
                ending = f"{place}.{kind}"
                found = [name for name in present if name == ending or name.endswith(f".{ending}")]
                if len(found) != 1:
                    raise LookupError(
                        f"{weights}: no tensor {ending}, so no sequence classifier; take one, or set "
                        "measure_downstream.task to labels"
                    )
                pair.append(tensors.get_tensor(found[0]).float())
            return pair[0], pair[1]

        dense, out = linear(layers.dense), linear(layers.out)
    if len(out[0]) != len(names):
        raise ValueError(
            f"{weights}: its head has {len(out[0])} classes, {folder / 'config.json'} names {len(names)}: "
            "they do not belong together; take both from one model"
        )
    if not all(torch.isfinite(tensor).all() for tensor in (*dense, *out)):
        raise ValueError(f"{weights}: the head of the classifier holds NaN or infinite values")
    return Head(dense, ACT2FN[layers.activation or config.get("hidden_act", "gelu_new")], out)
