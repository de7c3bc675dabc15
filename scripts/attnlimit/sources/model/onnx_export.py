"""A graph in ONNX as torch exports it, of a BERT or DistilBERT -> its config.json and model.safetensors.

Tensors keep their names, except for matrices: these are transposed and named by a number. Their bias
gives the name:

    y = x A + b,    A (in, out),  b = <place>.bias    ->    <place>.weight = A^T

Integers q with scale s and zero point z are dequantised: s (q - z) in float32. Quantisation of activations is left out
(QuantizeLinear, then DequantizeLinear). What is checked is the output, not the form of the graph: onnx runs it in numpy
on a text as long as the model reads, and transformers with these weights must reach the same states of the last layer.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import onnx
import torch
from google.protobuf.message import DecodeError
from onnx import AttributeProto, NodeProto, TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from safetensors.numpy import save_file

from attnlimit.sources.model.bert import load
from attnlimit.sources.model.onnx_bert import array

EXPORTED = "from {name}, sha256 {sha256}: float32 of the values of its weights; activations in float32, too"
WORDS, POSITIONS, TYPES = (f"embeddings.{name}_embeddings.weight" for name in ("word", "position", "token_type"))
QUANTISED = "_quantized"  # after a tensor's name, where onnxruntime rounded it
EPSILON = 1e-12  # of every layer norm, in both kinds
SAME = 1e-4  # relative difference of states; float32 gives about 1e-6, the tanh gelu 4e-3
UNREADABLE = (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)  # of onnx


class Kind(NamedTuple):
    """Names in a kind of model: layers, first dense of a layer's MLP, last norm of a layer, keys in config.json."""

    layers: str
    wide: str
    norm: str
    keys: tuple[str, str, str, str, str]


KINDS = {
    "bert": Kind(
        "encoder.layer",
        "intermediate.dense",
        "output.LayerNorm",
        ("hidden_act", "hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads"),
    ),
    "distilbert": Kind(
        "transformer.layer", "ffn.lin1", "output_layer_norm", ("activation", "dim", "hidden_dim", "n_layers", "n_heads")
    ),
}


class Plain(NamedTuple):
    """A graph without quantised tensors and without nodes that quantise."""

    inputs: list[onnx.ValueInfoProto]
    nodes: list[NodeProto]
    tensors: dict[str, np.ndarray]  # by the names that nodes read them by
    named: dict[str, np.ndarray]  # by the names of the model
    versions: list[onnx.OperatorSetIdProto]
    rounded: str  # dtypes of the quantised weights


def convert_exported(graph: Path, folder: Path) -> str:
    """Write config.json and model.safetensors to a folder; returns the dtype of quantised weights, "" for float32."""
    try:
        plain = in_floats(onnx.ModelProto.FromString(graph.read_bytes()))
        prefix, kind, weights = weights_of(plain)
        layers = len({name.split(".")[2] for name in weights if name.startswith(KINDS[kind].layers)})
        ids = np.linspace(0, len(weights[WORDS]) - 1, len(weights[POSITIONS])).astype(np.int64)[None]  # (1, token)
        states, heads = run(plain, f"{prefix}{KINDS[kind].layers}.{layers - 1}.{KINDS[kind].norm}.bias", ids)
        config = config_of(kind, weights, layers, heads)
    except DecodeError as error:
        raise ValueError(f"{graph.name}: no graph in ONNX ({error}); take another file") from error
    except UNREADABLE as error:
        why = " ".join(str(error).split())[:200]
        raise ValueError(
            f"{graph.name}: not a graph of {' or '.join(KINDS)} as torch exports it: {why}; take model.safetensors"
        ) from error
    (folder / "config.json").write_text(json.dumps(config, indent=1))
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with torch.inference_mode():
        found = load(folder)(input_ids=torch.as_tensor(ids)).last_hidden_state.numpy()
    difference = np.linalg.norm(found - states) / np.linalg.norm(states)
    if not difference < SAME:
        raise ValueError(
            f"{graph.name}: the graph and a {kind} of its weights differ by {difference:.1e} of the last states: it is "
            "another model; take model.safetensors"
        )
    return plain.rounded


