"""A graph that torch exported and the weights made of it are one model; another model is refused."""

import json

import numpy as np
import onnxruntime
import pytest
import torch
from onnx import helper, numpy_helper

from attnlimit.sources.model.bert import load
from attnlimit.sources.model.onnx_export import convert_exported
from support.exported_graphs import HEADS, LAYERS, NAMES, POSITIONS, SCALE, SIZE, WIDE, WORDS, ZERO, exported
from support.onnx_graphs import bert_graph

IDS = np.random.default_rng(1).integers(0, WORDS, (4, 20))
FLOAT32 = 1e-5  # relative; measured: 2e-7


def states_of_graph(model) -> np.ndarray:
    """What onnxruntime makes of IDS."""
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {"input_ids": IDS, "attention_mask": np.ones_like(IDS)})[0]


def converted(model, folder) -> str:
    (folder / "graph.onnx").write_bytes(model.SerializeToString())
    return convert_exported(folder / "graph.onnx", folder)


def states_of_model(folder) -> np.ndarray:
    with torch.inference_mode():
        return load(folder)(input_ids=torch.as_tensor(IDS)).last_hidden_state.numpy()


def difference(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.linalg.norm(one - other) / np.linalg.norm(one))


@pytest.mark.parametrize("kind", NAMES)
def test_both_give_the_same_states(kind, tmp_path):
    assert converted(exported(kind), tmp_path) == ""
    assert difference(states_of_graph(exported(kind)), states_of_model(tmp_path)) < FLOAT32
    model = load(tmp_path)
    assert (model.config.model_type, model.config.vocab_size) == (kind, WORDS)
    assert model.config.max_position_embeddings == POSITIONS and model.config.hidden_size == SIZE
    assert (model.config.num_hidden_layers, model.config.num_attention_heads) == (LAYERS, HEADS)


@pytest.mark.parametrize("kind", NAMES)
def test_whole_numbers_become_what_they_stand_for(kind, tmp_path):
    """Rounding of what flows is left out, so that the states are those of the graph that does not round it."""
    graph = exported(kind, rounded=True, rounds=True)
    assert converted(graph, tmp_path) == "int8"
    assert difference(states_of_graph(exported(kind, rounded=True)), states_of_model(tmp_path)) < FLOAT32
    assert 1e-3 < difference(states_of_graph(graph), states_of_model(tmp_path)) < 0.2
    whole = tensor_of(graph, "model.embeddings.word_embeddings.weight_quantized")
    expected = SCALE * (numpy_helper.to_array(whole).astype(np.float64) - ZERO)
    assert np.array_equal(load(tmp_path).embeddings.word_embeddings.weight.detach().numpy(), expected)


def test_the_same_graph_gives_the_same_bytes(tmp_path):
    written = []
    for name in "ab":
        (tmp_path / name).mkdir()
        converted(exported("bert"), tmp_path / name)
        written.append([(tmp_path / name / file).read_bytes() for file in ("config.json", "model.safetensors")])
    assert written[0] == written[1]
    config = json.loads(written[0][0])
    assert (config["intermediate_size"], config["type_vocab_size"], config["hidden_act"]) == (WIDE, 2, "gelu")


def node_of(model, output: str):
    return next(node for node in model.graph.node if node.output[0] == output)


def tensor_of(model, name: str):
    return next(tensor for tensor in model.graph.initializer if tensor.name == name)


def another_value(name: str, value: float):
    """Give a constant another value."""

    def change(model):
        node_of(model, name).attribute[0].t.CopyFrom(numpy_helper.from_array(np.float32(value)))

    return change


def other_residual(model):
    node_of(model, "/encoder.layer.1/outcome").input[1] = "/encoder.layer.0.output.LayerNorm/norm"


def other_types(model):
    """Every second word is of the second type."""
    node_of(model, "types").op_type = "Mod"
    node_of(model, "nought").attribute[0].t.CopyFrom(numpy_helper.from_array(np.int64(2)))


