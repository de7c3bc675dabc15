"""A graph in ONNX of a plain BERT, as onnxruntime's optimiser leaves it -> weights by the names of the family `bert`.

A layer of hidden states x, each (token, feature):

    a = Attention(x; W, b)                queries, keys and values are the thirds of x W + b, W (feature, 3 feature)
    y = LayerNorm(a A + c + x)
    x = LayerNorm(gelu(y B + d) C + e + y)

The graph is followed from its inputs to its output, and every node must have its place in this: what is left over, or
has another form, makes it another model, which is refused. Weights in float16 become float32 of the same values.
FastGelu is gelu with tanh in place of erf; config.json names the gelu that is meant, and that is used.
"""

import math
from pathlib import Path

import numpy as np
import onnx
from google.protobuf.message import DecodeError
from onnx import TensorProto, numpy_helper
from safetensors.numpy import save_file

from attnlimit.sources.model.families import read_config, require_supported

CONVERTED = (
    "from {name}, sha256 {sha256}: the same values in float32; where the graph has FastGelu, which approximates it, "
    "the gelu of config.json is used"
)
FLOATS = (TensorProto.FLOAT, TensorProto.FLOAT16)
GELUS = ("FastGelu", "BiasGelu")  # both add a bias first
PROJECTIONS = ("query", "key", "value")
DOMAINS = ("", "ai.onnx", "com.microsoft")
# By kind of node: its attributes, and the values that leave the formula as it is; None: checked apart, or any.
ATTRIBUTES: dict[str, dict[str, tuple | None]] = {
    "Attention": {
        "num_heads": None,
        "mask_filter_value": None,
        "unidirectional": (0,),
        "do_rotary": (0,),
        "scale": (0.0,),
    },
    "SkipLayerNormalization": {"epsilon": None},
    "LayerNormalization": {"epsilon": None, "axis": (-1,), "stash_type": (1,)},
    "Gather": {"axis": (0,)},
    "Cast": {"to": (TensorProto.FLOAT, TensorProto.INT32)},
    "ReduceSum": {"axes": ([1],), "keepdims": (0,)},
    "Unsqueeze": {"axes": ([0],)},
    "Constant": {"value": None},
}


def convert(graph: Path, config: Path, target: Path) -> None:
    """Write the weights of a graph as safetensors; refused unless it is that of a plain BERT of this config.json."""
    try:
        require_supported(config)
        weights = read_weights(onnx.ModelProto.FromString(graph.read_bytes()), read_config(config))
    except DecodeError as error:
        raise ValueError(f"{graph.name}: no graph in ONNX ({error}); take another file") from error
    except (ValueError, LookupError) as error:
        raise ValueError(f"{graph.name}: not the graph of a plain BERT: {error}; take model.safetensors") from error
    save_file(weights, target, metadata={"format": "pt"})


def read_weights(model: onnx.ModelProto, config: dict) -> dict[str, np.ndarray]:
    """The tensors of a graph by the names of the family `bert`, in float32, with the shapes that config.json says."""
    if config.get("model_type") != "bert" or config.get("hidden_act") != "gelu":
        raise ValueError("config.json is not of model_type bert with hidden_act gelu")
    walk = Walk(model, config)
    walk.embeddings()
    for layer in range(config["num_hidden_layers"]):
        walk.layer(layer)
    walk.end()
    return dict(sorted(walk.weights.items()))


