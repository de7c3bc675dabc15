"""A graph in ONNX and the weights made of it are one model, and what is not a plain BERT is refused."""

import json

import numpy as np
import onnxruntime
import pytest
import torch
from onnx import TensorProto, helper, numpy_helper

from attnlimit.sources.model.bert import load
from attnlimit.sources.model.onnx_bert import convert
from support.onnx_graphs import CONFIG, bert_graph

IDS = np.random.default_rng(1).integers(0, CONFIG["vocab_size"], (4, 20))
FLOAT16 = 1.5e-3  # relative; measured: 4.5e-4 with the erf of config.json, 4.4e-4 with the tanh of the graph


def states_of_graph(model) -> np.ndarray:
    """What onnxruntime makes of IDS."""
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    inputs = {"input_ids": IDS, "attention_mask": np.ones_like(IDS), "token_type_ids": np.zeros_like(IDS)}
    return session.run(None, inputs)[0]


def converted(model, folder, config=CONFIG):
    """The graph as a model of transformers."""
    (folder / "graph.onnx").write_bytes(model.SerializeToString())
    (folder / "config.json").write_text(json.dumps(config))
    convert(folder / "graph.onnx", folder / "config.json", folder / "model.safetensors")
    return load(folder)


def states_of_model(model) -> np.ndarray:
    with torch.inference_mode():
        return model(input_ids=torch.as_tensor(IDS)).last_hidden_state.numpy()


def difference(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.linalg.norm(one - other) / np.linalg.norm(one))


@pytest.fixture(scope="module")
def expected() -> np.ndarray:
    return states_of_graph(bert_graph())


def test_both_give_the_same_states(expected, tmp_path):
    model = converted(bert_graph(), tmp_path)
    assert difference(expected, states_of_model(model)) < FLOAT16
    for layer in model.encoder.layer:
        layer.intermediate.intermediate_act_fn = torch.nn.GELU(approximate="tanh")
    assert difference(expected, states_of_model(model)) < FLOAT16


def test_the_same_graph_gives_the_same_bytes(tmp_path):
    written = []
    for name in "ab":
        (tmp_path / name).mkdir()
        converted(bert_graph(), tmp_path / name)
        written.append((tmp_path / name / "model.safetensors").read_bytes())
    assert written[0] == written[1]


@pytest.mark.parametrize("change", ["query_key", "key_value", "heads", "scale", "transposed", "norm", "bias"])
def test_a_wrong_reading_would_be_seen(change, expected, tmp_path):
    """Each of these leaves every shape as it is."""
    model = converted(bert_graph(), tmp_path)
    part = model.encoder.layer[1].attention
    query, key, value = part.self.query, part.self.key, part.self.value
    with torch.no_grad():
        match change:
            case "query_key":
                query.weight.data, key.weight.data = key.weight.data, query.weight.data
            case "key_value":
                key.weight.data, value.weight.data = value.weight.data, key.weight.data
            case "heads":
                value.weight.copy_(value.weight.roll(8, 0))
            case "scale":
                part.self.scaling *= 2
            case "transposed":
                part.output.dense.weight.copy_(part.output.dense.weight.T.clone())
            case "norm":
                part.output.LayerNorm.weight.copy_(model.encoder.layer[1].output.LayerNorm.weight)
            case "bias":
                part.output.dense.bias.zero_()
    assert difference(expected, states_of_model(model)) > 3 * FLOAT16


def node_of(model, kind: str, number: int = 0):
    return [node for node in model.graph.node if node.op_type == kind][number]


def tensor_of(model, name: str):
    return next(tensor for tensor in model.graph.initializer if tensor.name == name)


def attribute(kind: str, **values):
    """Give a node of this kind another attribute."""

    def change(model):
        node = node_of(model, kind)
        kept = [each for each in node.attribute if each.name not in values]
        del node.attribute[:]
        node.attribute.extend([*kept, *(helper.make_attribute(key, value) for key, value in values.items())])

    return change


def another_node(model):
    model.graph.node.append(helper.make_node("Relu", ["state"], ["more"], name="Relu_more"))


def another_kind(model):
    node_of(model, "FastGelu").op_type = "QuickGelu"


def relative_positions(model):
    node_of(model, "Attention", 1).input.extend(["", "words"])


