"""The model that is used is the one that was meant, and its heads compute what the model computes."""

import json
from pathlib import Path

import dense
import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from transformers import BertConfig, BertModel

from attnlimit.attention import Heads
from attnlimit.bert import heads_dataset, layer_inputs, load
from attnlimit.files import sha256_of
from attnlimit.model_files import FILES, copy_verified, embedded_folder

SENTENCE = "Anarchism is a political philosophy that is skeptical of authority and rejects all involuntary hierarchy."
TENSOR = "encoder.layer.1.attention.self.key.weight"


@pytest.fixture(scope="module")
def model():
    return load(embedded_folder())


@pytest.fixture(scope="module")
def heads(model):
    return heads_dataset(model)


@pytest.fixture(scope="module")
def ids() -> np.ndarray:
    tokenizer = Tokenizer.from_file(str(embedded_folder() / "tokenizer.json"))
    tokenizer.no_padding()
    return np.array(tokenizer.encode(SENTENCE).ids)


def test_the_wheel_holds_every_file():
    assert all((embedded_folder() / name).is_file() for name in FILES)


def test_heads_have_their_shapes(heads):
    assert dict(heads.sizes) == {"layer": 6, "head": 12, "width": 32, "feature": 384}
    for name in ("query", "key", "value"):
        assert heads[f"{name}_weight"].dims == ("layer", "head", "width", "feature")
        assert heads[f"{name}_bias"].dims == ("layer", "head", "width")
        assert heads[f"{name}_weight"].dtype == heads[f"{name}_bias"].dtype == np.float32
    np.testing.assert_array_equal(heads["layer"], np.arange(6))
    np.testing.assert_array_equal(heads["head"], np.arange(12))


def test_heads_hold_the_tensors_of_the_file(heads):
    tensors = load_file(embedded_folder() / "model.safetensors")
    for layer in range(6):
        for name in ("query", "key", "value"):
            for kind in ("weight", "bias"):
                written = tensors[f"encoder.layer.{layer}.attention.self.{name}.{kind}"].numpy()
                found = heads[f"{name}_{kind}"].sel(layer=layer).values
                np.testing.assert_array_equal(np.concatenate(found), written)


def test_heads_compute_the_attention_of_the_model(model, heads, ids):
    """The dense float64 formula on the stored projections and inputs against what each layer really put out."""
    assert len(ids) > 15
    seen = {}

    def keep(layer):
        return lambda module, given, output: seen.update({layer: output[0]})

    hooks = [block.attention.self.register_forward_hook(keep(layer)) for layer, block in enumerate(model.encoder.layer)]
    (inputs,) = layer_inputs(model, [ids])
    for hook in hooks:
        hook.remove()
    assert list(seen) == list(range(6))
    for layer, context in seen.items():
        tokens = inputs[layer].astype(np.float64)
        expected = dense.outputs(tokens, tokens, Heads.of(heads.sel(layer=layer)))
        np.testing.assert_allclose(context.reshape(len(ids), 384), expected, rtol=0, atol=1e-5)


def test_layer_inputs_are_the_hidden_states_but_the_last(model, ids):
    (inputs,) = layer_inputs(model, [ids])
    with torch.no_grad():
        states = model(input_ids=torch.as_tensor(ids)[None], output_hidden_states=True).hidden_states
    assert inputs.shape == (6, len(ids), 384) and inputs.dtype == np.float32
    for layer in range(6):
        np.testing.assert_array_equal(inputs[layer], states[layer][0])


def test_a_block_does_not_feel_the_others(model, ids):
    blocks = [ids, ids[:7], ids[3:]]
    together = list(layer_inputs(model, blocks))
    for block, found in zip(blocks, together, strict=True):
        (alone,) = layer_inputs(model, [block])
        np.testing.assert_array_equal(found, alone)


