"""Local inputs are listed for Snakemake, files on the web are not."""

import pytest

from attnlimit.corpus.location import file_name, is_url, local_files


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


def test_the_txt_files_of_a_folder_in_order_of_name(tmp_path):
    for name in ("b.txt", "a.txt", "sub/c.txt", "note.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    found = local_files({"source": "text", "location": str(tmp_path)})
    assert found == [str(tmp_path / name) for name in ("a.txt", "b.txt", "sub/c.txt")]


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
