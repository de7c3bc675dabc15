"""A user's own files are looked at before any job: what is remarkable is told, what cannot be read is refused."""

import gzip

import pytest

from attnlimit.sources.corpus import survey as module
from attnlimit.sources.corpus.survey import NAMED, remarks_on, survey


def corpus(folder, contents, **settings):
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    return {"source": "text", "location": str(folder)} | settings


def test_what_is_remarkable_is_told_with_the_files(tmp_path):
    contents = {"a.txt": "é".encode(), "b.txt": "é".encode("latin-1"), "c.md": b" \n", "d.txt": b"", "e.pdf": b"\0"}
    assert remarks_on(survey(corpus(tmp_path, contents))) == [
        "not read: 1 file other than .txt, .md, .rst: e.pdf",
        "left out, without text: 2 files: c.md, d.txt",
        "not UTF-8, read as Windows-1252: 1 file: b.txt",
    ]


def test_many_files_are_counted_and_some_named(tmp_path):
    (told,) = remarks_on(survey(corpus(tmp_path, {f"{number:02}.txt": b"" for number in range(NAMED + 3)})))
    assert f": {NAMED + 3} files: 00.txt, 01.txt" in told and told.endswith("09.txt, 3 more")


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("b.txt", "é".encode("utf-16"), "b.txt: holds NUL bytes.*save it as UTF-8 or leave it out"),
        ("b.txt", b"\x81\x8d", "b.txt: neither UTF-8 nor Windows-1252"),
        ("b.txt", b"a" * 101, "b.txt: over .* bytes for one text; cut it"),
        ("rows.csv", 'text\n"é"\n'.encode("latin-1"), "rows.csv: not UTF-8"),
        ("rows.jsonl", '{"text": "é"}'.encode("latin-1"), "rows.jsonl: not UTF-8"),
    ],
)
def test_what_no_job_could_read_is_refused(tmp_path, monkeypatch, name, content, why):
    monkeypatch.setattr(module, "LONGEST", 100)
    settings = corpus(tmp_path, {name: content})
    with pytest.raises(ValueError, match=why):
        survey(settings | ({} if name.endswith(".txt") else {"location": str(tmp_path / name)}))


def test_planning_reads_no_more_of_a_large_corpus(tmp_path, monkeypatch):
    """A character may be cut where the reading of a table ends; files after that are left to the job."""
    monkeypatch.setattr(module, "HEAD", 101)
    table = corpus(tmp_path, {"rows.jsonl": "é".encode() * 100}, location=str(tmp_path / "rows.jsonl"))
    assert survey(table) == {}
    monkeypatch.setattr(module, "MOST", 10)
    assert survey(corpus(tmp_path, {"a.txt": b"a" * 11, "b.txt": b"\0"}, format="text")).keys() == {"skipped"}


def test_only_files_of_ones_own_are_looked_at():
    assert survey({"source": "hub", "location": "owner/name"}) == {}


@pytest.mark.parametrize(("name", "form"), [("a.txt.gz", "text"), ("a.csv.gz", "csv"), ("a.jsonl.gz", "jsonl")])
def test_a_packed_file_is_left_to_the_job_that_unpacks_it(tmp_path, name, form):
    (tmp_path / name).write_bytes(gzip.compress(b"text"))
    assert survey({"source": "text", "location": str(tmp_path / name), "format": form}) == {}