def test_the_input_of_layer_0_is_a_function_of_word_and_position(model, ids):
    """What lets equal pairs be one atom there; deeper, the rest of the block is felt."""
    changed = ids.copy()
    changed[-2] = ids[3]
    first, second = layer_inputs(model, [ids, changed])
    same = np.delete(np.arange(len(ids)), -2)
    np.testing.assert_array_equal(first[0][same], second[0][same])
    assert np.abs(first[1][same] - second[1][same]).max() > 1e-3


def test_a_copy_is_verified(tmp_path):
    source, target = tmp_path / "source", tmp_path / "models" / "target"
    source.write_bytes(b"weights")
    target.parent.mkdir()
    copy_verified(source, target, sha256_of(source))
    assert target.read_bytes() == b"weights"


def test_a_copy_with_another_sha256_leaves_nothing(tmp_path):
    source, folder = tmp_path / "source", tmp_path / "models"
    source.write_bytes(b"weights")
    folder.mkdir()
    with pytest.raises(ValueError, match="sha256"):
        copy_verified(source, folder / "target", "0" * 64)
    assert list(folder.iterdir()) == []


@pytest.fixture
def folder(tmp_path) -> Path:
    """A small random model in a folder of its own."""
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=20,
        hidden_size=8,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=16,
    )
    BertModel(config).save_pretrained(tmp_path)
    return tmp_path


def rewrite_tensors(folder: Path, change) -> None:
    tensors = load_file(folder / "model.safetensors")
    change(tensors)
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})


def rewrite_config(folder: Path, change) -> None:
    config = json.loads((folder / "config.json").read_text())
    change(config)
    (folder / "config.json").write_text(json.dumps(config))


def test_a_sound_folder_loads(folder):
    heads = heads_dataset(load(folder))
    written = load_file(folder / "model.safetensors")[TENSOR].numpy()
    np.testing.assert_array_equal(np.concatenate(heads["key_weight"].sel(layer=1).values), written)


def test_a_missing_tensor_is_named(folder):
    """Hugging Face would fill it with random numbers."""
    rewrite_tensors(folder, lambda tensors: tensors.pop(TENSOR))
    with pytest.raises(LookupError) as error:
        load(folder)
    assert f"{folder / 'model.safetensors'}: " in str(error.value) and TENSOR in str(error.value)


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_a_tensor_that_is_not_finite_is_named(folder, number):
    rewrite_tensors(folder, lambda tensors: tensors[TENSOR].view(-1)[5].fill_(number))
    with pytest.raises(ValueError) as error:
        load(folder)
    assert f"{folder / 'model.safetensors'}: " in str(error.value) and TENSOR in str(error.value)


def test_a_tensor_of_another_shape_is_named(folder):
    rewrite_tensors(folder, lambda tensors: tensors.update({TENSOR: torch.zeros(4, 8)}))
    with pytest.raises(ValueError) as error:
        load(folder)
    assert f"{folder / 'model.safetensors'}: " in str(error.value) and TENSOR in str(error.value)


@pytest.mark.parametrize("kept", [0.0, 0.01, 0.5, 0.999])
def test_truncated_weights_are_named(folder, kept):
    weights = folder / "model.safetensors"
    content = weights.read_bytes()
    weights.write_bytes(content[: int(kept * len(content))])
    with pytest.raises(ValueError) as error:
        load(folder)
    assert f"{weights}: " in str(error.value)


def test_another_kind_of_model_is_refused(folder):
    rewrite_config(folder, lambda config: config.update(model_type="gpt2"))
    with pytest.raises(ValueError) as error:
        load(folder)
    assert f"{folder / 'config.json'}: " in str(error.value) and "gpt2" in str(error.value)


def test_a_config_without_a_kind_is_refused(folder):
    rewrite_config(folder, lambda config: config.pop("model_type"))
    with pytest.raises(ValueError) as error:
        load(folder)
    assert f"{folder / 'config.json'}: " in str(error.value) and "model_type" in str(error.value)


def test_pickled_weights_are_never_read(folder):
    """A pickle runs code when it is opened."""
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    with pytest.raises(OSError, match=r"model\.safetensors"):
        load(folder)
