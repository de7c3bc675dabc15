"""Small graphs in ONNX as onnxruntime's optimiser leaves those of BERT, in float16, of random weights."""

import json

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from attnlimit.sources.model.files import embedded_folder

CONFIG = {
    "model_type": "bert",
    "hidden_act": "gelu",
    "hidden_size": 24,
    "intermediate_size": 48,
    "layer_norm_eps": 1e-12,
    "max_position_embeddings": 32,
    "num_attention_heads": 3,
    "num_hidden_layers": 2,
    "type_vocab_size": 2,
    "vocab_size": 40,
    "classifier_dropout": None,
    "torch_dtype": "float32",
}
EPSILON = {"epsilon": 1e-12}


def onnx_model_files(**sizes: int) -> dict[str, bytes]:
    """A config.json, MiniLM's tokenizer and a graph, by name."""
    config = CONFIG | {"vocab_size": 30522, "max_position_embeddings": 512} | sizes
    return {
        "config.json": json.dumps(config).encode(),
        "tokenizer.json": (embedded_folder() / "tokenizer.json").read_bytes(),
        "model_optimized.onnx": bert_graph(config).SerializeToString(),
    }


def bert_graph(config: dict = CONFIG) -> onnx.ModelProto:
    """The graph; its weights are of a size at which every part of a layer matters."""
    generator = np.random.default_rng(0)
    size, wide, heads = (config[key] for key in ("hidden_size", "intermediate_size", "num_attention_heads"))
    nodes, tensors = [], []

    def tensor(name: str, *shape: int, mean: float = 0.0, factor: float = 1.0) -> str:
        scale = factor * (shape[0] ** -0.5 if len(shape) == 2 else 0.1)
        values = (mean + scale * generator.standard_normal(shape)).astype(np.float16)
        tensors.append(numpy_helper.from_array(values, name))
        return name

    def node(kind: str, inputs: list[str], output: str, domain: str = "", **attributes) -> str:
        nodes.append(helper.make_node(kind, inputs, [output], name=f"{kind}_{output}", domain=domain, **attributes))
        return output

    def constant(name: str, value: list | int) -> str:
        array = numpy_helper.from_array(np.array(value, dtype=np.int64))
        return node("Constant", [], name, value=array)

    def norm(name: str) -> list[str]:
        return [tensor(f"{name}.weight", size, mean=1.0), tensor(f"{name}.bias", size)]

    def dense_and_norm(place: str, read: str, skipped: str, width: int) -> str:
        product = node("MatMul", [read, tensor(f"{place}_matrix", width, size)], f"{place}_product")
        inputs = [product, skipped, *norm(place), tensor(f"{place}_bias", size)]
        return node("SkipLayerNormalization", inputs, f"{place}_normed", "com.microsoft", **EPSILON)

    length = node("Gather", [node("Shape", ["input_ids"], "shape"), constant("second", 1)], "length", axis=0)
    numbers = [constant("numbers", [list(range(config["max_position_embeddings"]))]), constant("start", [0])]
    numbers += [node("Unsqueeze", [length], "end", axes=[0]), constant("axis", [1]), constant("step", [1])]
    words = node("Gather", [tensor("words", config["vocab_size"], size), "input_ids"], "word")
    types = node("Gather", [tensor("types", config["type_vocab_size"], size), "token_type_ids"], "type")
    both = node("Add", [words, types], "word_and_type")
    places = tensor("positions", config["max_position_embeddings"], size)
    position = node("Gather", [places, node("Slice", numbers, "slice")], "position")
    summed = node("Add", [both, position], "summed")
    state = node("LayerNormalization", [summed, *norm("first")], "state", **EPSILON)
    mask = node("Cast", ["attention_mask"], "mask_int32", to=TensorProto.INT32)
    mask = node("ReduceSum", [mask], "mask_index", axes=[1], keepdims=0)
    for layer in range(config["num_hidden_layers"]):
        packed = [tensor(f"{layer}_qkv", size, 3 * size, factor=2.0), tensor(f"{layer}_qkv_bias", 3 * size)]
        options = {"num_heads": heads, "mask_filter_value": -3e38}
        mixed = node("Attention", [state, *packed, mask], f"{layer}_attention", "com.microsoft", **options)
        middle = dense_and_norm(f"{layer}_middle", mixed, state, size)
        inner = node("MatMul", [middle, tensor(f"{layer}_inner", size, wide)], f"{layer}_inner_product")
        bent = node("FastGelu", [inner, tensor(f"{layer}_inner_bias", wide)], f"{layer}_gelu", "com.microsoft")
        state = dense_and_norm(f"{layer}_last", bent, middle, wide)
    node("Cast", [state], "last_hidden_state", to=TensorProto.FLOAT)
    shape = ["batch", "length"]
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, shape)
        for name in ("input_ids", "attention_mask", "token_type_ids")
    ]
    output = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, [*shape, size])
    versions = [helper.make_opsetid("", 11), helper.make_opsetid("com.microsoft", 1)]
    graph = helper.make_graph(nodes, "bert", inputs, [output], tensors)
    return helper.make_model(graph, opset_imports=versions, ir_version=6)
