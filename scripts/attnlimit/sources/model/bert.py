"""The model: its weights, the projections of every head, the input of every attention layer.

The only file that knows Hugging Face module names.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import torch
import xarray as xr
from huggingface_hub.errors import StrictDataclassError
from safetensors import SafetensorError, safe_open
from transformers import AutoConfig, AutoModel, PreTrainedModel
from transformers.utils import logging as transformers_logging

from attnlimit.base.files import memory_error
from attnlimit.sources.model.families import FAMILIES, require_supported

FLOATS = {"F64", "F32", "F16", "BF16"}  # what a safetensors file calls the dtypes of plain weights
COUNTERS = ("position_ids",)  # tensors of whole numbers that old checkpoints hold and no model reads
# What transformers raises at a config.json that it cannot interpret: it has no error of its own for that.
CONFUSED: tuple[type[Exception], ...] = (ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError)
CONFUSED += (StrictDataclassError, TypeError, ValueError)
WIDENED = 2  # times: half precision to float32


def load(folder: Path) -> PreTrainedModel:
    """The model of a folder, in float32: safetensors only, no remote code, every tensor present and finite."""
    family = require_supported(folder / "config.json")
    return load_as(AutoModel, folder, re.escape(family.layers), **family.options)


def load_as(kind: Any, folder: Path, layers: str, **options: Any) -> PreTrainedModel:
    """The model of a folder by one of transformers' Auto classes; layers: pattern of the name of its list of layers."""
    transformers_logging.disable_progress_bar()
    transformers_logging.set_verbosity_error()  # its report of unused tensors; missing ones are refused below
    weights = folder / "model.safetensors"
    require_weights(weights, folder / "config.json", layers)
    with naming_errors(folder):
        model, info = kind.from_pretrained(
            folder,
            use_safetensors=True,
            trust_remote_code=False,
            local_files_only=True,
            output_loading_info=True,
            ignore_mismatched_sizes=True,
            dtype=torch.float32,
            **options,
        )
    require_loaded(model, info, weights)
    return model.eval()


def require_loaded(model: PreTrainedModel, info: dict, weights: Path) -> None:
    """Raise unless every tensor of the model was in the file, with its shape, and is finite."""
    if info["missing_keys"]:
        raise LookupError(f"{weights}: no tensor {sorted(info['missing_keys'])[0]}")
    if info["mismatched_keys"]:
        name, shape, expected = sorted(info["mismatched_keys"])[0]
        raise ValueError(f"{weights}: tensor {name} is {tuple(shape)}, config.json says {tuple(expected)}")
    for name, tensor in model.state_dict().items():
        if not torch.isfinite(tensor).all():
            raise ValueError(f"{weights}: tensor {name} holds NaN or infinite values")


def require_weights(weights: Path, config: Path, layers: str) -> None:
    """Raise unless the file can be read, holds plain numbers, and as many layers (a pattern) as config.json says.

    Whole numbers would be taken for weights and layers beyond those of config.json left out, both without a word.
    """
    try:
        with naming_memory(weights), safe_open(weights, "pt") as tensors:
            kinds = {name: tensors.get_slice(name).get_dtype() for name in tensors.keys()}  # noqa: SIM118
    except SafetensorError as error:
        raise ValueError(f"{weights}: damaged ({error}); delete it and run fetch_model again") from error
    for name, kind in kinds.items():
        if kind not in FLOATS and not name.endswith(COUNTERS):
            raise ValueError(f"{weights}: tensor {name} is of dtype {kind}; save the model in float32")
    with naming_errors(config.parent):
        expected = AutoConfig.from_pretrained(config.parent, local_files_only=True, trust_remote_code=False)
    present = {match[1] for name in kinds if (match := re.search(rf"{layers}\.(\d+)\.", name))}
    if not len(present) == expected.num_hidden_layers > 0:
        raise ValueError(
            f"{weights}: holds {len(present)} layers, {config} says {expected.num_hidden_layers}: "
            "they do not belong together; take both from one model"
        )
    if expected.num_attention_heads < 1:
        raise ValueError(f"{config}: {expected.num_attention_heads} heads; take it again from where the model comes")


@contextmanager
def naming_errors(folder: Path) -> Iterator[None]:
    """Name the cause of what transformers raises at a model: config.json, a missing package, or too little memory."""
    config = folder / "config.json"
    try:
        with naming_memory(folder / "model.safetensors"):
            yield
    except ImportError as error:
        raise ImportError(f"{config}: needs a package that is missing ({shown(error)}); run `make setup`") from error
    except CONFUSED as error:
        why = f"{type(error).__name__}: {shown(error)}"
        raise ValueError(
            f"{config}: transformers cannot read it ({why}); take it again from where the model comes"
        ) from error


