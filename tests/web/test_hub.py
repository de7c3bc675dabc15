"""The real clients against a hub on this machine: what arrives is what was meant, or one line says why not."""

import hashlib
import re
from pathlib import Path

import pyarrow as pa
import pytest
import torch
from pyarrow import parquet
from safetensors.torch import load_file, save_file
from transformers import BertConfig, BertModel

from attnlimit.files import sha256_of
from attnlimit.model.bert import load
from attnlimit.model.files import FILES, copy_verified, embedded_folder
from attnlimit.model.from_hub import hub_model
from attnlimit.store import read
from attnlimit.web.hub import ASKED, FETCHED, Client, corpus_files, fetch, listing
from support.hub_server import Server
from support.workflow import clone, overlay, snakemake

MODEL, WEIGHTS, TENSOR = "tiny/bert", "model.safetensors", "encoder.layer.1.attention.self.key.weight"


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A small random BERT with a real tokenizer."""
    folder = tmp_path_factory.mktemp("bert")
    torch.manual_seed(0)
    sizes = {"hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16}
    BertModel(BertConfig(vocab_size=30522, max_position_embeddings=512, **sizes)).save_pretrained(folder)
    (folder / "tokenizer.json").write_bytes((embedded_folder() / "tokenizer.json").read_bytes())
    return folder


@pytest.fixture
def hub(folder):
    with Server() as server:
        server.add("model", MODEL, folder)
        yield server


@pytest.fixture
def client(hub, tmp_path) -> Client:
    return Client(hub.endpoint, tmp_path / "cache", pause=0.01)


def get(hub: Server, client: Client, file: str = WEIGHTS) -> Path:
    held = hub.repositories["model", MODEL]
    return fetch(listing(MODEL, "model", held.commit, client), file, client)


def files_of(client: Client) -> list[Path]:
    """Every blob and snapshot in the cache of the client."""
    found = [path for path in client.cache.rglob("*") if path.is_file() or path.is_symlink()]
    return [path for path in found if {"blobs", "snapshots"} & set(path.parts)]


def test_every_file_of_a_model_arrives_with_its_identity(hub, client, folder):
    commit = hub.repositories["model", MODEL].commit
    found = hub_model(MODEL, commit, sha256_of(folder / WEIGHTS), client)
    assert found.identity == {"name": MODEL, "revision": commit, "licence": "mit"}
    for name in FILES:
        assert found.paths[name].read_bytes() == (folder / name).read_bytes()
        assert found.sha256[name] == sha256_of(folder / name)


def test_a_file_in_the_cache_is_not_fetched_again(hub, client):
    assert get(hub, client) == get(hub, client)
    assert hub.count("GET", WEIGHTS) == 1


@pytest.mark.parametrize(
    ("file", "fault"),
    [(WEIGHTS, fault) for fault in ("500", "503", "429", "short", "cut", "page", "corrupt")]
    + [("config.json", fault) for fault in ("500", "short", "page", "corrupt")],
)
def test_a_fault_that_passes_is_survived(hub, client, folder, file, fault):
    """A large file, known by its sha256, and a small one, known by git's checksum."""
    hub.fail("GET", file, fault, times=1)
    assert get(hub, client, file).read_bytes() == (folder / file).read_bytes()
    assert hub.count("GET", file) == 2
    assert len(files_of(client)) == 2  # the blob and the link to it


def test_a_cut_download_goes_on_where_it_stopped(hub, client, folder):
    """In halves: of what is left, each time half arrives."""
    hub.fail("GET", WEIGHTS, "cut", times=2)
    assert sha256_of(get(hub, client)) == sha256_of(folder / WEIGHTS)
    assert hub.count("GET", WEIGHTS) == 3


def test_faults_of_the_listing_are_survived(hub, client):
    for fault in ("500", "429"):
        hub.fail("GET", hub.repositories["model", MODEL].commit, fault, times=ASKED - 1)
        get(hub, client)


