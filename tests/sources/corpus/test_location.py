"""Local inputs are listed for Snakemake, files on the web are not."""

import pytest

from attnlimit.sources.corpus.location import file_name, is_url, local_files, most_tokens, skipped_files, text_name


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://host/wiki/dump.xml.bz2", "dump.xml.bz2"),
        ("https://host/a%20b.xml?x=/y#z", "a b.xml"),
        ("https://host/x%2F..%2Fevil", "evil"),
        ("https://host/x/..", ""),
        ("https://host/x/%2e%2e", ""),
        ("https://host", ""),
        ("https://host/", ""),
    ],
)
def test_a_download_has_a_plain_file_name(url, name):
    assert is_url(url)
    assert file_name(url) == name


def test_the_texts_of_a_folder_in_order_of_name_and_what_is_skipped(tmp_path):
    for name in ("b.txt", "a.txt", "sub/c.rst", "note.md", "paper.pdf", "sub/rows.csv", ".hidden"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    corpus = {"source": "text", "location": str(tmp_path)}
    assert local_files(corpus) == [str(tmp_path / name) for name in ("a.txt", "b.txt", "note.md", "sub/c.rst")]
    assert skipped_files(corpus) == [str(tmp_path / name) for name in ("paper.pdf", "sub/rows.csv")]
    assert skipped_files(corpus | {"location": str(tmp_path / "a.txt")}) == []


def test_a_text_gives_at_most_a_token_a_byte_and_two_marks_a_block(tmp_path):
    (tmp_path / "a.txt").write_text("x" * 10)
    corpus = {"source": "text", "location": str(tmp_path)}
    assert most_tokens(corpus, block=12) == 10 + 2 * (1 + 1)
    (tmp_path / "b.md").write_text("é" * 5)
    assert most_tokens(corpus, block=12) == 20 + 2 * (2 + 2)
    assert most_tokens(corpus | {"location": str(tmp_path / "rows.parquet")}, block=12) is None
    assert most_tokens({"source": "excerpt", "location": ""}, block=12) is None


@pytest.mark.parametrize(
    ("name", "form", "most"),
    [
        ("rows.csv", "", 10 + 2 * (1 + 10)),  # a byte may be a row, and a row is a text
        ("rows.txt", "csv", 10 + 2 * (1 + 10)),
        ("notes.dat", "text", 10 + 2 * (1 + 1)),
        ("titles.json", "", 10 + 2 * (1 + 10)),
        ("rows.jsonl.gz", "jsonl", None),  # packed: bytes do not tell
        ("rows.parquet", "text", None),
        ("notes.dat", "", None),
    ],
)
def test_the_format_tells_whether_bytes_bound_the_tokens(tmp_path, name, form, most):
    (tmp_path / name).write_text("x" * 10)
    assert most_tokens({"source": "text", "location": str(tmp_path / name), "format": form}, block=12) == most


@pytest.mark.parametrize(
    ("source", "location", "files"),
    [
        ("dump", "./my/dump.xml", ["my/dump.xml"]),
        ("text", "rows.jsonl", ["rows.jsonl"]),
        ("dump", "https://host/dump.xml", []),
        ("hub", "owner/name", []),
        ("excerpt", "", []),
    ],
)
def test_only_local_files_are_inputs(source, location, files):
    assert local_files({"source": source, "location": location}) == files


def test_a_title_goes_before_a_file_name():
    assert text_name({"name": "dump.xml.bz2", "title": "English Wikipedia"}) == "English Wikipedia"
    assert text_name({"name": "my_texts"}) == "my_texts"
    assert text_name({}) == ""