class Walk:
    """Goes through a graph in the order of the formula, takes its tensors and counts the nodes that had their place."""

    def __init__(self, model: onnx.ModelProto, config: dict):
        graph = model.graph
        if model.functions or graph.sparse_initializer or graph.quantization_annotation:
            raise ValueError("it has functions, sparse or quantised tensors")
        self.config, self.size = config, config["hidden_size"]
        self.nodes, self.visited = list(graph.node), set[int]()
        self.tensors = {tensor.name: tensor for tensor in graph.initializer}
        self.constants: dict[str, np.ndarray] = {}
        self.weights: dict[str, np.ndarray] = {}
        self.outputs = [output.name for output in graph.output]
        for number, node in enumerate(self.nodes):
            self.require_plain(node)
            if node.op_type == "Constant":
                self.constants[node.output[0]] = array(node.attribute[0].t)
                self.visited.add(number)
        self.state = self.masked = ""  # what x and the mask are called

    def require_plain(self, node: onnx.NodeProto) -> None:
        if node.domain not in DOMAINS:
            raise ValueError(f"it has {node.op_type} of {node.domain!r}")
        allowed = ATTRIBUTES.get(node.op_type, {})
        for attribute in node.attribute:
            value, fit = onnx.helper.get_attribute_value(attribute), allowed.get(attribute.name, ())
            if fit is not None and value not in fit:
                raise ValueError(f"{attribute.name} of {node.op_type} {node.name} is {value!r:.60}")

    def reads(self, name: str, *kinds: str, count: int | None = None) -> onnx.NodeProto:
        """The one node of these kinds that reads a value; counted as visited."""
        places = [
            number
            for number, node in enumerate(self.nodes)
            if name in node.input and node.op_type in kinds and number not in self.visited
        ]
        if len(places) != 1:
            raise ValueError(f"{len(places)} nodes {' or '.join(kinds)} read {name!r:.60}, not one")
        return self.visit(places[0], count)

    def makes(self, name: str, kind: str, count: int | None = None) -> onnx.NodeProto:
        """The node of this kind that makes a value; counted as visited."""
        for number, node in enumerate(self.nodes):
            if name in node.output:
                if node.op_type != kind:
                    raise ValueError(f"{name!r:.60} comes from {node.op_type}, not from {kind}")
                return self.visit(number, count)
        raise ValueError(f"{name!r:.60} comes from no node, not from {kind}")

    def visit(self, number: int, count: int | None) -> onnx.NodeProto:
        node = self.nodes[number]
        self.visited.add(number)
        if len(node.output) != 1 or (count is not None and len(node.input) != count):
            raise ValueError(f"{node.op_type} {node.name} has {len(node.input)} inputs and {len(node.output)} outputs")
        return node

    def tensor(self, name: str, *shape: int) -> np.ndarray:
        """A weight of the graph, in float32, of this shape."""
        if name not in self.tensors:
            raise LookupError(f"no tensor {name!r:.60} in it")
        if self.tensors[name].data_type not in FLOATS:
            raise ValueError(f"tensor {name!r:.60} is not of float16 or float32")
        found = array(self.tensors[name])
        if found.shape != shape:
            raise ValueError(f"tensor {name!r:.60} is {found.shape}, config.json says {shape}")
        return found.astype(np.float32)

    def norm(self, place: str, node: onnx.NodeProto, weight: str, bias: str) -> None:
        """Weight, bias and epsilon of a layer norm."""
        epsilon = next((attribute.f for attribute in node.attribute if attribute.name == "epsilon"), None)
        wanted = self.config.get("layer_norm_eps", 1e-12)
        if epsilon is None or not math.isclose(epsilon, wanted, rel_tol=1e-5):
            raise ValueError(f"epsilon of {node.op_type} {node.name} is {epsilon}, config.json says {wanted}")
        self.weights[f"{place}.weight"] = self.tensor(weight, self.size)
        self.weights[f"{place}.bias"] = self.tensor(bias, self.size)

    def embeddings(self) -> None:
        """x = LayerNorm(word + type + position)."""
        words = self.reads("input_ids", "Gather", count=2)
        types = self.reads("token_type_ids", "Gather", count=2)
        added = self.reads(words.output[0], "Add", count=2)
        if set(added.input) != {words.output[0], types.output[0]}:
            raise ValueError("words and types are not added")
        both = self.reads(added.output[0], "Add", count=2)
        (other,) = set(both.input) - {added.output[0]}
        positions = self.makes(other, "Gather", count=2)
        self.positions(positions.input[1])
        names = {"word": words, "token_type": types, "position": positions}
        counts = {"word": "vocab_size", "token_type": "type_vocab_size", "position": "max_position_embeddings"}
        for name, node in names.items():
            shape = self.config[counts[name]], self.size
            self.weights[f"embeddings.{name}_embeddings.weight"] = self.tensor(node.input[0], *shape)
        norm = self.reads(both.output[0], "LayerNormalization", count=3)
        self.norm("embeddings.LayerNorm", norm, *norm.input[1:])
        self.state = norm.output[0]

    def positions(self, name: str) -> None:
        """The numbers 0, 1, 2, … up to the length of the text, cut out of a constant."""
        numbers, start, end, axis, step = self.makes(name, "Slice", count=5).input
        length, place = self.makes(self.makes(end, "Unsqueeze", count=1).input[0], "Gather", count=2).input
        all_of_them = np.arange(self.config["max_position_embeddings"])[None]
        one = np.array([1])
        given = [(numbers, all_of_them), (start, one - 1), (axis, one), (step, one), (place, np.array(1))]
        same = [np.array_equal(self.constants.get(key, np.nan), value) for key, value in given]
        if not all(same) or self.makes(length, "Shape", count=1).input[0] != "input_ids":
            raise ValueError("its positions do not count from 0 by one")

    def layer(self, number: int) -> None:
        """One layer, from the x before it to the x after it."""
        place, size, wide = f"encoder.layer.{number}", self.size, self.config["intermediate_size"]
        before = self.state
        attention = self.reads(before, "Attention", count=4)
        heads = [attribute.i for attribute in attention.attribute if attribute.name == "num_heads"]
        if heads != [self.config["num_attention_heads"]] or attention.input[0] != before:
            raise ValueError(f"{attention.name} has {heads} heads, config.json {self.config['num_attention_heads']}")
        self.mask(attention.input[3])
        thirds = np.split(self.tensor(attention.input[1], size, 3 * size), 3, axis=1)
        for name, weight, bias in zip(
            PROJECTIONS, thirds, np.split(self.tensor(attention.input[2], 3 * size), 3), strict=True
        ):
            self.weights[f"{place}.attention.self.{name}.weight"] = weight.T.copy()
            self.weights[f"{place}.attention.self.{name}.bias"] = bias
        middle = self.dense_and_norm(f"{place}.attention.output", attention.output[0], before, size)
        dense = self.reads(middle, "MatMul", count=2)
        gelu = self.reads(dense.output[0], *GELUS, count=2)
        self.dense(f"{place}.intermediate.dense", dense, middle, gelu.input[1], (size, wide))
        self.state = self.dense_and_norm(f"{place}.output", gelu.output[0], middle, wide)

    def dense_and_norm(self, place: str, name: str, skipped: str, width: int) -> str:
        """LayerNorm(name A + c + skipped); returns what its value is called."""
        dense = self.reads(name, "MatMul", count=2)
        norm = self.reads(dense.output[0], "SkipLayerNormalization", count=5)
        if set(norm.input[:2]) != {dense.output[0], skipped}:
            raise ValueError(f"{norm.name} adds {norm.input[1]!r:.60}, not {skipped!r:.60}")
        self.dense(f"{place}.dense", dense, name, norm.input[4], (width, self.size))
        self.norm(f"{place}.LayerNorm", norm, norm.input[2], norm.input[3])
        return norm.output[0]

    def dense(self, place: str, node: onnx.NodeProto, read: str, bias: str, shape: tuple[int, int]) -> None:
        """A matrix that stands to the right of what it is read with, (in, out), and its bias."""
        if node.input[0] != read:
            raise ValueError(f"{node.name} multiplies from the left")
        self.weights[f"{place}.weight"] = self.tensor(node.input[1], *shape).T.copy()
        self.weights[f"{place}.bias"] = self.tensor(bias, shape[1])

    def mask(self, name: str) -> None:
        """The number of tokens of the text: blocks come without padding, so it leaves the formula as it is."""
        if name != self.masked:
            total = self.makes(name, "ReduceSum", count=1)
            if self.makes(total.input[0], "Cast", count=1).input[0] != "attention_mask":
                raise ValueError(f"the mask {name!r:.60} is not the sum of attention_mask")
            self.masked = name

    def end(self) -> None:
        """The last x is the output, and no node is left."""
        if self.outputs != [self.state]:
            self.state = self.reads(self.state, "Cast", count=1).output[0]
        if self.outputs != [self.state]:
            raise ValueError(f"its outputs are {', '.join(self.outputs)!s:.60}, not the states of the last layer alone")
        for number, node in enumerate(self.nodes):
            if number not in self.visited:
                raise ValueError(f"it also has {node.op_type} {node.name}")


def array(tensor: TensorProto) -> np.ndarray:
    if tensor.data_location != TensorProto.DEFAULT or tensor.external_data:
        raise ValueError(f"tensor {tensor.name!r:.60} is in another file")
    return numpy_helper.to_array(tensor)
