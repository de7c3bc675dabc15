"""A table of articles is whole, the same to the byte, and never in memory at once."""

import json
import tracemalloc

import pyarrow.parquet as parquet
import pytest

from attnlimit.sources.corpus import articles as module
from attnlimit.sources.corpus.articles import Article, read_articles, read_identity, up_to, write_articles

IDENTITY = {"source": "text", "name": "мое", "sha256": "0" * 64}


def numbered(count, text="some words"):
    return (Article(number, f"T{number}", number + 100, f"{number} {text}") for number in range(count))


def test_articles_come_back_in_order(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "GROUP_CHARACTERS", 1000)
    monkeypatch.setattr(module, "READ_CHARACTERS", 500)
    path = tmp_path / "articles.parquet"
    assert write_articles(numbered(1000), path, IDENTITY) == (1000, sum(len(row.text) for row in numbered(1000)))
    assert parquet.read_metadata(path).num_row_groups > 5
    assert parquet.read_table(path).to_pylist() == [row._asdict() for row in numbered(1000)]
    assert [str(kind) for kind in parquet.read_schema(path).types] == ["int64", "string", "int64", "string"]
    batches = list(read_articles(path))
    assert len(batches) > 5 and max(sum(len(row.text) for row in batch) for batch in batches) < 520
    assert [row for batch in batches for row in batch] == list(numbered(1000))
    assert read_identity(path) == IDENTITY


def test_the_same_articles_give_the_same_bytes(tmp_path):
    for name in ("one", "two"):
        write_articles(numbered(100), tmp_path / name, IDENTITY)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_what_is_learnt_while_reading_is_in_the_identity(tmp_path):
    identity = {"source": "hub"}

    def reading():
        yield from numbered(3)
        identity["sha256"] = "1" * 64

    write_articles(reading(), tmp_path / "articles.parquet", identity)
    assert read_identity(tmp_path / "articles.parquet") == {"source": "hub", "sha256": "1" * 64}


def test_memory_stays_far_below_the_size_of_the_corpus(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "GROUP_CHARACTERS", 1 << 20)
    tracemalloc.start()
    _, total = write_articles(numbered(300, text="word " * 40_000), tmp_path / "articles.parquet", IDENTITY)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < total / 10


@pytest.mark.parametrize("texts", [[], [""], [" \n\t", ""]])
def test_an_empty_corpus_is_an_error_and_leaves_no_file(tmp_path, texts):
    rows = up_to((Article(1, "T", 0, text) for text in texts), 0)
    with pytest.raises(ValueError, match="no article with text; check fetch_corpus.source"):
        write_articles(rows, tmp_path / "articles.parquet", IDENTITY)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("characters", "kept"), [(0, "aabbbc"), (1, "aa"), (2, "aa"), (3, "aabbb"), (5, "aabbb"), (99, "aabbbc")]
)
def test_reading_stops_after_the_article_that_reaches_the_characters(characters, kept):
    rows = (Article(number, "T", 0, text) for number, text in enumerate(["aa", "", "bbb", " ", "c"]))
    assert "".join(article.text for article in up_to(rows, characters)) == kept


def test_nothing_is_read_beyond_the_characters():
    rows = numbered(3)
    list(up_to(rows, 1))
    assert next(rows).page_id == 1


@pytest.mark.parametrize("place", [0.02, 0.3, 0.9])
def test_a_flipped_byte_is_told_with_a_remedy(tmp_path, place):
    path = tmp_path / "articles.parquet"
    write_articles(numbered(100), path, IDENTITY)
    list(read_articles(path))
    content = bytearray(path.read_bytes())
    content[int(place * len(content))] ^= 1
    path.write_bytes(content)
    with pytest.raises(ValueError) as error:
        list(read_articles(path))
    assert str(error.value).startswith(f"{path}: damaged table of articles (")
    assert str(error.value).endswith("; delete it and run again")


def test_another_identity_in_a_sound_table_is_told(tmp_path):
    """The checksum covers it too: every store repeats which corpus it is made from."""
    path = tmp_path / "articles.parquet"
    write_articles(numbered(10), path, IDENTITY)
    table = parquet.read_table(path)
    facts = parquet.read_metadata(path).metadata
    other = {b"corpus": json.dumps(IDENTITY | {"name": "another"}).encode(), b"sha256": facts[b"sha256"]}
    parquet.write_table(table.replace_schema_metadata(other), path)
    with pytest.raises(ValueError, match=r"articles\.parquet: damaged table of articles \(its sha256 is another than"):
        list(read_articles(path))
