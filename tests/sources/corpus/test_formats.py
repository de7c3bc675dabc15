"""Each format gives its texts, and what is wrong with a file is told in one line that names it."""

import gzip
import io
import json

import pytest

from attnlimit.sources.corpus.encoding import LONGEST
from attnlimit.sources.corpus.formats import read_streams
from attnlimit.sources.corpus.survey import Remarks, remarks_on
from attnlimit.sources.package import Budget

HEAD = '<?xml version="1.0" encoding="utf-8"?>\n'
NAMED = '<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle//EN" "https://dtd.nlm.nih.gov/pubmed.dtd"{}>\n'
PLAIN = NAMED.format("")


def read(name, content, form="", column="text", most=10**8, identity=None):
    content = content.encode() if isinstance(content, str) else content
    remarks = Remarks({} if identity is None else identity)
    return list(read_streams([(name, io.BytesIO(content))], form, column, Budget(most, "enough"), remarks))


def citation(number, title="A <i>title</i>.", abstract=("One.", "Two <sup>2</sup>.")):
    parts = "".join(f'<AbstractText Label="AIM">{part}</AbstractText>' for part in abstract)
    return (
        f'<PubmedArticle><MedlineCitation><PMID Version="1">{number}</PMID><Article>'
        f"<ArticleTitle>{title}</ArticleTitle><Abstract>{parts}<CopyrightInformation>Left out.</CopyrightInformation>"
        "</Abstract></Article></MedlineCitation>"
        "<PubmedData><ArticleIdList><ArticleId>9</ArticleId></ArticleIdList></PubmedData></PubmedArticle>"
    )


def medline(*citations, doctype=PLAIN):
    return f"{HEAD}{doctype}<PubmedArticleSet>{''.join(citations)}</PubmedArticleSet>"


def test_a_text_is_a_file_without_the_metadata_above_it():
    (article,) = read("dir/a.txt", "\ufeffWords.\r\n---\nMore.\n")
    assert article == (1, "a", 0, "Words.\n---\nMore.\n")
    (article,) = read("a.LICENSE", "---\nkey: a\nnote: --- not yet\n---\n\nThe text.\n---\n", "text")
    assert article.text == "\nThe text.\n---\n"
    assert read("a.LICENSE", "---\nkey: a\n---", "text")[0].text == ""


@pytest.mark.parametrize("form", ["text", "python"])
def test_an_old_text_is_read_as_windows_1252_and_that_is_told(form):
    """Latin-1 is within it, but for control characters; a dash and quotes are not."""
    identity = {}
    text = "Cæsar – “naïf” €"
    assert read("dir/a.txt", text.encode("cp1252"), form, identity=identity)[0].text == text
    assert remarks_on(identity) == ["not UTF-8, read as Windows-1252: 1 file: a.txt"]
    assert read("a.txt", text, form, identity=(plain := {}))[0].text == text and plain == {}


def test_a_text_without_text_is_told():
    identity = {}
    read("a.txt", " \r\n", identity=identity)
    assert remarks_on(identity) == ["left out, without text: 1 file: a.txt"]


@pytest.mark.parametrize("content", ["words".encode("utf-16"), b"wo\0rds", b"wo\x81rds"])
def test_what_is_no_text_is_refused(content):
    with pytest.raises(
        ValueError, match=r"a\.txt: (holds NUL bytes|neither UTF-8 nor Windows-1252).*; save it as UTF-8"
    ):
        read("a.txt", content)


def test_python_is_read_as_it_is_and_titled_by_its_path():
    (article,) = read("tiny/__init__.py", "---\nx = 1\n---\n")
    assert article == (1, "tiny/__init__.py", 0, "---\nx = 1\n---\n")


def test_files_are_numbered_together():
    files = [(f"{name}.txt", io.BytesIO(b"words")) for name in "ab"] + [("c.csv", io.BytesIO(b"text\nrow\n"))]
    assert [article.page_id for article in read_streams(files, "", "text", Budget(9, ""), Remarks({}))] == [1, 2, 3]


def test_a_text_too_long_is_refused():
    with pytest.raises(
        ValueError, match=r"a\.txt: over 5,000,000 bytes for one text; cut it into files of one article each"
    ):
        read("a.txt", b"a" * (LONGEST + 1))


