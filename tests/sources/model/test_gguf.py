"""GGUF files of small Llamas: read back equal, rows un-permuted; other kinds and damage are told in one line."""

import struct

import gguf
import numpy as np
import pytest
import torch

from attnlimit.sources.model.decoder import load_decoder
from attnlimit.sources.model.gguf_llama import dequantise, unpermuted
from support.small_decoders import TOKENS, interleaved, small_llama, small_tokenizer, write_gguf

TEXT = "the cat, the 42 mats – and <|end|>"
IDS = torch.arange(100)[None]


@pytest.mark.parametrize("tied", [True, False])
def test_a_model_is_read_back_as_it_was_written(tmp_path, tied):
    expected = small_llama(tied)
    model, tokenizer = load_decoder(write_gguf(tmp_path / "model.gguf", expected))
    for name, tensor in expected.state_dict().items():
        assert torch.equal(model.state_dict()[name], tensor), name
    with torch.no_grad():
        torch.testing.assert_close(model(input_ids=IDS)[0], expected(input_ids=IDS)[0], rtol=1e-4, atol=1e-4)
    assert tokenizer(TEXT).input_ids == small_tokenizer().encode(TEXT).ids
    assert tokenizer.decode(tokenizer(TEXT).input_ids) == TEXT
    assert model.config._attn_implementation == "eager" and model.config.quantised == ""


def test_without_un_permuting_it_is_another_model(tmp_path, monkeypatch):
    """Nothing else fails, so this test must: shapes, names and norms are all right."""
    monkeypatch.setattr("attnlimit.sources.model.gguf_llama.unpermuted", lambda weight, heads: weight)
    expected = small_llama()
    model, _ = load_decoder(write_gguf(tmp_path / "model.gguf", expected))
    with torch.no_grad():
        assert (model(input_ids=IDS)[0] - expected(input_ids=IDS)[0]).abs().max() > 0.1


def test_rows_of_each_head_come_back_in_order():
    rows = np.arange(16)[:, None]
    assert interleaved(rows, 2)[:, 0].tolist() == [0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15]
    np.testing.assert_array_equal(unpermuted(interleaved(rows, 2), 2), rows)


@pytest.mark.parametrize("kind", ["F16", "Q8_0", "Q4_0", "Q4_1"])
def test_rounded_weights_become_the_values_that_they_stand_for(tmp_path, kind):
    expected = small_llama()
    model, _ = load_decoder(write_gguf(tmp_path / "model.gguf", expected, kind))
    place = "model.layers.1.mlp.down_proj.weight"
    rounded, of_kind = expected.state_dict()[place].numpy(), gguf.GGMLQuantizationType[kind]
    values = gguf.dequantize(gguf.quantize(rounded, of_kind), of_kind)
    np.testing.assert_array_equal(model.state_dict()[place].numpy(), values.astype(np.float32))
    assert model.config.quantised == ("" if kind == "F16" else kind)


def nan(tensors):
    tensors["blk.1.ffn_up.weight"] = np.full_like(tensors["blk.1.ffn_up.weight"], np.nan)


def narrow(tensors):
    tensors["blk.0.attn_v.weight"] = tensors["blk.0.attn_v.weight"][:16]


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ({"architecture": "qwen2"}, "architecture 'qwen2', of which only llama is read"),
        ({"kind": "Q4_K"}, "is rounded as Q4_K, of which only F32"),
        ({"kv_heads": 3}, "4 heads, 3 KV heads"),
        ({"tokens": TOKENS[:-1]}, r"token_embd.weight is \(260, 64\), not \(259, 64\)"),
        ({"tokens": [*TOKENS[:-1], "a"]}, "has a token twice"),
        ({"tokens": [*TOKENS[:-2], "other", "more"]}, "merges tokens that it does not have"),
        ({"pre": "llama-bpe"}, "tokenizer 'gpt2' 'llama-bpe'"),
        ({"change": nan}, "tensor blk.1.ffn_up.weight holds NaN"),
        ({"change": narrow}, "tensor blk.0.attn_v.weight is "),
        ({"change": lambda tensors: tensors.pop("blk.1.attn_q.weight")}, "tensor 'blk.1.attn_q.weight' is missing"),
        ({"change": lambda tensors: tensors.update({"rope_freqs.weight": np.ones(8)})}, "'rope_freqs.weight' is not k"),
    ],
)
def test_what_is_not_read_is_told_with_a_remedy(tmp_path, written, why):
    path = write_gguf(tmp_path / "model.gguf", small_llama(), **written)
    with pytest.raises(ValueError, match=f"model.gguf: .*{why}.*; take model.safetensors") as told:
        dequantise(path, tmp_path)
    assert "\n" not in str(told.value) and not (tmp_path / "model.safetensors").exists()


def metadata(name: str, kind: int, value: bytes) -> bytes:
    """The beginning of a GGUF with no tensor and one value."""
    start = b"GGUF" + struct.pack("<IQQ", 3, 0, 1)
    return start + struct.pack("<Q", len(name)) + name.encode() + struct.pack("<I", kind) + value


HUGE = {
    "numbers": metadata("a", 9, struct.pack("<IQ", 0, 2**40)) + bytes(1000),
    "strings": metadata("a", 9, struct.pack("<IQ", 8, 2**40)) + bytes(1000),
    "text": metadata("a", 8, struct.pack("<Q", 2**40)) + bytes(1000),
    "tensors": b"GGUF" + struct.pack("<IQQ", 3, 2**40, 0) + bytes(1000),
    "values": b"GGUF" + struct.pack("<IQQ", 3, 0, 2**40) + bytes(1000),
    "lists": metadata("a", 9, struct.pack("<IQ", 9, 1) * 3000),
    "nothing": b"",
    "zip": b"PK\x03\x04" + bytes(100),
}


@pytest.mark.parametrize("name", HUGE)
def test_a_file_that_declares_more_than_it_holds_is_damaged(tmp_path, name):
    path = tmp_path / "model.gguf"
    path.write_bytes(HUGE[name])
    with pytest.raises(ValueError, match="model.gguf: damaged, or no GGUF .*; fetch it again"):
        dequantise(path, tmp_path)


@pytest.mark.parametrize("left", [20, 300, 5000, -100])
def test_a_truncated_file_is_damaged(tmp_path, left):
    path = write_gguf(tmp_path / "model.gguf", small_llama())
    path.write_bytes(path.read_bytes()[:left])
    with pytest.raises(ValueError, match="model.gguf: damaged, or no GGUF .*; fetch it again"):
        dequantise(path, tmp_path)


def test_layers_without_tensors_are_told_before_they_are_listed(tmp_path):
    path = write_gguf(tmp_path / "model.gguf", small_llama())
    content = path.read_bytes()
    place = content.index(b"llama.block_count") + len(b"llama.block_count") + 4
    path.write_bytes(content[:place] + struct.pack("<I", 2**31) + content[place + 4 :])
    with pytest.raises(ValueError, match="its metadata says 2147483648 layers, but it has 20 tensors"):
        dequantise(path, tmp_path)
