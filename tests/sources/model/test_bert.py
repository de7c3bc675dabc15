"""A model loads whole or is refused by name, and its heads compute what the model computes."""

from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from transformers import BigBirdConfig, BigBirdForMaskedLM

from attnlimit.attention.kernel import Heads
from attnlimit.sources.model.bert import FAMILIES, heads_dataset, layer_inputs, load, longest_block, require_readable
from attnlimit.sources.model.families import shape_of_model
from attnlimit.sources.model.files import (
    embedded_folder,
)
from support import dense
from support.small_models import (
    CHECKPOINTS,
    SMALL,
    TENSOR,
    rewrite_config,
    rewrite_tensors,
    save_bert,
    save_checkpoint,
)

SENTENCE = "Anarchism is a political philosophy that is skeptical of authority and rejects all involuntary hierarchy."


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


def attention_error(model: torch.nn.Module, ids: np.ndarray) -> float:
    """Largest difference, over layers, of the dense float64 formula on the stored projections and inputs from what the
    model's own attention handed to its output projection, relative to the largest value."""
    seen = []
    ends = ("attention.output.dense", "attention.out_lin")
    hooks = [
        module.register_forward_pre_hook(lambda module, given: seen.append(given[0][0].double().numpy()))
        for name, module in model.named_modules()
        if name.endswith(ends)
    ]
    with torch.no_grad():
        model(input_ids=torch.as_tensor(ids)[None])
    for hook in hooks:
        hook.remove()
    (inputs,) = layer_inputs(model, [ids])
    heads = heads_dataset(model)
    assert len(seen) == len(inputs) == heads.sizes["layer"] == model.config.num_hidden_layers
    errors = []
    for layer, (tokens, found) in enumerate(zip(inputs.astype(np.float64), seen, strict=True)):
        expected = dense.outputs(tokens, tokens, Heads.of(heads.sel(layer=layer)))
        errors.append(np.abs(found - expected).max() / np.abs(expected).max())
    return max(errors)


def test_heads_compute_the_attention_of_the_model(model, ids):
    assert len(ids) > 15
    assert attention_error(model, ids) < 1e-5


def test_layer_inputs_are_the_hidden_states_but_the_last(model, ids):
    (inputs,) = layer_inputs(model, [ids])
    with torch.no_grad():
        states = model(input_ids=torch.as_tensor(ids)[None], output_hidden_states=True).hidden_states
    assert inputs.shape == (6, len(ids), 384) and inputs.dtype == np.float32
    for layer in range(6):
        np.testing.assert_array_equal(inputs[layer], states[layer][0])


@pytest.mark.parametrize("layers", [[0], [3], [1, 4], [5]])
def test_some_layers_are_read_no_further_than_the_deepest(model, ids, layers):
    (whole,), passed = layer_inputs(model, [ids]), []
    hooks = [layer.register_forward_hook(lambda *_: passed.append(1)) for layer in model.encoder.layer]
    (inputs,) = layer_inputs(model, [ids], layers)
    for hook in hooks:
        hook.remove()
    np.testing.assert_array_equal(inputs, whole[layers])
    assert len(passed) == max(layers)


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


@pytest.fixture
def folder(tmp_path) -> Path:
    """A small random model in a folder of its own."""
    return save_bert(tmp_path)


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


def test_another_kind_of_model_is_refused_with_those_supported(folder):
    rewrite_config(folder, lambda config: config.update(model_type="gpt2"))
    with pytest.raises(ValueError) as error:
        load(folder)
    for part in (f"{folder / 'config.json'}: ", "gpt2", *FAMILIES):
        assert part in str(error.value)


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


def test_every_family_is_tested():
    assert CHECKPOINTS.keys() == FAMILIES.keys()


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_computes_the_attention_of_its_model(family, tmp_path):
    """Up to the longest block, at which BigBird as it is published would attend to a part of the tokens only."""
    save_checkpoint(family, tmp_path)
    model, longest = load(tmp_path), CHECKPOINTS[family][2]
    biases = [array.values for name, array in heads_dataset(model).items() if name.endswith("bias")]
    assert np.abs(biases).min() > 0
    ids = np.random.default_rng(0).integers(2, 40, longest)
    assert attention_error(model, ids[:7]) < 1e-5
    assert attention_error(model, ids) < 1e-5


@pytest.mark.parametrize("family", FAMILIES)
def test_a_block_longer_than_the_positions_is_refused(family, tmp_path):
    save_checkpoint(family, tmp_path)
    model, longest = load(tmp_path), CHECKPOINTS[family][2]
    ids = np.full(longest + 1, 5)
    assert longest_block(model) == longest
    require_readable(model, [ids[:-1], ids[:3]], tmp_path)
    with pytest.raises(
        ValueError, match=rf"^tokenize_corpus\.block: {longest + 1} tokens, .* at most {longest}; lower"
    ):
        require_readable(model, [ids[:3], ids], tmp_path)
    with pytest.raises((IndexError, RuntimeError)):  # what it would end in
        next(layer_inputs(model, [ids]))