def test_a_hub_that_stumbles_over_the_facts_of_a_file_is_asked_again(hub, client):
    hub.fail("HEAD", WEIGHTS, "500", times=1)
    get(hub, client)


@pytest.mark.parametrize("fault", ["500", "short", "page"])
def test_a_fault_that_stays_is_told_with_the_way_to_go_on_offline(hub, client, fault):
    hub.fail("GET", WEIGHTS, fault)
    with pytest.raises(ConnectionError) as error:
        get(hub, client)
    told(error, "fetch_model.location", MODEL, f"hf download {MODEL} {' '.join(FILES)} --revision", "source: local")
    assert hub.count("GET", WEIGHTS) == ASKED
    assert files_of(client) == []


@pytest.mark.parametrize("file", [WEIGHTS, "config.json"])
def test_wrong_content_of_the_right_size_is_never_taken(hub, client, file):
    hub.fail("GET", file, "corrupt")
    with pytest.raises(ValueError) as error:
        get(hub, client, file)
    told(error, "fetch_model.location", file, MODEL, "source: local")
    assert hub.count("GET", file) == FETCHED
    assert files_of(client) == []


def test_a_file_damaged_in_the_cache_is_fetched_again(hub, client, folder):
    get(hub, client).resolve().write_bytes(b"0" * (folder / WEIGHTS).stat().st_size)
    assert sha256_of(get(hub, client)) == sha256_of(folder / WEIGHTS)


@pytest.mark.parametrize(("method", "ending"), [("GET", "/revision/{commit}"), ("HEAD", WEIGHTS)])
def test_another_commit_than_the_pinned_one_is_refused(hub, client, method, ending):
    commit = hub.repositories["model", MODEL].commit
    hub.fail(method, ending.format(commit=commit), "other commit")
    with pytest.raises(ValueError) as error:
        get(hub, client)
    told(error, "fetch_model.revision", "f" * 40, commit)


def test_what_is_not_there_is_named(hub, client):
    commit = hub.repositories["model", MODEL].commit
    with pytest.raises(LookupError) as error:
        listing("tiny/none", "model", commit, client)
    told(error, "fetch_model.location", "tiny/none")
    with pytest.raises(LookupError) as error:
        listing(MODEL, "model", "0" * 40, client)
    told(error, "fetch_model.revision", "0" * 40, MODEL)
    with pytest.raises(LookupError) as error:
        get(hub, client, "vocab.txt")
    told(error, "fetch_model.location", "vocab.txt", MODEL)


def test_a_page_in_place_of_the_listing_is_no_answer(hub, client):
    hub.fail("GET", hub.repositories["model", MODEL].commit, "page")
    with pytest.raises(ConnectionError) as error:
        get(hub, client)
    told(error, "fetch_model.location", "source: local")


def test_a_hub_that_is_not_there_is_told(tmp_path):
    with Server() as gone:
        endpoint = gone.endpoint
    with pytest.raises(ConnectionError) as error:
        listing("tiny/text", "dataset", "0" * 40, Client(endpoint, tmp_path, pause=0.01))
    told(error, "fetch_corpus.location", "tiny/text", "--repo-type dataset", "source: text")


def test_another_sha256_than_the_hub_lists_is_told_before_any_fetch(hub, client):
    with pytest.raises(ValueError) as error:
        hub_model(MODEL, hub.repositories["model", MODEL].commit, "0" * 64, client)
    told(error, "fetch_model.weights_sha256", "0" * 64, "the hub lists", MODEL)
    assert files_of(client) == []


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
    assert files_of(client) == []


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


@pytest.fixture
def shards(hub, tmp_path) -> str:
    """A dataset of three parquet shards and a file of another kind; its commit."""
    folder = tmp_path / "text" / "en"
    folder.mkdir(parents=True)
    for number in range(3):
        rows = {"id": [f"{number}{row}" for row in range(4)], "text": [f"Text {row} of {number}." for row in range(4)]}
        parquet.write_table(pa.table(rows), folder / f"train-{number}.parquet")
    (folder / "README.md").write_text("Text.")
    return hub.add("dataset", "tiny/text", folder.parent)


