"""Is a model's attention the softmax of scaled products of queries and keys, and nothing else? As its config tells.

Standard library only: the host that plans the jobs may have nothing else.
"""

from collections.abc import Mapping
from typing import Any

BIASED = "adds position biases to its scores"
DEAF = "does not follow transformers' interface for attention, so that nothing can be measured in it"
SINKS = "has learned sinks in its softmax"
STATE = "has layers without softmax attention (linear attention, state space or recurrent)"
# By model_type; whatever follows transformers' interface and is not named here is checked by what the probe receives.
ANOTHER = (
    dict.fromkeys(
        ("deberta", "deberta-v2", "t5", "mt5", "umt5", "longt5", "cpmant", "bloom", "mpt", "xlnet", "mpnet"), BIASED
    )
    | dict.fromkeys(("big_bird", "bigbird_pegasus", "gpt_neo", "gptj", "codegen"), DEAF)
    | dict.fromkeys(("gpt_oss", "granite_swa", "granitemoe_swa", "mimo_v2_flash", "openai_privacy_filter"), SINKS)
    | dict.fromkeys(("mamba", "mamba2", "falcon_mamba", "rwkv", "xlstm", "recurrent_gemma", "minimax"), STATE)
    | dict.fromkeys(("jamba", "bamba", "zamba", "zamba2", "nemotron_h", "granitemoehybrid", "falcon_h1"), STATE)
    | dict.fromkeys(("qwen3_next", "lfm2", "lfm2_moe"), STATE)
    | {"doge": "chooses its keys by a mask that it learns", "albert": "uses one layer's weights in all layers"}
)
# By key of the config.
KEYS = {
    "attn_logit_softcapping": "caps its scores by a tanh",
    "attention_chunk_size": "reads its keys in chunks",
    "alibi": BIASED,
    "kv_lora_rank": "keeps one latent vector in place of keys and values (MLA)",
    "is_encoder_decoder": "is an encoder with a decoder",
    "add_cross_attention": "has cross attention",
    "vision_config": "reads images",
    "audio_config": "reads sounds",
}
FULL = "full_attention"
REMEDY = "take one with plain attention, such as Llama, Qwen, GPT-2, OLMo or BERT: docs/your-own.md#language-models"


def refusal(config: Mapping[str, Any]) -> str | None:
    """Why a model's attention is another formula than softmax(q k / sqrt(width)), in one line; None if it is plain.

    The config as in config.json, or with transformers' defaults filled in, which say more.
    """
    why = reason(config)
    return f"model_type {config.get('model_type')!r:.60} {why}; {REMEDY}" if why else None


def reason(config: Mapping[str, Any]) -> str | None:
    """What such a model does that the formula does not have; None if nothing is known of it."""
    why = ANOTHER.get(str(config.get("model_type"))) or next(
        (words for key, words in KEYS.items() if config.get(key)), None
    )
    others = sorted({str(each) for each in config.get("layer_types") or () if each != FULL})
    if others:
        why = why or f"has layers of the kind {', '.join(others)}"
    if config.get("sliding_window") and config.get("use_sliding_window", True):
        why = why or f"reads keys in a sliding window of {config['sliding_window']!r:.20}"
    positions = config.get("position_embedding_type")
    if isinstance(positions, str) and positions.startswith("relative"):
        why = why or BIASED
    return why