def test_rows_of_jsonl_and_csv():
    rows = [{"id": 7, "title": "T", "words": "a, b\nc"}, {"title": "U", "words": "d"}]
    expected = [(7, "T", 0, "a, b\nc"), (2, "U", 0, "d")]
    assert read("a.jsonl", "\n".join(map(json.dumps, rows)), column="words") == expected
    assert read("a.csv", '\ufeffid,title,words\r\n7,T,"a, b\nc"\r\n,U,d\r\n', column="words") == expected


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("a.csv", "id,body\n1,x\n", "a.csv, line 2: no column text; it has id, body: set fetch_corpus.column"),
        ("a.csv", 'text\n"never closed\n', "a.csv, after line 1: broken CSV (unexpected end of data); fix it"),
        ("a.csv", "id,body\n1,x,y\n", "a.csv, line 2: no column text; it has id, body, more"),
        ("a.csv", "id,text\n1\n", "a.csv, line 2: text is None, no text"),
        ("a.csv", b"text\n\xff\xfe\n", "not UTF-8"),
        ("a.csv", f'text\n"{"a" * (LONGEST + 1)}"\n', "broken CSV (field larger than field limit"),
        ("a.jsonl", "{", "a.jsonl, line 1: broken JSON"),
        ("a.json", "{", "a.json: no SQuAD"),
        (
            "a.json",
            '{"data": [{"title": "T"}]}',
            "a.json: no SQuAD, data[].paragraphs[].context (KeyError: 'paragraphs')",
        ),
        ("a.json", '{"data": [{"paragraphs": [{"context": 1}]}]}', "a.json: no SQuAD"),
        ("a.json", "[" * 100_000, "a.json: no SQuAD"),
        ("a.xml", "<a><b></a>", "a.xml: broken XML (mismatched tag"),
        ("a.xml", medline(citation(1))[:-20], "a.xml: broken XML"),
        ("a.xml", medline(citation("x")), "a.xml: refused: a citation has PMID 'x', no number"),
        ("a.bin", "words", "a.bin: its ending tells no format; set fetch_corpus.format to one of text, jsonl, csv"),
        ("a.txt.gz", b"no gzip", "a.txt.gz: damaged"),
        ("a.txt.gz", gzip.compress(b"words" * 99, mtime=0)[:-12], "a.txt.gz: damaged"),
        ("a.txt.gz", gzip.compress(b"", mtime=0)[:10] + b"\xff" * 20, "a.txt.gz: damaged"),
        (
            "a.json",
            '{"data": [{"paragraphs": [], "title": 1}]}',
            "a.json: title is 1, no text; check fetch_corpus.format",
        ),
    ],
)
def test_what_is_wrong_is_told(name, content, why):
    with pytest.raises((ValueError, LookupError)) as error:
        read(name, content)
    assert why in str(error.value) and "\n" not in str(error.value)


def test_citations_with_an_abstract():
    found = read("a.xml", medline(citation(11), citation(12, abstract=()), citation(13, "Größe", ["x &lt; y\n z"])))
    assert found == [(11, "A title.", 0, "A title.\nOne.\nTwo 2."), (13, "Größe", 0, "Größe\nx < y z")]
    assert read("a.xml.gz", gzip.compress(medline(citation(11)).encode()))[0].page_id == 11


@pytest.mark.parametrize(
    ("doctype", "title"),
    [
        (NAMED.format(' [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]'), "&b;"),
        (NAMED.format(' [<!ENTITY a SYSTEM "file:///etc/passwd">]'), "&a;"),
        (NAMED.format(' [<!ENTITY % a SYSTEM "http://127.0.0.1/x"> %a;]'), "none"),
        (NAMED.format(""), "&eacute;"),
    ],
)
def test_entities_are_refused(doctype, title):
    with pytest.raises(ValueError, match=r"a\.xml: refused: entity '(a|eacute)'"):
        read("a.xml", medline(citation(1, title), doctype=doctype))


def test_a_packed_member_that_bursts_is_refused():
    bomb = gzip.compress(b"<a>" + b" " * 10_000_000, mtime=0)
    assert len(bomb) < 20_000
    for name in ("a.xml.gz", "a.txt.gz", "a.jsonl.gz"):
        with pytest.raises(ValueError, match="over 1000000 bytes unpacked; enough"):
            read(name, bomb, most=10**6)


def test_paragraphs_of_squad_by_title():
    paragraphs = [{"context": "One.", "qas": [{"question": "Left out?"}]}, {"context": "Two."}]
    squad = {"version": "1.1", "data": [{"title": "New_York", "paragraphs": paragraphs}]}
    assert read("a.json", json.dumps(squad)) == [(1, "New York", 0, "One.\nTwo.")]