def test_shards_come_in_order_and_only_as_many_as_are_asked_for(hub, client, shards):
    found = corpus_files("tiny/text", shards, "en/*.parquet", client)
    path, sha256 = next(found)
    assert path.name == "train-0.parquet" and sha256_of(path) == sha256
    assert hub.count("GET", ".parquet") == 1
    assert [path.name for path, _ in found] == ["train-1.parquet", "train-2.parquet"]


def test_a_damaged_shard_is_fetched_again(hub, client, shards):
    hub.fail("GET", "train-1.parquet", "corrupt", times=1)
    for path, sha256 in corpus_files("tiny/text", shards, "en/*-1.parquet", client):
        assert hashlib.sha256(path.read_bytes()).hexdigest() == sha256
    assert hub.count("GET", "train-1.parquet") == 2


def test_a_pattern_that_matches_nothing_is_told(client, shards):
    with pytest.raises(LookupError) as error:
        next(corpus_files("tiny/text", shards, "de/*", client))
    told(error, "fetch_corpus.files", "de/*", "en/train-0.parquet")


def test_the_rules_fetch_from_the_hub(hub, folder, shards, tmp_path, monkeypatch):
    """Snakemake, the rules, the real clients, with an unsteady hub; of the corpus no more than is wanted.

    What they fetch stays in the folder of the run, closed to others.
    """
    commit, sha256 = hub.repositories["model", MODEL].commit, sha256_of(folder / WEIGHTS)
    hub.fail("GET", WEIGHTS, "corrupt", times=1)
    monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("HF_HOME", "HF_HUB_CACHE", "HF_DATASETS_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    place = tmp_path / "clone"
    place.mkdir()
    clone(place)
    model = {"source": "hub", "location": MODEL, "revision": commit, "weights_sha256": sha256}
    corpus = {"source": "hub", "location": "tiny/text", "revision": shards, "files": "en/*.parquet", "characters": 50}
    overlay(place, fetch_model=model, fetch_corpus=corpus)
    run = snakemake(place, "--until", "fetch_model", "fetch_corpus")
    assert run.returncode == 0, run.stdout + run.stderr
    files = {f"/{MODEL}/resolve/{commit}/{name}" for name in FILES}
    text = {f"/datasets/tiny/text/resolve/{shards}/en/train-{number}.parquet" for number in (0, 1)}
    listed = {f"/api/models/{MODEL}/revision/{commit}", f"/api/datasets/tiny/text/revision/{shards}"}
    assert {path for _, path in hub.asked} == listed | files | text
    assert (place / "results/downloads/hub").stat().st_mode & 0o777 == 0o700
    assert not (tmp_path / "home/.cache/huggingface").exists()
    articles = parquet.read_table(place / "results/corpus/articles.parquet")
    assert articles["text"].to_pylist() == [f"Text {row} of 0." for row in range(4)] + ["Text 0 of 1."]
    assert articles["page_id"].to_pylist() == [0, 1, 2, 3, 10]
    heads = read(place / "results/models/heads.zarr.zip")
    assert dict(heads.sizes) == {"layer": 2, "head": 2, "width": 4, "feature": 8}
    sums = {name: sha256_of(folder / name) for name in FILES}
    assert heads.attrs["model"] == {
        "name": MODEL,
        "revision": commit,
        "licence": "mit",
        "family": "bert",
        "sha256": sums,
    }


def told(error: pytest.ExceptionInfo, *parts: str) -> None:
    """The message is one line and names what it must."""
    assert len(str(error.value).splitlines()) == 1
    for part in parts:
        assert re.search(re.escape(part), str(error.value)), f"{part} is not in: {error.value}"
