"""One call for a loaded model: the numbers of the library, the model as it was, encoders, and what is refused."""

import subprocess
import sys

import numpy as np
import pytest
import torch
from transformers import BertConfig, BertModel

from attnlimit import keys_needed
from attnlimit.attention.key_protocols import SAMPLED
from attnlimit.attention.keys import Kept
from attnlimit.questions.keys.first_order import keys_by_first_order
from attnlimit.questions.keys.measure import Reading, measure_window, windows_of
from attnlimit.sampling.joining import join_parts
from support.language import WORDS, small_llama, word_tokenizer, words

TEXTS = [words(80, seed) for seed in range(2)]
CHOSEN = {"window": 64, "kept": (1, 8, 2)}


def test_the_call_gives_what_the_workflow_computes_and_leaves_the_model_as_it_was():
    model, tokenizer = small_llama(), word_tokenizer()
    ids = torch.as_tensor(windows_of(tokenizer, TEXTS[:1], 64)[0])[None]
    with torch.no_grad():
        before = model(input_ids=ids).logits
        found = keys_needed(model, tokenizer, TEXTS, measure=True, **CHOSEN)
        assert torch.equal(model(input_ids=ids).logits, before)
    reading = Reading([64], 64, 64, Kept(1, 8, 2), SAMPLED, found["n"].values.tolist(), 4, 0)
    windows = windows_of(tokenizer, TEXTS, 64)
    measured = join_parts(
        [measure_window(model, each, reading, window=row) for row, each in enumerate(windows)], "window"
    )
    expected = keys_by_first_order(measured, 0.05).squeeze("context")
    np.testing.assert_array_equal(found["keys"], expected["keys"].transpose("layer", "head", "protocol"))
    np.testing.assert_array_equal(found["reliable"], expected["reliable"].transpose("layer", "head", "protocol"))
    rms = np.sqrt((measured["error"] ** 2).mean(("window", "replicate"))).transpose("layer", "head", "protocol", "n")
    np.testing.assert_allclose(found["rms"], rms)
    assert dict(found.sizes) == {"layer": 2, "head": 4, "protocol": 5, "largest": 3, "n": 9}


def test_half_as_large_an_error_needs_four_times_the_keys():
    one, other = (keys_needed(small_llama(), word_tokenizer(), TEXTS, error, **CHOSEN)["keys"] for error in (0.1, 0.05))
    np.testing.assert_allclose(other, 4 * one)


def test_half_precision_is_probed_in_float32():
    exact = keys_needed(small_llama(), word_tokenizer(), TEXTS, **CHOSEN)
    half = keys_needed(small_llama().to(torch.bfloat16), word_tokenizer(), TEXTS, **CHOSEN)
    assert half["keys"].dtype == np.float64
    ratio = (half["keys"] / exact["keys"]).median()
    assert 0.8 < float(ratio) < 1.25


def test_an_encoder_reads_all_keys_of_its_text():
    config = BertConfig(
        vocab_size=WORDS, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=32
    )
    with torch.random.fork_rng():
        torch.manual_seed(1)
        model = BertModel(config).eval()
    found = keys_needed(model, word_tokenizer(), TEXTS, **CHOSEN)
    assert dict(found.sizes) == {"layer": 2, "head": 4, "protocol": 5, "largest": 3}
    flat = found.sel(protocol="uniform")
    np.testing.assert_allclose(flat["keys"], 400, rtol=0.05)  # random weights of usual size: nearly flat heads
    np.testing.assert_allclose(flat["share"], 400 / 464, rtol=0.05)  # 64 keys are the stratum of every query


@pytest.mark.parametrize(
    ("change", "words_said"),
    [
        ({"texts": "one text"}, "texts: pass a list"),
        ({"texts": []}, "texts: pass a list"),
        ({"texts": iter(TEXTS)}, "texts: pass a list"),
        ({"texts": [words(80, 1), 7]}, "texts: pass a list"),
        ({"error": 0.0}, "error: 0.0"),
        ({"texts": [words(80, 1), words(20, 1)]}, r"texts\[1\]: fewer than 64 tokens"),
        ({"window": 512}, "window: 512 tokens, but the model reads at most 256"),
        ({"kept": (1, 60, 2)}, "of which a protocol keeps 63"),
        ({"kept": (1, -8, 2)}, "kept: .*0 or more"),
        ({"kept": (0, 0, 0), "window": 1}, "pass a longer window"),
        ({"error": float("nan")}, "error: nan"),
    ],
)
def test_bad_input_is_refused_in_one_line(change, words_said):
    given = {"texts": TEXTS, **CHOSEN} | change
    with pytest.raises(ValueError, match=words_said):
        keys_needed(small_llama(), word_tokenizer(), **given)


@pytest.mark.parametrize("wrong", ["gpt2", word_tokenizer().backend_tokenizer])
def test_what_is_no_tokenizer_or_model_of_transformers_is_named_with_the_remedy(wrong):
    kind = type(wrong).__name__
    with pytest.raises(TypeError, match=rf"^tokenizer: a {kind}, .*; pass .*AutoTokenizer\.from_pretrained"):
        keys_needed(small_llama(), wrong, TEXTS, **CHOSEN)
    with pytest.raises(TypeError, match=rf"^model: a {kind}, .*; pass .*AutoModel\.from_pretrained"):
        keys_needed(wrong, word_tokenizer(), TEXTS, **CHOSEN)


def test_the_package_is_imported_without_numerical_libraries():
    """Planning imports it; an unknown name is one."""
    code = "import sys, attnlimit; assert not {'torch', 'numpy', 'transformers'} & set(sys.modules); attnlimit.other"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={"PYTHONPATH": "scripts"})
    assert "has no attribute 'other'" in done.stderr
