"""Rows of a user's own are taken as they are, and what is wrong with them is named by line or row."""

import hashlib
import json
import tracemalloc

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from attnlimit.sources.corpus import own_texts as module
from attnlimit.sources.corpus.own_texts import checksum, read_jsonl, read_parquet

ROWS = [
    {"id": "12", "url": "u", "title": "Anarchism", "text": "Words.\n\n == kept == "},
    {"id": "x", "url": "u", "title": "Б", "text": "Думи"},
]
ARTICLES = [(12, "Anarchism", 0, "Words.\n\n == kept == "), (2, "Б", 0, "Думи")]


def jsonl(folder, *rows, name="rows.jsonl"):
    path = folder / name
    path.write_bytes(b"\n".join(row if isinstance(row, bytes) else json.dumps(row).encode() for row in rows))
    return path


def table(folder, **columns):
    path = folder / "rows.parquet"
    parquet.write_table(pa.table(columns), path)
    return path


def test_rows_of_jsonl(tmp_path):
    assert list(read_jsonl(jsonl(tmp_path, *ROWS, b""), "text")) == ARTICLES


def test_rows_of_parquet(tmp_path):
    columns = {name: [row[name] for row in ROWS] for name in ROWS[0]}
    assert list(read_parquet(table(tmp_path, **columns), "text")) == ARTICLES


@pytest.mark.parametrize("key", [5, "5"])
def test_another_column_and_numbers_as_ids(tmp_path, key):
    expected = [(5, "1", 0, "words")]
    assert list(read_jsonl(jsonl(tmp_path, {"id": key, "body": "words"}), "body")) == expected
    assert list(read_parquet(table(tmp_path, id=[key], body=["words"]), "body")) == expected


@pytest.mark.parametrize("key", [None, True, -3, "", 1.0, "9" * 19, "²"])
def test_an_id_that_is_no_page_number_gives_way_to_the_row(tmp_path, key):
    assert list(read_jsonl(jsonl(tmp_path, {"id": key, "text": "a"}), "text")) == [(1, "1", 0, "a")]


def test_the_title_may_be_the_text(tmp_path):
    assert list(read_parquet(table(tmp_path, title=["a"], text=["b"]), "title")) == [(1, "a", 0, "a")]


def test_long_strings_and_dictionaries_of_parquet_are_texts(tmp_path):
    for kind in (pa.large_string(), pa.dictionary(pa.int32(), pa.string())):
        path = table(tmp_path, text=pa.array(["a", "b"], pa.string()).cast(kind))
        assert [article.text for article in read_parquet(path, "text")] == ["a", "b"]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b'{"text": "a"', "line 3: broken JSON .*fix the line"),
        (b"\xff\xfe", "line 3: broken JSON"),
        (b'["a"]', 'line 3: holds no object such as {"text": …}'),
        (b"null", "line 3: holds no object"),
        (b'{"txt": "a", "n": 1}', "line 3: no column text; it has txt, n: set fetch_corpus.column"),
        (b'{"text": 7}', "line 3: text is 7, no text; check fetch_corpus.column"),
        (b'{"text": null}', "line 3: text is None, no text"),
        (b'{"text": "\\ud800"}', "line 3: holds half a character"),
        (b'{"text": "a", "title": "\\ud800"}', "line 3: holds half a character"),
    ],
)
def test_a_wrong_line_is_named_by_its_number(tmp_path, line, why):
    path = jsonl(tmp_path, {"text": "fine"}, b"", line, {"text": "fine"})
    with pytest.raises((ValueError, LookupError), match=f"rows.jsonl, {why}"):
        list(read_jsonl(path, "text"))


def test_a_text_too_long_for_a_tokenizer_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "LONGEST", 100)
    with pytest.raises(ValueError, match="rows.jsonl, line 2: over 100 bytes"):
        list(read_jsonl(jsonl(tmp_path, {"text": "a"}, {"text": "a" * 101}), "text"))
    with pytest.raises(ValueError, match="rows.parquet, row 2: over 100 characters"):
        list(read_parquet(table(tmp_path, text=["a", "a" * 101]), "text"))


def test_a_wrong_column_of_parquet_lists_those_there_are(tmp_path):
    with pytest.raises(LookupError, match="rows.parquet: no column text; it has id, body: set fetch_corpus.column"):
        list(read_parquet(table(tmp_path, id=[1], body=["a"]), "text"))


@pytest.mark.parametrize("values", [["a", None], [b"a", b"b"], [["a"], ["b"]]])
def test_what_is_no_text_is_named_by_its_row(tmp_path, values):
    with pytest.raises(ValueError, match=r"rows.parquet, row [12]: text is .*no text; check fetch_corpus.column"):
        list(read_parquet(table(tmp_path, text=values), "text"))


@pytest.mark.parametrize("kept", [0, 50, -1])
def test_a_damaged_parquet_is_refused(tmp_path, kept):
    path = table(tmp_path, text=["a" * 100])
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(ValueError, match="rows.parquet: damaged parquet .*fetch it again") as error:
        list(read_parquet(path, "text"))
    assert "\n" not in str(error.value)


def test_memory_stays_far_below_the_size_of_the_file(tmp_path):
    path = jsonl(tmp_path, *({"text": "word " * 2000} for _ in range(300)))
    tracemalloc.start()
    count = sum(1 for _ in read_jsonl(path, "text"))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 300
    assert peak < path.stat().st_size / 10


def test_a_parquet_of_one_row_group_is_not_read_at_once(tmp_path):
    """In pages of 1 MB: whatever the file's size, a few of them are held."""
    texts = [hashlib.shake_256(number.to_bytes(2)).hexdigest(5_000) for number in range(2000)]
    total = sum(map(len, texts))
    path = tmp_path / "rows.parquet"
    parquet.write_table(pa.table({"text": texts}), path, write_batch_size=1, use_dictionary=False)
    assert parquet.read_metadata(path).num_row_groups == 1
    before, peak = pa.total_allocated_bytes(), 0
    for _ in read_parquet(path, "text"):
        peak = max(peak, pa.total_allocated_bytes() - before)
    assert peak < total / 2


def test_the_checksum_of_a_folder_is_that_of_its_list(tmp_path):
    files = [str(tmp_path / name) for name in ("a.txt", "b.txt")]
    for name in files:
        (tmp_path / name).write_text("x")
    one = hashlib.sha256(b"x").hexdigest()
    assert checksum(files[:1]) == one
    assert checksum(files) == hashlib.sha256(f"{one}  a.txt\n{one}  b.txt\n".encode()).hexdigest()
