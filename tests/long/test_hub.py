"""The rules that fetch, against a hub on this machine."""

import pytest
from pyarrow import parquet

from attnlimit.base.files import sha256_of
from attnlimit.base.store import read
from attnlimit.sources.model.files import FILES
from support.hub_fixtures import MODEL, WEIGHTS
from support.hub_server import save_shards
from support.workflow import clone, overlay, snakemake


@pytest.fixture
def shards(hub, tmp_path) -> str:
    """A dataset of three parquet shards and a file of another kind; its commit."""
    return hub.add("dataset", "tiny/text", save_shards(tmp_path / "text"))


def test_the_rules_fetch_from_the_hub(hub, small_bert, shards, tmp_path, monkeypatch):
    """Snakemake, the rules, the real clients, with an unsteady hub; of the corpus no more than is wanted.

    What they fetch stays in the folder of the run, closed to others.
    """
    commit, sha256 = hub.repositories["model", MODEL].commit, sha256_of(small_bert / WEIGHTS)
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
    sums = {name: sha256_of(small_bert / name) for name in FILES}
    assert heads.attrs["model"] == {
        "name": MODEL,
        "revision": commit,
        "licence": "mit",
        "family": "bert",
        "sha256": sums,
    }
