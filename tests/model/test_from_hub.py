"""A model from the hub: all its files with their checksums, or a refusal before anything is fetched."""

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from attnlimit.files import sha256_of
from attnlimit.model.bert import load
from attnlimit.model.files import FILES, copy_verified
from attnlimit.model.from_hub import hub_model
from attnlimit.web.hub import Client
from support.hub_server import Server, files_in
from support.messages import told
from support.small_models import TENSOR, save_bert_with_tokenizer

MODEL, WEIGHTS = "tiny/bert", "model.safetensors"


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A small random BERT with a real tokenizer."""
    return save_bert_with_tokenizer(tmp_path_factory.mktemp("bert"))


@pytest.fixture
def hub(folder):
    with Server() as server:
        server.add("model", MODEL, folder)
        yield server


@pytest.fixture
def client(hub, tmp_path) -> Client:
    return Client(hub.endpoint, tmp_path / "cache", pause=0.01)


def test_every_file_of_a_model_arrives_with_its_identity(hub, client, folder):
    commit = hub.repositories["model", MODEL].commit
    found = hub_model(MODEL, commit, sha256_of(folder / WEIGHTS), client)
    assert found.identity == {"name": MODEL, "revision": commit, "licence": "mit"}
    for name in FILES:
        assert found.paths[name].read_bytes() == (folder / name).read_bytes()
        assert found.sha256[name] == sha256_of(folder / name)


def test_another_sha256_than_the_hub_lists_is_told_before_any_fetch(hub, client):
    with pytest.raises(ValueError) as error:
        hub_model(MODEL, hub.repositories["model", MODEL].commit, "0" * 64, client)
    told(error, "fetch_model.weights_sha256", "0" * 64, "the hub lists", MODEL)
    assert files_in(client.cache) == []


@pytest.mark.parametrize(
    ("missing", "remedy"),
    [("tokenizer.json", "AutoTokenizer"), (WEIGHTS, "pytorch_model.bin"), ("config.json", "needs")],
)
def test_a_model_that_lacks_a_file_is_refused_before_any_fetch(hub, client, tmp_path, missing, remedy):
    rest = tmp_path / "rest"
    rest.mkdir()
    for name in {*FILES, "pytorch_model.bin"} - {missing}:
        (rest / name).write_bytes(b"{}")
    commit = hub.add("model", "tiny/rest", rest)
    with pytest.raises(LookupError) as error:
        hub_model("tiny/rest", commit, sha256_of(rest / "pytorch_model.bin"), client)
    told(error, "fetch_model.location", "tiny/rest", f"no {missing}", remedy, "source: local")
    assert files_in(client.cache) == []


def without(tensors):
    del tensors[TENSOR]


def with_nan(tensors):
    tensors[TENSOR][0, 0] = torch.nan


@pytest.mark.parametrize(
    ("change", "failure", "named"),
    [(without, LookupError, TENSOR), (with_nan, ValueError, TENSOR), (None, ValueError, "")],
)
def test_weights_that_are_wrong_on_the_hub_itself_are_refused(hub, client, folder, tmp_path, change, failure, named):
    """A tensor missing, one with NaN, a page in place of the weights: checksums agree, the content is wrong."""
    wrong, target = tmp_path / "wrong", tmp_path / "target"
    wrong.mkdir()
    target.mkdir()
    for name in FILES:
        (wrong / name).write_bytes((folder / name).read_bytes())
    if change is None:
        (wrong / WEIGHTS).write_text("<html>" * 1000)
    else:
        tensors = load_file(wrong / WEIGHTS)
        change(tensors)
        save_file(tensors, wrong / WEIGHTS, {"format": "pt"})
    commit = hub.add("model", "tiny/wrong", wrong)
    found = hub_model("tiny/wrong", commit, sha256_of(wrong / WEIGHTS), client)
    for name in FILES:
        copy_verified(found.paths[name], target / name, found.sha256[name])
    with pytest.raises(failure) as error:
        load(target)
    told(error, str(target / WEIGHTS), named)
