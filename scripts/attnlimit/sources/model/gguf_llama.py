"""A GGUF file of architecture llama -> config.json, tokenizer.json and model.safetensors of LlamaForCausalLM.

GGUF interleaves, within each head, the rows of W_q and W_k that rotary positions turn together, (2i, 2i + 1), where
transformers has (i, i + width/2): forgotten, nothing fails and the model reads as if its words were shuffled.
Rounded weights (Q8_0, Q4_0, Q4_1) become float32 of the values that they stand for.
"""

import json
from itertools import product
from pathlib import Path

import gguf
import numpy as np
from safetensors.numpy import save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

KINDS = ("F32", "F16", "Q8_0", "Q4_0", "Q4_1")
LONGEST_ARRAY = 2**22  # entries of the metadata: vocabularies have some 2**18
SPECIAL = (3, 4)  # kinds of tokens: control, added by the user
BROKEN = (ValueError, LookupError, ArithmeticError, RecursionError, TypeError)  # what gguf raises at damaged files
REMEDY = "take model.safetensors of the model, with `source: hub` or `local`"
NAMES = {"attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj"}
NAMES |= {"attn_output": "self_attn.o_proj", "attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm"}
NAMES |= {"ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj"}
ROUND_TRIP = "The 1,234 keys of a naïve model cost 50 % more;\n\n\tÜberraschung: 注意 — \N{ROBOT FACE}'s turn."


class Reader(gguf.GGUFReader):
    """Refuses to read beyond the end, where numpy would hand out less, and lists longer than any vocabulary."""

    def _get(self, offset, dtype, count=1, override_order=None):
        if int(offset) + int(count) * np.dtype(dtype).itemsize > len(self.data):
            raise ValueError("it ends before what it declares")
        return super()._get(offset, dtype, count, override_order)

    def _get_field_parts(self, orig_offs, raw_type):
        if raw_type == gguf.GGUFValueType.ARRAY and (entries := self._get(orig_offs + 4, np.uint64)[0]) > LONGEST_ARRAY:
            raise ValueError(f"a list of its metadata declares {entries} entries")
        return super()._get_field_parts(orig_offs, raw_type)


def dequantise(path: Path, folder: Path) -> str:
    """Write the three files of a model to a folder; returns how its weights are rounded, "" if they are not."""
    try:
        reader = Reader(path)
    except BROKEN as error:
        raise ValueError(f"{path.name}: damaged, or no GGUF ({error!s:.99}); fetch it again, or {REMEDY}") from error
    try:
        config, tokenizer = config_of(reader), tokenizer_of(reader)
        weights = weights_of(reader, config)
    except BROKEN as error:
        raise ValueError(f"{path.name}: {error}; {REMEDY}") from error
    (folder / "config.json").write_text(json.dumps(config, indent=1))
    tokenizer.save(str(folder / "tokenizer.json"))
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    return config["quantised"]


def field(reader: Reader, name: str, default=None):
    """A value of the metadata; without a default it must be there."""
    if name not in reader.fields and default is None:
        raise LookupError(f"no {name} in its metadata")
    return reader.fields[name].contents() if name in reader.fields else default


def config_of(reader: Reader) -> dict:
    """config.json of the model: a plain Llama, whose rotary positions turn whole heads and are not stretched."""
    architecture = field(reader, "general.architecture")
    if architecture != "llama":
        raise ValueError(f"architecture {architecture!r:.60}, of which only llama is read")
    number = {name[6:]: field(reader, name) for name in reader.fields if name.startswith("llama.")}
    wanted = ("block_count", "context_length", "embedding_length", "feed_forward_length", "attention.head_count")
    for key in wanted:
        if not isinstance(number.get(key), int) or number[key] < 1:
            raise LookupError(f"llama.{key} is {number.get(key)!r:.60} in its metadata, not a count")
    layers, longest, features, inner, heads = (number[key] for key in wanted)
    groups = number.get("attention.head_count_kv", heads)
    if features % heads or not isinstance(groups, int) or groups < 1 or heads % groups:
        raise ValueError(f"{features} features, {heads} heads, {groups} KV heads: each must be a multiple of the next")
    width = features // heads
    for key in ("rope.dimension_count", "attention.key_length", "attention.value_length"):
        if number.get(key, width) != width:
            raise ValueError(f"llama.{key} is {number[key]}, not the width {width} of its heads")
    if number.get("rope.scaling.type", "none") != "none" or number.get("expert_count", 0):
        raise ValueError("it stretches its rotary positions or has experts, which is not read")
    config = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_act": "silu", "head_dim": width}
    config |= {"num_hidden_layers": layers, "num_attention_heads": heads, "num_key_value_heads": groups}
    config |= {"hidden_size": features, "intermediate_size": inner, "max_position_embeddings": longest}
    config |= {"rms_norm_eps": round(field(reader, "llama.attention.layer_norm_rms_epsilon"), 12)}
    config |= {"vocab_size": len(field(reader, "tokenizer.ggml.tokens")), "bos_token_id": None, "eos_token_id": None}
    config |= {"tie_word_embeddings": all(each.name != "output.weight" for each in reader.tensors)}
    rounded = sorted({each.tensor_type.name for each in reader.tensors} - {"F32", "F16"}, reverse=True)
    return config | {"rope_theta": number.get("rope.freq_base", 1e4), "quantised": ", ".join(rounded)}


