"""A hub on this machine that holds a small model, for the tests of several rooms."""

from pathlib import Path

import pytest

from attnlimit.sources.web.hub import Client
from support.hub_server import Server
from support.small_models import save_bert_with_tokenizer

MODEL, WEIGHTS = "tiny/bert", "model.safetensors"


@pytest.fixture(scope="session")
def small_bert(tmp_path_factory) -> Path:
    """The folder of a small random BERT with a real tokenizer."""
    return save_bert_with_tokenizer(tmp_path_factory.mktemp("bert"))


@pytest.fixture
def hub(small_bert):
    with Server() as server:
        server.add("model", MODEL, small_bert)
        yield server


@pytest.fixture
def client(hub, tmp_path) -> Client:
    return Client(hub.endpoint, tmp_path / "cache", pause=0.01)
