"""Small graphs in ONNX as torch exports those of BERT and DistilBERT, of random weights, in floats or rounded."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

SIZE, WIDE, HEADS, LAYERS, WORDS, POSITIONS = 24, 48, 3, 2, 40, 32
SCALE, ZERO = 1 / 64, 3  # of whole numbers
NAMES = {
    "bert": (
        "encoder.layer",
        ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"),
        ("attention.output.LayerNorm", "intermediate.dense", "output.dense", "output.LayerNorm"),
    ),
    "distilbert": (
        "transformer.layer",
        ("attention.q_lin", "attention.k_lin", "attention.v_lin", "attention.out_lin"),
        ("sa_layer_norm", "ffn.lin1", "ffn.lin2", "output_layer_norm"),
    ),
}


def exported(kind: str, rounded: bool = False, rounds: bool = False, words: int = WORDS) -> onnx.ModelProto:
    """The graph. rounded: its matrices are whole numbers with a scale; rounds: so is what they are multiplied with."""
    generator = np.random.default_rng(0)
    nodes, tensors = [], []

    def tensor(name: str, value: np.ndarray) -> str:
        tensors.append(numpy_helper.from_array(value, name))
        return name

    def node(operator: str, inputs: list[str], output: str, **attributes) -> str:
        nodes.append(helper.make_node(operator, inputs, [output], name=output, **attributes))
        return output

    def constant(name: str, value: list | float, dtype: type = np.int64) -> str:
        return node("Constant", [], name, value=numpy_helper.from_array(np.array(value, dtype)))

    def scales(name: str, scale: float = SCALE, zero: int = ZERO) -> list[str]:
        return [tensor(f"{name}_scale", np.float32(scale)), tensor(f"{name}_zero_point", np.int8(zero))]

    def matrix(name: str, *shape: int) -> str:
        values = generator.standard_normal(shape).astype(np.float32) * 2 * shape[-1] ** -0.5
        if not rounded:
            return tensor(name, values)
        whole = np.clip(np.round(values / SCALE) + ZERO, -128, 127).astype(np.int8)
        return node("DequantizeLinear", [tensor(f"{name}_quantized", whole), *scales(name)], f"{name}_dequantised")

    def flowing(name: str) -> str:
        """What flows on, rounded or not."""
        if not rounds:
            return name
        both = scales(name, 1 / 16, 0)
        return node("DequantizeLinear", [node("QuantizeLinear", [name, *both], f"{name}_q"), *both], f"{name}_dq")

    def vector(name: str, length: int, mean: float = 0.0) -> str:
        return tensor(name, (mean + 0.1 * generator.standard_normal(length)).astype(np.float32))

    def dense(place: str, read: str, shape: tuple[int, int]) -> str:
        product = node("MatMul", [read, matrix(f"onnx::MatMul_{len(nodes)}", *shape)], f"/{place}/MatMul")
        return node("Add", [vector(f"model.{place}.bias", shape[1]), flowing(product)], f"/{place}/Add")

    def norm(place: str, read: str) -> str:
        both = [vector(f"model.{place}.weight", SIZE, 1.0), vector(f"model.{place}.bias", SIZE)]
        return node("LayerNormalization", [read, *both], f"/{place}/norm", axis=-1, epsilon=1e-12)

    def embedded(name: str, count: int, numbers: str) -> str:
        table = matrix(f"model.embeddings.{name}_embeddings.weight", count, SIZE)
        return node("Gather", [table, numbers], f"/{name}")

    length = node("Gather", [node("Shape", ["input_ids"], "shape"), constant("second", [1])], "length")
    numbers = [constant("numbers", [list(range(POSITIONS))]), constant("start", [0]), length, constant("axis", [1])]
    state = embedded("word", words, "input_ids")
    if kind == "bert":
        types = node("Mul", ["input_ids", constant("nought", 0)], "types")
        state = node("Add", [state, embedded("token_type", 2, types)], "words_and_types")
    state = node("Add", [state, embedded("position", POSITIONS, node("Slice", numbers, "positions"))], "summed")
    state = norm("embeddings.LayerNorm", state)
    mask = node("Cast", ["attention_mask"], "mask_float", to=TensorProto.FLOAT)
    mask = node("Unsqueeze", [node("Log", [mask], "mask_log"), constant("middle", [1, 2])], "mask")
    split, joined = constant("split", [0, 0, HEADS, SIZE // HEADS]), constant("joined", [0, 0, SIZE])
    root = constant("root", (SIZE / HEADS) ** 0.5, np.float32)
    layers, projections, (first, inner, outer, last) = NAMES[kind]
    for layer in range(LAYERS):
        place = f"{layers}.{layer}"
        parts = []
        for name, order in zip(projections[:3], ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]), strict=True):
            part = node("Reshape", [dense(f"{place}.{name}", state, (SIZE, SIZE)), split], f"/{place}.{name}/split")
            parts.append(node("Transpose", [part], f"/{place}.{name}/heads", perm=order))
        scores = node("Div", [node("MatMul", parts[:2], f"/{place}/products"), root], f"/{place}/scaled")
        weights = node("Softmax", [node("Add", [scores, mask], f"/{place}/masked")], f"/{place}/weights", axis=-1)
        mixed = node("MatMul", [weights, parts[2]], f"/{place}/mixed")
        mixed = node("Transpose", [mixed], f"/{place}/mixed_back", perm=[0, 2, 1, 3])
        mixed = dense(f"{place}.{projections[3]}", node("Reshape", [mixed, joined], f"/{place}/joined"), (SIZE, SIZE))
        middle = norm(f"{place}.{first}", node("Add", [mixed, state], f"/{place}/middle"))
        bent = gelu(node, constant, dense(f"{place}.{inner}", middle, (SIZE, WIDE)), f"/{place}/gelu")
        outcome = dense(f"{place}.{outer}", bent, (WIDE, SIZE))
        state = norm(f"{place}.{last}", node("Add", [outcome, middle], f"/{place}/outcome"))
    node("Relu", [state], "head")  # of what the model was trained for
    shape = ["batch", "length"]
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, shape) for name in ("input_ids", "attention_mask")]
    outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [*shape, SIZE]) for name in (state, "head")]
    graph = helper.make_graph(nodes, kind, inputs, outputs, tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def gelu(node, constant, read: str, name: str) -> str:
    """x (1 + erf(x / √2)) / 2."""
    root, one, half = (constant(f"{name}_{value}", value, np.float32) for value in (2**0.5, 1.0, 0.5))
    inner = node("Erf", [node("Div", [read, root], f"{name}/divided")], f"{name}/erf")
    twice = node("Mul", [read, node("Add", [inner, one], f"{name}/plus")], f"{name}/twice")
    return node("Mul", [twice, half], name)
