"""The real clients against a hub on this machine: what arrives is what was meant, or one line says why not."""

import hashlib
from pathlib import Path

import pytest

from attnlimit.base.files import sha256_of
from attnlimit.sources.model.files import FILES
from attnlimit.sources.web.hub import ASKED, FETCHED, Client, corpus_files, fetch, listing
from support.hub_fixtures import MODEL, WEIGHTS
from support.hub_server import Server, files_in, save_shards
from support.messages import told


def get(hub: Server, client: Client, file: str = WEIGHTS) -> Path:
    held = hub.repositories["model", MODEL]
    return fetch(listing(MODEL, "model", held.commit, client), file, client)


def test_a_file_in_the_cache_is_not_fetched_again(hub, client):
    assert get(hub, client) == get(hub, client)
    assert hub.count("GET", WEIGHTS) == 1


@pytest.mark.parametrize(
    ("file", "fault"),
    [(WEIGHTS, fault) for fault in ("500", "503", "429", "short", "cut", "page", "corrupt")]
    + [("config.json", fault) for fault in ("500", "short", "page", "corrupt")],
)
def test_a_fault_that_passes_is_survived(hub, client, small_bert, file, fault):
    """A large file, known by its sha256, and a small one, known by git's checksum."""
    hub.fail("GET", file, fault, times=1)
    assert get(hub, client, file).read_bytes() == (small_bert / file).read_bytes()
    assert hub.count("GET", file) == 2
    assert len(files_in(client.cache)) == 2  # the blob and the link to it


def test_a_cut_download_goes_on_where_it_stopped(hub, client, small_bert):
    """In halves: of what is left, each time half arrives."""
    hub.fail("GET", WEIGHTS, "cut", times=2)
    assert sha256_of(get(hub, client)) == sha256_of(small_bert / WEIGHTS)
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
    assert files_in(client.cache) == []


@pytest.mark.parametrize("file", [WEIGHTS, "config.json"])
def test_wrong_content_of_the_right_size_is_never_taken(hub, client, file):
    hub.fail("GET", file, "corrupt")
    with pytest.raises(ValueError) as error:
        get(hub, client, file)
    told(error, "fetch_model.location", file, MODEL, "source: local")
    assert hub.count("GET", file) == FETCHED
    assert files_in(client.cache) == []


def test_a_file_damaged_in_the_cache_is_fetched_again(hub, client, small_bert):
    get(hub, client).resolve().write_bytes(b"0" * (small_bert / WEIGHTS).stat().st_size)
    assert sha256_of(get(hub, client)) == sha256_of(small_bert / WEIGHTS)


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


@pytest.fixture
def shards(hub, tmp_path) -> str:
    """A dataset of three parquet shards and a file of another kind; its commit."""
    return hub.add("dataset", "tiny/text", save_shards(tmp_path / "text"))


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