def causal_past(model):
    node_of(model, "Attention").output.append("present")


def missing_tensor(model):
    model.graph.initializer.remove(tensor_of(model, "0_qkv"))


def whole_numbers(model):
    tensor_of(model, "words").CopyFrom(numpy_helper.from_array(np.zeros((40, 24), np.int8), "words"))


def another_shape(model):
    tensor_of(model, "1_inner").CopyFrom(numpy_helper.from_array(np.zeros((24, 47), np.float16), "1_inner"))


def elsewhere(model):
    tensor = tensor_of(model, "words")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="/etc/passwd")


def other_positions(model):
    array = numpy_helper.from_array(np.arange(1, 33)[None])
    node = next(node for node in model.graph.node if node.output[0] == "numbers")
    node.attribute[0].t.CopyFrom(array)


def other_residual(model):
    node_of(model, "SkipLayerNormalization", 3).input[1] = "state"


def other_mask(model):
    node_of(model, "Cast").input[0] = "token_type_ids"


def other_domain(model):
    node_of(model, "Attention").domain = "org.example"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (another_node, "it also has Relu Relu_more"),
        (another_kind, "0 nodes FastGelu or BiasGelu read '0_inner_product'"),
        (relative_positions, "has 6 inputs"),
        (causal_past, "2 outputs"),
        (missing_tensor, "no tensor '0_qkv' in it"),
        (whole_numbers, "tensor 'words' is not of float16 or float32"),
        (another_shape, "tensor '1_inner' is (24, 47), config.json says (24, 48)"),
        (elsewhere, "tensor 'words' is in another file"),
        (other_positions, "its positions do not count from 0"),
        (other_residual, "adds 'state', not '1_middle_normed'"),
        (other_mask, "the mask 'mask_index' is not the sum of attention_mask"),
        (other_domain, "it has Attention of 'org.example'"),
        (attribute("Attention", scale=0.5), "scale of Attention Attention_0_attention is 0.5"),
        (attribute("Attention", unidirectional=1), "unidirectional of Attention Attention_0_attention is 1"),
        (attribute("Attention", do_rotary=1), "do_rotary of Attention"),
        (attribute("Attention", qkv_hidden_sizes=[24, 24, 24]), "qkv_hidden_sizes of Attention"),
        (attribute("Attention", num_heads=4), "has [4] heads, config.json 3"),
        (attribute("SkipLayerNormalization", epsilon=1e-5), "config.json says 1e-12"),
        (attribute("Gather", axis=1), "axis of Gather Gather_length is 1"),
        (attribute("LayerNormalization", axis=1), "axis of LayerNormalization"),
    ],
)
def test_a_graph_that_is_no_plain_bert_is_refused(change, why, tmp_path):
    model = bert_graph()
    change(model)
    with pytest.raises(ValueError, match=r"graph\.onnx: not the graph of a plain BERT: ") as error:
        converted(model, tmp_path)
    assert why in str(error.value) and "\n" not in str(error.value)
    assert not (tmp_path / "model.safetensors").exists()


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"hidden_size": 48}, "config.json says (40, 48)"),
        ({"vocab_size": 41}, "config.json says (41, 24)"),
        ({"num_hidden_layers": 1}, "0 nodes Cast read"),
        ({"num_hidden_layers": 3}, "0 nodes Attention read"),
        ({"hidden_act": "relu"}, "not of model_type bert with hidden_act gelu"),
        ({"model_type": "electra"}, "not of model_type bert with hidden_act gelu"),
        ({"position_embedding_type": "relative_key"}, "position_embedding_type 'relative_key' is not supported"),
    ],
)
def test_a_config_of_another_model_is_refused(changes, why, tmp_path):
    with pytest.raises(ValueError) as error:
        converted(bert_graph(), tmp_path, CONFIG | changes)
    assert why in str(error.value) and "\n" not in str(error.value)


def test_what_is_no_graph_is_refused(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    for content in (b"no graph", b"\0" * 100, bert_graph().SerializeToString()[:-1000]):
        (tmp_path / "graph.onnx").write_bytes(content)
        with pytest.raises(ValueError, match=r"graph\.onnx: no"):
            convert(tmp_path / "graph.onnx", tmp_path / "config.json", tmp_path / "model.safetensors")
