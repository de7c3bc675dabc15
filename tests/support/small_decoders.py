"""Random language models small enough to be made for one test, and GGUF files written as llama.cpp writes them."""

from pathlib import Path

import gguf
import numpy as np
import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

SIZES = {"vocab_size": 50, "hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4}
SIZES |= {"intermediate_size": 48, "max_position_embeddings": 600, "bos_token_id": None, "eos_token_id": None}
GROUPED = SIZES | {"num_key_value_heads": 2}
GPT2 = {"vocab_size": 50, "n_embd": 32, "n_layer": 3, "n_head": 4, "n_positions": 600}
GPT2 |= {"bos_token_id": None, "eos_token_id": None}
DECODERS = {
    "Llama": GROUPED,
    "Qwen2": GROUPED,
    "Qwen3": GROUPED | {"head_dim": 8},
    "Mistral": GROUPED | {"sliding_window": None},
    "Olmo": GROUPED,
    "GPTNeoX": SIZES,
    "GPT2": GPT2,
}


def small_decoder(name: str, **changes) -> transformers.PreTrainedModel:
    """A model of random weights, large enough that attention is uneven, with biases that are not zero."""
    kind = getattr(transformers, f"{name}LMHeadModel" if name == "GPT2" else f"{name}ForCausalLM")
    torch.manual_seed(0)
    model = kind(getattr(transformers, f"{name}Config")(**DECODERS.get(name, GROUPED) | changes))
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    return model.eval()


# Of a GGUF: rows of 64 and 256 numbers, so that all kinds of rounding have whole blocks.
ALPHABET = sorted(pre_tokenizers.ByteLevel.alphabet())
MERGES = ["t h", "th e", "Ġ the"]
TOKENS = [*ALPHABET, "th", "the", "Ġthe", "<|end|>"]
LLAMA = {"vocab_size": len(TOKENS), "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
LLAMA |= {"num_key_value_heads": 2, "intermediate_size": 256, "max_position_embeddings": 128, "rms_norm_eps": 1e-5}
LLAMA |= {"bos_token_id": None, "eos_token_id": None, "head_dim": 16}
PLACES = {"self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v"}
PLACES |= {"self_attn.o_proj": "attn_output", "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm"}
PLACES |= {"mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down"}
PLACES |= {"model.layers": "blk", "model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output"}


def small_llama(tied: bool = True) -> transformers.PreTrainedModel:
    return small_decoder("Llama", **LLAMA, tie_word_embeddings=tied, rope_parameters={"rope_theta": 1e5})


def small_tokenizer() -> Tokenizer:
    merges = [tuple(merge.split()) for merge in MERGES]
    tokenizer = Tokenizer(models.BPE({token: number for number, token in enumerate(TOKENS)}, merges))
    digits = pre_tokenizers.Digits(individual_digits=True)
    bytewise = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.Sequence([digits, bytewise]), decoders.ByteLevel()
    tokenizer.add_special_tokens(["<|end|>"])
    return tokenizer


def interleaved(weight: np.ndarray, heads: int) -> np.ndarray:
    """As llama.cpp's converter orders rows: i, i + width/2 of each head -> 2i, 2i + 1."""
    return weight.reshape(heads, 2, len(weight) // heads // 2, -1).swapaxes(1, 2).reshape(weight.shape)


def write_gguf(
    path: Path, model, kind="F32", architecture="llama", kv_heads=2, tokens=TOKENS, pre="smollm", change=None
) -> Path:
    """The model as a GGUF; matrices rounded to a kind, tensors changed by name before."""
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_block_count(2)
    writer.add_context_length(128)
    writer.add_embedding_length(64)
    writer.add_feed_forward_length(256)
    writer.add_head_count(4)
    writer.add_head_count_kv(kv_heads)
    writer.add_rope_freq_base(1e5)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(pre)
    writer.add_token_list(tokens)
    writer.add_token_types([3 if token == "<|end|>" else 1 for token in tokens])
    writer.add_token_merges(MERGES)
    writer.add_add_bos_token(False)
    tensors = {}
    for name, tensor in model.state_dict().items():
        for place, short in PLACES.items():
            name = name.replace(place, short)
        if name == "output.weight" and model.config.tie_word_embeddings:
            continue
        array = tensor.numpy()
        heads = {"attn_q": 4, "attn_k": 2}.get(name.split(".")[-2])
        tensors[name] = interleaved(array, heads) if heads else array
    if change:
        change(tensors)
    for name, array in tensors.items():
        if array.ndim == 1 or kind == "F32":
            writer.add_tensor(name, array.astype(np.float32))
        elif kind == "Q4_K":  # gguf cannot round to it: bytes of the right number
            writer.add_tensor(name, np.zeros((len(array) * array.shape[1] // 256, 144), np.uint8), raw_dtype=12)
        else:
            rounded = gguf.GGMLQuantizationType[kind]
            writer.add_tensor(name, gguf.quantize(array.astype(np.float32), rounded), raw_dtype=rounded)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