def weights_of(reader: Reader, config: dict) -> dict[str, np.ndarray]:
    """All tensors by the names of transformers, in float32, each with the shape that the metadata says."""
    features, inner, layers = config["hidden_size"], config["intermediate_size"], config["num_hidden_layers"]
    heads, groups, words = (config[key] for key in ("num_attention_heads", "num_key_value_heads", "vocab_size"))
    if layers > len(reader.tensors):
        raise LookupError(f"its metadata says {layers} layers, but it has {len(reader.tensors)} tensors")
    rows = dict.fromkeys(("attn_k", "attn_v"), groups * config["head_dim"]) | {"ffn_gate": inner, "ffn_up": inner}
    expected: dict[str, tuple[str, tuple[int, ...]]] = {"output_norm.weight": ("model.norm.weight", (features,))}
    expected["token_embd.weight"] = ("model.embed_tokens.weight", (words, features))
    if not config["tie_word_embeddings"]:
        expected["output.weight"] = ("lm_head.weight", (words, features))
    for layer, (name, place) in product(range(layers), NAMES.items()):
        shape = (rows.get(name, features), inner if name == "ffn_down" else features)[: 1 if "norm" in name else 2]
        expected[f"blk.{layer}.{name}.weight"] = (f"model.layers.{layer}.{place}.weight", shape)
    present = {each.name: each for each in reader.tensors}
    if odd := sorted(present.keys() ^ expected.keys()):
        raise LookupError(f"tensor {odd[0]!r:.60} is {'not known' if odd[0] in present else 'missing'}")
    weights = {}
    for name, (place, shape) in expected.items():
        kind = present[name].tensor_type
        if kind.name not in KINDS:
            raise ValueError(f"tensor {name} is rounded as {kind.name}, of which only {', '.join(KINDS)} are read")
        tensor = gguf.dequantize(present[name].data, kind).astype(np.float32)
        if tensor.shape != shape or not np.isfinite(tensor).all():
            wrong = "holds NaN or infinite values" if tensor.shape == shape else f"is {tensor.shape}, not {shape}"
            raise ValueError(f"tensor {name} {wrong}")
        if name.endswith(("attn_q.weight", "attn_k.weight")):
            tensor = unpermuted(tensor, heads if "attn_q" in name else groups)
        weights[place] = np.ascontiguousarray(tensor)
    return weights


def unpermuted(weight: np.ndarray, heads: int) -> np.ndarray:
    """Rows 2i, 2i + 1 of each head -> i, i + width/2.  (row, feature)"""
    return weight.reshape(heads, -1, 2, weight.shape[-1]).swapaxes(1, 2).reshape(weight.shape)


def tokenizer_of(reader: Reader) -> Tokenizer:
    """The byte-level BPE of the metadata; a text must survive it unchanged."""
    kind, before = field(reader, "tokenizer.ggml.model"), field(reader, "tokenizer.ggml.pre", "gpt-2")
    bytewise = pre_tokenizers.ByteLevel(add_prefix_space=False)
    splits = {"gpt-2": bytewise, "smollm": pre_tokenizers.Sequence([pre_tokenizers.Digits(True), bytewise])}
    if kind != "gpt2" or before not in splits or field(reader, "tokenizer.ggml.add_bos_token", False):
        raise ValueError(f"tokenizer {kind!r:.30} {before!r:.30}, of which only gpt2 with {', '.join(splits)} is read")
    tokens, kinds, merges = (field(reader, f"tokenizer.ggml.{name}") for name in ("tokens", "token_type", "merges"))
    vocabulary, merges = {token: n for n, token in enumerate(tokens)}, [tuple(each.split(" ")) for each in merges]
    known = all(len(pair) == 2 and {*pair, "".join(pair)} <= vocabulary.keys() for pair in merges)
    if not known or len(vocabulary) < len(tokens) or len(kinds) != len(tokens):
        raise ValueError("its tokenizer has a token twice, or merges tokens that it does not have")
    tokenizer = Tokenizer(models.BPE(vocabulary, merges))
    tokenizer.pre_tokenizer, tokenizer.decoder = splits[before], decoders.ByteLevel()
    tokenizer.add_special_tokens([token for token, kind in zip(tokens, kinds, strict=True) if kind in SPECIAL])
    if tokenizer.decode(tokenizer.encode(ROUND_TRIP).ids) != ROUND_TRIP:
        raise ValueError("its tokenizer does not give back the text that it is given")
    return tokenizer