def in_floats(model: onnx.ModelProto) -> Plain:
    """The graph with its weights dequantised, and without nodes that quantise."""
    read = {tensor.name: array(tensor) for tensor in model.graph.initializer}
    named = {name: value for name, value in read.items() if value.dtype == np.float32}
    nodes, same, rounded = list[NodeProto](), dict[str, str](), set[str]()
    for node in model.graph.node:
        require_plain(node)
        inputs = [same.get(name, name) for name in node.input]
        if node.op_type == "DequantizeLinear" and inputs[0] in read:
            whole, scale, *given = (read[name] for name in inputs if name)
            zero = given[0] if given else np.zeros((), whole.dtype)
            if scale.size != 1:
                raise ValueError(f"tensor {inputs[0]!r:.60} has {scale.size} scales, not one")
            rounded.add(str(whole.dtype))
            read[node.output[0]] = (whole.astype(np.float32) - zero.astype(np.float32)) * scale
            named[inputs[0].removesuffix(QUANTISED)] = read[node.output[0]]
        elif node.op_type in ("QuantizeLinear", "DequantizeLinear"):
            same[node.output[0]] = inputs[0]
        else:
            nodes.append(helper.make_node(node.op_type, inputs, node.output, node.name))
            nodes[-1].attribute.extend(node.attribute)
    products = {node.output[0]: read[node.input[1]] for node in nodes if is_matrix(node, read)}
    for node in nodes:
        for bias, product in zip(node.input, reversed(node.input), strict=True):
            if node.op_type == "Add" and bias.endswith(".bias") and product in products:
                named[bias.removesuffix("bias") + "weight"] = products[product].T.copy()
    return Plain(list(model.graph.input), nodes, read, named, list(model.opset_import), ", ".join(sorted(rounded)))


def weights_of(plain: Plain) -> tuple[str, str, dict[str, np.ndarray]]:
    """The prefix of all names, the kind of the model, and its weights by the names of that kind."""
    prefix = next((name.removesuffix(WORDS) for name in plain.named if name.endswith(WORDS)), None)
    if prefix is None:
        raise LookupError(f"no tensor {WORDS} in it")
    inside = {name.removeprefix(prefix): plain.named[name] for name in sorted(plain.named) if name.startswith(prefix)}
    for kind, (layers, wide, *_) in KINDS.items():
        if f"{layers}.0.{wide}.weight" in inside:
            return prefix, kind, {k: inside[k] for k in inside if k.startswith(("embeddings.", f"{layers}."))}
    raise LookupError(f"no layer of {' or '.join(KINDS)} in it")


def is_matrix(node: NodeProto, read: Iterable[str]) -> bool:
    """Whether a node multiplies by a tensor of the graph, from the right."""
    return node.op_type == "MatMul" and node.input[1] in read


def require_plain(node: NodeProto) -> None:
    """Raise at an operator outside ONNX, a node with a subgraph, or a norm with another epsilon."""
    if node.domain not in ("", "ai.onnx"):
        raise ValueError(f"it has {node.op_type} of {node.domain!r:.60}, of a graph that needs its config.json")
    for each in node.attribute:
        if each.type in (AttributeProto.GRAPH, AttributeProto.GRAPHS):
            raise ValueError(f"{node.op_type} {node.name} has nodes inside")
        if node.op_type == "LayerNormalization" and each.name == "epsilon" and not np.isclose(each.f, EPSILON, atol=0):
            raise ValueError(f"epsilon of {node.name} is {each.f}, not {EPSILON}")


def run(plain: Plain, bias: str, ids: np.ndarray) -> tuple[np.ndarray, int]:
    """States after the norm with this bias, (1, token, feature), and the number of heads.

    The number of heads is read off the attention weights, (1, head, token, token).
    """
    ends = [node.output[0] for node in plain.nodes if bias in node.input]
    ends += [node.output[0] for node in plain.nodes if node.op_type == "Softmax"][:1]
    if len(ends) != 2:
        raise ValueError(f"no node reads {bias}, or none is Softmax")
    wanted, nodes = set(ends), list[NodeProto]()
    for node in reversed(plain.nodes):
        if wanted & {*node.output}:
            nodes.insert(0, node)
            wanted |= {*node.input}
    outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ends]
    tensors = [numpy_helper.from_array(value, name) for name, value in plain.tensors.items() if name in wanted]
    graph = helper.make_graph(nodes, "floats", plain.inputs, outputs, tensors)
    given = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
    inputs = {each.name: given[each.name] for each in plain.inputs}
    states, weights = ReferenceEvaluator(helper.make_model(graph, opset_imports=plain.versions)).run(None, inputs)
    return np.asarray(states), np.asarray(weights).shape[1]


def config_of(kind: str, weights: dict[str, np.ndarray], layers: int, heads: int) -> dict:
    """The missing config.json. A wrong number of heads, gelu or epsilon would change the states, which are compared."""
    words, features = weights[WORDS].shape
    wide = len(weights[f"{KINDS[kind].layers}.0.{KINDS[kind].wide}.weight"])
    config = {"model_type": kind, "vocab_size": words, "max_position_embeddings": len(weights[POSITIONS])}
    config |= dict(zip(KINDS[kind].keys, ("gelu", features, wide, layers, heads), strict=True))
    return config | ({"type_vocab_size": len(weights[TYPES]), "layer_norm_eps": EPSILON} if TYPES in weights else {})
