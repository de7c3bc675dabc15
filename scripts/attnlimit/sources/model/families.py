"""The kinds of models that are supported, and what a model's config.json says of it.

Standard library only: the host that plans the jobs may have nothing else.
"""

import json
from pathlib import Path
from typing import NamedTuple

from attnlimit.base.plain_attention import BIASED, reason, refusal

DOCS = "docs/your-own.md#models"  # which models are supported, and why
LANGUAGE = ("gpt2", "gpt_neox", "llama", "mistral", "olmo", "olmo2", "phi", "qwen2", "qwen3", "smollm3")  # most common
GGUF = ".gguf"  # ending of files that hold a language model with its tokenizer


class Family(NamedTuple):
    """Where a kind of model keeps its layers, and the projections within a layer; what it is loaded with."""

    layers: str
    query: str
    key: str
    value: str
    options: dict
    padding_first: bool = False  # its positions begin after that of the padding


def bert_like(padding_first: bool = False, **options) -> Family:
    query, key, value = (f"attention.self.{name}" for name in ("query", "key", "value"))
    return Family("encoder.layer", query, key, value, options, padding_first)


# Checkpoints of language models hold no pooling layer, and no attention reads it.
FAMILIES = {
    "bert": bert_like(add_pooling_layer=False),
    "roberta": bert_like(padding_first=True, add_pooling_layer=False),
    "xlm-roberta": bert_like(padding_first=True, add_pooling_layer=False),
    "electra": bert_like(),
    "big_bird": bert_like(add_pooling_layer=False, attention_type="original_full"),
    "distilbert": Family("transformer.layer", "attention.q_lin", "attention.k_lin", "attention.v_lin", {}),
}
# In config.json: what makes attention another thing than the formula, or the weights other numbers than the file's.
REFUSED = {
    "is_decoder": "a decoder, whose tokens see only those before them",
    "add_cross_attention": "a model with cross attention",
    "quantization_config": "a quantised model",
    "auto_map": "a model with code of its own, which is never run",
}


class Shape(NamedTuple):
    """What a config.json says of a model's size; None where it says nothing that can be used."""

    layers: int | None
    heads: int | None
    longest: int | None  # tokens that the model reads at once
    features: int | None = None


EMBEDDED = Shape(6, 12, 512, 384)  # of all-MiniLM-L6-v2


def read_config(path: Path) -> dict:
    try:
        return dict(json.loads(path.read_bytes()))
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path}: damaged ({error}); take it again from where the model comes") from error


def require_supported(path: Path) -> Family:
    """How to read the model of a config.json; one that is no plain encoder of a known kind is refused."""
    config = read_config(path)
    kind, positions = config.get("model_type"), config.get("position_embedding_type", "absolute")
    fault = f"model_type {kind!r:.100} is not supported: it {why_unknown(config)}" if kind not in list(FAMILIES) else ""
    for key, what in REFUSED.items():
        fault = fault or (f"{key}: {what}, is not supported" if config.get(key) else "")
    if positions != "absolute":
        fault = fault or f"position_embedding_type {positions!r:.90} is not supported: it {BIASED}"
    if fault:
        raise ValueError(f"{path}: {fault}; take a plain one of {', '.join(FAMILIES)}: {DOCS}")
    return FAMILIES[config["model_type"]]


def why_unknown(config: dict) -> str:
    """Why a model is of no supported kind, as far as config.json shows."""
    made_for = [str(name) for name in config.get("architectures") or ()]
    if config.get("model_type") in LANGUAGE or any(name.endswith(("ForCausalLM", "LMHeadModel")) for name in made_for):
        return "is a language model, whose tokens see only those before them, for chapter language alone"
    return reason(config) or "is none of the kinds whose projections are known here"


def require_decoder(path: Path) -> dict:
    """The config.json of a language model with plain causal attention, of which each token sees those before it."""
    config = read_config(path)
    kind, heads = config.get("model_type"), count(config, "num_attention_heads", "n_head")
    groups = count(config, "num_key_value_heads") or heads
    if kind in list(FAMILIES) and not config.get("is_decoder"):
        raise ValueError(f"{path}: model_type {kind!r:.100} has no causal mask; take a language model, such as Llama")
    for key in ("quantization_config", "auto_map"):
        if config.get(key):
            raise ValueError(f"{path}: {key}: {REFUSED[key]}, is not supported; take one in plain floats")
    if why := refusal(config):
        raise ValueError(f"{path}: {why}")
    if heads is None or groups is None or heads % groups:
        raise ValueError(f"{path}: {heads} heads, {groups} KV heads: no multiple; take it again from where it comes")
    return config


def is_causal(path: Path) -> bool:
    """Whether a config.json is that of a language model: of none of the known encoders, or of one made a decoder."""
    config = read_config(path)
    return config.get("model_type") not in list(FAMILIES) or bool(config.get("is_decoder"))


def shape_of_model(model: dict, causal: bool | None = False) -> Shape | None:
    """The shape of the model of the section fetch_model; None for one that is not here yet.

    One in a folder is refused unless it is of a supported kind: a language model if `causal`, else an encoder; None:
    either.
    """
    config = Path(model["location"]).expanduser() / "config.json"
    if model["source"] == "embedded":
        return EMBEDDED
    if model["source"] != "local" or not config.is_file():
        return None
    return supported_shape(config, causal)


def supported_shape(config: Path, causal: bool | None) -> Shape:
    """The shape of the model of a config.json, unless it is refused: see `shape_of_model`."""
    if is_causal(config) if causal is None else causal:
        return shape_of(require_decoder(config))
    return shape_of(read_config(config), require_supported(config))


def shape_of(config: dict, family: Family | None = None) -> Shape:
    """The shape of a supported model, from its config.json; DistilBERT and GPT-2 have names of their own."""
    positions, padding = count(config, "max_position_embeddings", "n_positions"), config.get("pad_token_id", 1)
    if family and family.padding_first and positions is not None:
        positions = positions - padding - 1 if isinstance(padding, int) else None
    return Shape(
        count(config, "num_hidden_layers", "n_layers", "n_layer"),
        count(config, "num_attention_heads", "n_heads", "n_head"),
        positions,
        count(config, "hidden_size", "dim", "n_embd"),
    )


def count(config: dict, *names: str) -> int | None:
    """The first of these keys that there is, if it holds a count."""
    value = next((config[name] for name in names if name in config), None)
    return value if type(value) is int and value > 0 else None


def class_names(config: Path) -> list[str]:
    """The classes of a config.json in the order of the scores; transformers leaves the names of two classes out."""
    found = read_config(config)
    if found.get("problem_type") not in (None, "single_label_classification"):
        raise ValueError(f"{config}: problem_type {found['problem_type']}; take a classifier with one label a text")
    names = found.get("id2label") or {"0": "LABEL_0", "1": "LABEL_1"}
    try:
        return [names[str(number)] for number in range(len(names))]
    except (KeyError, TypeError) as error:
        raise ValueError(f"{config}: id2label does not count from 0; take it again from where it comes") from error
