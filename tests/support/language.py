"""A small random causal model, an encoder and a tokenizer of words, for tests of language models and of the atlas."""

from pathlib import Path

import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from transformers import BertConfig, BertModel, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

WORDS = 50
TEXTS = ("one", "two", "three", "four", "five")
KEYS = {"contexts": [32, 64, 128], "context": 64, "queries": 16, "last": 8, "heavy": 2, "sizes": [8, 32, 128, 512]}


def small_llama(heads: int = 4, groups: int = 2, layers: int = 2, longest: int = 256) -> LlamaForCausalLM:
    """Weights from a fixed seed, larger than usual: attention that is not flat."""
    config = LlamaConfig(
        vocab_size=WORDS,
        hidden_size=8 * heads,
        intermediate_size=32,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=groups,
        max_position_embeddings=longest,
        initializer_range=0.3,
        tie_word_embeddings=True,
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return LlamaForCausalLM(config).eval()


def small_bert(heads: int = 4, layers: int = 2, longest: int = 256) -> BertModel:
    """The same for an encoder, whose tokens see all others."""
    config = BertConfig(
        vocab_size=WORDS,
        hidden_size=8 * heads,
        intermediate_size=32,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        max_position_embeddings=longest,
        initializer_range=0.3,
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return BertModel(config, add_pooling_layer=False).eval()


def word_tokenizer() -> PreTrainedTokenizerFast:
    """w0 … w49, no marks."""
    tokenizer = Tokenizer(WordLevel({f"w{number}": number for number in range(WORDS)}, unk_token="w0"))
    tokenizer.pre_tokenizer = Whitespace()
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer)


def words(count: int, seed: int) -> str:
    """A text of random words."""
    stream = torch.Generator().manual_seed(seed)
    return " ".join(f"w{int(number)}" for number in torch.randint(WORDS, (count,), generator=stream))


def small_run(folder: Path) -> dict:
    """Settings of a small run of chapter language; model and texts are written into the folder."""
    small_llama().save_pretrained(folder / "model")
    word_tokenizer().backend_tokenizer.save(str(folder / "model/tokenizer.json"))
    (folder / "texts").mkdir()
    for number, name in enumerate(TEXTS):
        (folder / f"texts/{name}.txt").write_text(words(200, number))
    return {
        "chapters": ["language"],
        "layers": [0, 1],
        "fetch_corpus": {"source": "text", "location": str(folder / "texts"), "title": "random words"},
        "fetch_model": {"source": "local", "location": str(folder / "model"), "title": "a small Llama"},
        "prepare_windows": {"windows": len(TEXTS) - 1, "window": 128, "left_out": ["one"]},
        "measure_keys": KEYS,
        "measure_next_token": {"sizes": [4, 8, 16]},
    }