@contextmanager
def naming_memory(weights: Path) -> Iterator[None]:
    """Name too little memory for the weights, at which torch raises a RuntimeError.

    A wrong size in config.json may ask for a tensor larger than all weights, for which no memory would suffice.
    """
    try:
        yield
    except (MemoryError, OSError, RuntimeError) as error:
        full = isinstance(error, torch.OutOfMemoryError)
        if named := memory_error(weights, MemoryError() if full else error, packed=WIDENED):
            raise named from error
        raise


def shown(error: BaseException) -> str:
    return " ".join(str(error).split())[:200]


def heads_dataset(model: PreTrainedModel) -> xr.Dataset:
    """Projections of every head of every layer, (layer, head, width, feature) and (layer, head, width)."""
    family, heads = FAMILIES[model.config.model_type], model.config.num_attention_heads
    layers = attrgetter(family.layers)(model)

    def stack(projection: str, kind: str) -> np.ndarray:
        modules = [attrgetter(projection)(layer) for layer in layers]
        tensors = [getattr(module, kind) for module in modules]
        if kind == "bias" and tensors[0] is None:
            tensors = [torch.zeros(module.out_features) for module in modules]
        return torch.stack(tensors).detach().unflatten(1, (heads, -1)).numpy()

    weight, bias = ("layer", "head", "width", "feature"), ("layer", "head", "width")
    projections = {"query": family.query, "key": family.key, "value": family.value}
    arrays: dict[str, tuple] = {
        f"{name}_weight": (weight, stack(place, "weight")) for name, place in projections.items()
    }
    arrays |= {f"{name}_bias": (bias, stack(place, "bias")) for name, place in projections.items()}
    return xr.Dataset(arrays, coords={"layer": np.arange(len(layers)), "head": np.arange(heads)})


def longest_block(model: PreTrainedModel) -> int:
    """Tokens the model reads at once: its positions, of which RoBERTa reserves those up to its padding's."""
    positions = model.embeddings.position_embeddings
    return positions.num_embeddings - (0 if positions.padding_idx is None else positions.padding_idx + 1)


def require_readable(model: PreTrainedModel, blocks: Sequence[np.ndarray], folder: Path) -> None:
    """Raise unless the model of a folder has a position for every token and a vector for every word."""
    longest, words = max(map(len, blocks)), model.embeddings.word_embeddings.num_embeddings
    if longest > longest_block(model):
        raise ValueError(
            f"tokenize_corpus.block: {longest} tokens, but the model reads at most {longest_block(model)}; lower it"
        )
    kinds = {str(block.dtype) for block in blocks if block.dtype.kind != "i" or block.min() < 0}
    if kinds:
        raise ValueError(f"tokens: {', '.join(kinds)} in place of numbers of words; run tokenize_corpus again")
    largest = max(int(block.max()) for block in blocks)
    if largest >= words:
        raise ValueError(
            f"{folder / 'tokenizer.json'} gives word {largest}, but {folder / 'model.safetensors'} has {words} words: "
            "they do not belong together; take both from one model"
        )


class Reached(Exception):  # noqa: N818  # no error: how a forward pass ends where no later layer is needed
    """The input of the deepest layer wanted."""


def layer_inputs(
    model: PreTrainedModel, blocks: Iterable[np.ndarray], layers: Sequence[int] | None = None
) -> Iterator[np.ndarray]:
    """Input of each of these attention layers, or of all, (layer, token, feature), one forward pass a block.

    A pass ends at the deepest of them. Blocks go one by one: no padding is ever seen, and no number depends on which
    blocks share a job.
    """
    modules = attrgetter(FAMILIES[model.config.model_type].layers)(model)
    wanted = sorted(range(len(modules)) if layers is None else layers)
    states: list[torch.Tensor] = []

    def keep(_, arguments):
        states.append(arguments[0])
        if len(states) == len(wanted):
            raise Reached

    with ExitStack() as stack:
        for layer in wanted:
            stack.callback(modules[layer].register_forward_pre_hook(keep).remove)
        for block in blocks:
            states.clear()
            with torch.inference_mode(), suppress(Reached):
                model(input_ids=torch.as_tensor(block, dtype=torch.long)[None])
            yield torch.cat(states).numpy()
