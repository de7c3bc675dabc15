"""A pack of the package holographic-memory (.hmsemb): a RoBERTa with its tokenizer -> the three files of a model.

    "HMSEMB01" | length of the header, 8 bytes | header in JSON | tokenizer.json | tensors, one after the other

A tensor of dtype f32 is kept. One of i8 holds integers q, then a float32 scale s for each `group` of them along a row,
and becomes s q in float32. The rows of qkv are those of W_q, W_k and W_v, in thirds.
"""

import json
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

MAGIC = b"HMSEMB01"
HEAD = len(MAGIC) + 8  # bytes before the header
CONFIG = {
    "hidden": "hidden_size",
    "layers": "num_hidden_layers",
    "heads": "num_attention_heads",
    "intermediate": "intermediate_size",
    "vocab": "vocab_size",
    "max_positions": "max_position_embeddings",
    "type_vocab": "type_vocab_size",
    "layer_norm_eps": "layer_norm_eps",
}
TABLES = {"word_emb": "word_embeddings", "pos_emb": "position_embeddings", "type_emb": "token_type_embeddings"}
PLACES = {"ao": "attention.output.dense", "aln": "attention.output.LayerNorm", "f1": "intermediate.dense"}
PLACES |= {"f2": "output.dense", "fln": "output.LayerNorm"}
KINDS = {"w": "weight", "b": "bias"}


def unpack(pack: Path, folder: Path) -> str:
    """Write the three files of a model to a folder; returns how its weights are quantised."""
    content = pack.read_bytes()
    try:
        if not content.startswith(MAGIC):
            raise ValueError(f"it does not begin with {MAGIC.decode()}")
        start = HEAD + int.from_bytes(content[len(MAGIC) : HEAD], "little")
        header = json.loads(content[HEAD:start])
        end = start + header["tokenizer_len"]
        config = {name: header["arch"][key] for key, name in CONFIG.items()}
        config |= {"model_type": "roberta", "hidden_act": "gelu", "pad_token_id": header["arch"]["position_offset"] - 1}
        weights, quantised = weights_of(header["tensors"], memoryview(content)[end:]), str(header["quantization"])
    except (ValueError, LookupError, TypeError) as error:
        why = " ".join(str(error).split())[:200]
        raise ValueError(f"{pack.name}: damaged, or no pack of a RoBERTa ({why}); take model.safetensors") from error
    (folder / "config.json").write_text(json.dumps(config, indent=1))
    (folder / "tokenizer.json").write_bytes(content[start:end])
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    return quantised


def weights_of(tensors: list[dict], content: memoryview) -> dict[str, np.ndarray]:
    """The tensors of a pack by the names of the family `roberta`, in float32."""
    weights: dict[str, np.ndarray] = {}
    for tensor in tensors:
        part, content = content[: tensor["len"]], content[tensor["len"] :]
        if len(part) != tensor["len"]:
            raise ValueError(f"it ends within {tensor['name']!r:.60}")
        weights |= named(tensor["name"], values(part, tensor))
    if content:
        raise ValueError(f"{len(content)} bytes follow its last tensor")
    return dict(sorted(weights.items()))


def values(part: memoryview, tensor: dict) -> np.ndarray:
    shape, group = tensor["shape"], tensor["group"]
    match tensor["dtype"]:
        case "f32":
            return np.frombuffer(part, "<f4").reshape(shape)
        case "i8":
            count = int(np.prod(shape))
            if not group or shape[-1] % group or len(part) != count + 4 * (count // group):
                raise ValueError(f"{tensor['name']!r:.60}: {len(part)} bytes for shape {shape} in groups of {group}")
            whole = np.frombuffer(part, np.int8, count).reshape(-1, group)  # (group, number)
            scales = np.frombuffer(part, "<f4", offset=count)  # (group)
            return (whole * scales[:, None]).reshape(shape)
    raise ValueError(f"dtype {tensor['dtype']!r:.60} of {tensor['name']!r:.60}")


def named(name: str, value: np.ndarray) -> dict[str, np.ndarray]:
    """A tensor by its name in the family `roberta`; qkv becomes three."""
    if name in TABLES:
        return {f"embeddings.{TABLES[name]}.weight": value}
    place, _, kind = name.rpartition(".")
    if place == "emb_ln":
        return {f"embeddings.LayerNorm.{KINDS[kind]}": value}
    layer, _, part = place.partition(".")
    start = f"encoder.layer.{int(layer.removeprefix('l'))}"
    if part != "qkv":
        return {f"{start}.{PLACES[part]}.{KINDS[kind]}": value}
    thirds = zip(("query", "key", "value"), np.split(value, 3), strict=True)
    return {f"{start}.attention.self.{which}.{KINDS[kind]}": third.copy() for which, third in thirds}