def later_positions(model):
    node_of(model, "numbers").attribute[0].t.CopyFrom(numpy_helper.from_array(np.arange(POSITIONS)[None, ::-1].copy()))


@pytest.mark.parametrize(
    "change",
    [
        another_value("root", 1.0),
        another_value("/encoder.layer.0/gelu_0.5", 0.6),
        other_residual,
        other_types,
        later_positions,
    ],
)
def test_a_graph_that_computes_something_else_is_refused(change, tmp_path):
    """Each of these leaves every name and every shape of the model as it is."""
    model = exported("bert")
    change(model)
    with pytest.raises(
        ValueError, match=r"graph\.onnx: the graph and a bert of its weights differ by .*: it is another"
    ):
        converted(model, tmp_path)


def missing_matrix(model):
    model.graph.initializer.remove(tensor_of(model, node_of(model, "/encoder.layer.1.output.dense/MatMul").input[1]))


def missing_words(model):
    tensor_of(model, "model.embeddings.word_embeddings.weight").name = "lost"


def other_layers(model):
    for tensor in model.graph.initializer:
        tensor.name = tensor.name.replace("intermediate.dense", "mlp")
    for node in model.graph.node:
        for number, name in enumerate(node.input):
            node.input[number] = name.replace("intermediate.dense", "mlp")


def unknown_operator(model):
    node_of(model, "/encoder.layer.0/weights").op_type = "Entmax"


def no_softmax(model):
    for layer in range(LAYERS):
        node = node_of(model, f"/encoder.layer.{layer}/weights")
        node.op_type = "Relu"
        del node.attribute[:]


def nodes_inside(model):
    body = helper.make_graph([], "body", [], [])
    model.graph.node.append(helper.make_node("If", ["yes"], ["never"], name="If_0", then_branch=body, else_branch=body))


def another_input(model):
    model.graph.input[1].name = "bbox"


def another_epsilon(model):
    node = node_of(model, "/embeddings.LayerNorm/norm")
    next(each for each in node.attribute if each.name == "epsilon").f = 1e-5


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (missing_matrix, "onnx::MatMul_"),
        (missing_words, "no tensor embeddings.word_embeddings.weight in it"),
        (other_layers, "no layer of bert or distilbert in it"),
        (unknown_operator, "Entmax"),
        (no_softmax, "none is Softmax"),
        (nodes_inside, "If If_0 has nodes inside"),
        (another_input, "bbox"),
        (another_epsilon, "epsilon of /embeddings.LayerNorm/norm is "),
    ],
)
def test_what_cannot_be_read_is_refused_in_one_line(change, why, tmp_path):
    model = exported("bert")
    change(model)
    with pytest.raises(ValueError, match=r"graph\.onnx: not a graph of bert or distilbert as torch exports") as error:
        converted(model, tmp_path)
    assert why in str(error.value) and "\n" not in str(error.value)
    assert not (tmp_path / "model.safetensors").exists()


def test_several_scales_of_a_matrix_are_refused(tmp_path):
    model = exported("bert", rounded=True)
    scale = tensor_of(model, "model.embeddings.word_embeddings.weight_scale")
    scale.CopyFrom(numpy_helper.from_array(np.full(SIZE, SCALE, np.float32), scale.name))
    with pytest.raises(ValueError, match="has 24 scales, not one"):
        converted(model, tmp_path)


def test_what_is_no_graph_is_refused(tmp_path):
    for content in (b"no graph", b"\0" * 100, exported("bert").SerializeToString()[:-1000]):
        (tmp_path / "graph.onnx").write_bytes(content)
        with pytest.raises(ValueError, match=r"graph\.onnx: no"):
            convert_exported(tmp_path / "graph.onnx", tmp_path)


def test_a_graph_of_the_optimiser_is_told_that_it_needs_its_config(tmp_path):
    with pytest.raises(ValueError, match=r"of 'com\.microsoft', of a graph that needs its config\.json"):
        converted(bert_graph(), tmp_path)
