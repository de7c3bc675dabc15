"""A language model: its weights and its tokenizer, from the three files of a folder or from one GGUF file."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import xarray as xr
from transformers import AutoModelForCausalLM, PreTrainedModel, PreTrainedTokenizerFast

from attnlimit.sources.model.bert import load, load_as
from attnlimit.sources.model.families import GGUF, is_causal, read_config, require_decoder
from attnlimit.sources.model.files import FILES, REMEDIES

LAYERS = r"(?:layers|layer|h|blocks)"  # how modules call their list of layers
SPARE = 1024  # rows of the table of words beyond the tokenizer's, at most, or a twentieth: models round its size up


def load_decoder(folder: Path) -> tuple[PreTrainedModel, PreTrainedTokenizerFast]:
    """The model of a folder or a GGUF file, in float32 and eager, and its tokenizer.

    Safetensors only, no remote code, every tensor present and finite, plain causal attention.
    """
    if folder.suffix == GGUF:
        from attnlimit.sources.model.gguf_llama import dequantise  # here, since no other source needs gguf

        with TemporaryDirectory() as scratch:
            dequantise(folder, Path(scratch))
            return load_decoder(Path(scratch))
    for name in FILES:
        if not (folder / name).is_file():
            raise FileNotFoundError(f"{folder}: no {name}; {REMEDIES[name]}")
    require_decoder(folder / "config.json")
    return load_as(AutoModelForCausalLM, folder, LAYERS, attn_implementation="eager"), tokenizer_of(folder)


def load_either(folder: Path) -> PreTrainedModel:
    """The model of a folder, whose tokens see those before them or all: a language model, or an encoder."""
    return load_decoder(folder)[0] if is_causal(folder / "config.json") else load(folder)


def tokenizer_of(folder: Path) -> PreTrainedTokenizerFast:
    """The tokenizer of a folder; refused if it has another vocabulary than the model."""
    path = folder / "tokenizer.json"
    try:
        json.loads(path.read_bytes())["model"]
        tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(path))
    except BaseException as error:
        # The tokenizers library raises the bare Exception, and PanicException, which it does not export.
        known = type(error) is Exception or isinstance(error, ValueError | LookupError | TypeError)
        if not known and type(error).__name__ != "PanicException":
            raise
        raise ValueError(f"{path}: no tokenizer ({error!s:.200}); take it again from where the model comes") from error
    words, rows = len(tokenizer), read_config(folder / "config.json").get("vocab_size", 0)
    if not words <= rows <= words + max(SPARE, rows // 20):
        raise ValueError(
            f"{path} has {words} words, {folder / 'config.json'} says {rows}: they do not belong together; "
            "take both from one model"
        )
    return tokenizer


def groups_dataset(model: PreTrainedModel) -> xr.Dataset:
    """Which group of keys and values each head reads, kv_head (layer, head): head // (heads / groups)."""
    layers, heads = model.config.num_hidden_layers, model.config.num_attention_heads
    groups = getattr(model.config, "num_key_value_heads", None) or heads
    kv_head = np.broadcast_to(np.arange(heads) // (heads // groups), (layers, heads))
    coordinates = {"layer": np.arange(layers), "head": np.arange(heads)}
    return xr.Dataset({"kv_head": (("layer", "head"), kv_head)}, coords=coordinates)