def test_a_word_that_the_model_does_not_have_is_refused(folder):
    model = load(folder)
    require_readable(model, [np.array([0, 19])], folder)
    with pytest.raises(ValueError) as error:
        require_readable(model, [np.array([0, 1]), np.array([20, 1])], folder)
    for part in (str(folder / "tokenizer.json"), str(folder / "model.safetensors"), "20", "belong together"):
        assert part in str(error.value)


def test_biases_that_a_model_does_not_have_are_zero(tmp_path):
    torch.manual_seed(0)
    BigBirdForMaskedLM(BigBirdConfig(**SMALL, use_bias=False)).save_pretrained(tmp_path)
    model = load(tmp_path)
    assert not heads_dataset(model)["query_bias"].any()
    assert attention_error(model, np.arange(2, 30)) < 1e-5


def test_half_precision_is_read_as_float32(folder):
    rewrite_tensors(folder, lambda tensors: tensors.update({name: t.half() for name, t in tensors.items()}))
    rewrite_config(folder, lambda config: config.update(dtype="float16"))
    assert {parameter.dtype for parameter in load(folder).parameters()} == {torch.float32}


@pytest.mark.parametrize(
    "change",
    [
        {"is_decoder": True},
        {"add_cross_attention": True},
        {"position_embedding_type": "relative_key"},
        {"quantization_config": {"quant_method": "bitsandbytes"}},
        {"auto_map": {"AutoModel": "modeling.Other"}},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_model_that_attends_in_another_way_is_refused(folder, change):
    rewrite_config(folder, lambda config: config.update(change))
    with pytest.raises(ValueError) as error:
        load(folder)
    assert f"{folder / 'config.json'}: {next(iter(change))}" in str(error.value)
    assert len(str(error.value).splitlines()) == 1


@pytest.mark.parametrize("kind", [torch.int8, torch.int64, torch.bool, torch.complex64, torch.float8_e4m3fn])
def test_weights_of_another_dtype_are_refused(folder, kind):
    """Hugging Face would take whole numbers for weights."""
    rewrite_tensors(folder, lambda tensors: tensors.update({TENSOR: tensors[TENSOR].to(kind)}))
    with pytest.raises(ValueError) as error:
        load(folder)
    for part in (f"{folder / 'model.safetensors'}: ", TENSOR, "dtype", "float32"):
        assert part in str(error.value)


def test_the_positions_that_old_checkpoints_count_are_no_weights(folder):
    rewrite_tensors(folder, lambda tensors: tensors.update({"embeddings.position_ids": torch.arange(16)}))
    assert load(folder)


@pytest.mark.parametrize("layers", [0, 1, 3, 10**9])
def test_weights_of_another_number_of_layers_are_refused(folder, layers):
    """Hugging Face would leave out the layers beyond those of config.json."""
    rewrite_config(folder, lambda config: config.update(num_hidden_layers=layers))
    with pytest.raises(ValueError) as error:
        load(folder)
    assert str(error.value).startswith(f"{folder / 'model.safetensors'}: holds 2 layers, ")
    assert f"config.json says {layers}" in str(error.value)


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"\xff\xfe", b'{"model_type": "bert", "hidden_size": "8"}', b'{"model_type": "bert"}']
)
def test_a_damaged_config_json_is_named(folder, content):
    (folder / "config.json").write_bytes(content)
    with pytest.raises(ValueError) as error:
        load(folder)
    assert f"{folder / 'config.json'}" in str(error.value) and "; t" in str(error.value)
    assert len(str(error.value).splitlines()) == 1


def test_the_shape_of_a_folder_is_known_before_it_is_fetched(folder, tmp_path):
    section, model = {"source": "local", "location": str(folder)}, load(folder)
    assert shape_of_model(section) == (
        2,
        model.config.num_attention_heads,
        longest_block(model),
        model.config.hidden_size,
    )
    rewrite_config(folder, lambda config: config.update(n_layers=config.pop("num_hidden_layers")))
    assert shape_of_model(section).layers == 2
    (folder / "config.json").write_text("[")
    with pytest.raises(ValueError, match="config.json: damaged"):
        shape_of_model(section)
    assert shape_of_model({"source": "local", "location": str(tmp_path / "absent")}) is None
    assert shape_of_model({"source": "hub", "location": "owner/name"}) is None


def test_the_shape_of_the_model_in_the_wheel(model):
    assert shape_of_model({"source": "embedded", "location": ""}) == (
        model.config.num_hidden_layers,
        model.config.num_attention_heads,
        longest_block(model),
        model.config.hidden_size,
    )


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_says_how_much_it_reads(tmp_path, family):
    save_checkpoint(family, tmp_path)
    shape = shape_of_model({"source": "local", "location": str(tmp_path)})
    assert shape.longest == CHECKPOINTS[family][2] and None not in shape


@pytest.mark.parametrize("block", [np.array([1.0, 2.5]), np.array([True, False]), np.array([3, -1])])
def test_tokens_that_are_no_words_are_refused(folder, block):
    """A fraction would be cut to the word below it."""
    with pytest.raises(ValueError, match=r"^tokens: .* run tokenize_corpus again$"):
        require_readable(load(folder), [np.array([1, 2]), block], folder)
