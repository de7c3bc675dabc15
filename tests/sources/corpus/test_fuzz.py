"""Whatever bytes a corpus or a tokenizer comes in: its words, or one line that names the file; nothing else."""

import bz2
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from attnlimit.sources.corpus.articles import Article, read_articles, read_identity, write_articles
from attnlimit.sources.corpus.blocks import load_tokenizer
from attnlimit.sources.corpus.dump import read_dump
from attnlimit.sources.corpus.open import open_corpus
from attnlimit.sources.model.files import embedded_folder
from support.fuzz import damage, told


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("fuzz")


@pytest.fixture(scope="module")
def articles(folder) -> tuple[Path, bytes]:
    path = folder / "articles.parquet"
    rows = [Article(number, f"T{number}", number + 100, f"{number} some words") for number in range(40)]
    write_articles(rows, path, {"source": "text", "name": "мое"})
    return path, path.read_bytes()


def table(path: Path):
    """As tokenize_corpus reads it."""
    return [article for articles in read_articles(path) for article in articles], read_identity(path)


@settings(max_examples=100)
@given(data=st.data())
def test_articles_are_those_written_or_the_table_is_named(articles, data):
    path, content = articles
    path.write_bytes(content)
    whole = table(path)
    path.write_bytes(data.draw(damage(content)))
    found = told(path, lambda: table(path))
    assert found is None or found == whole


@pytest.fixture(scope="module")
def tokenizer(folder) -> tuple[Path, bytes]:
    """MiniLM's, with the first of its words."""
    facts = json.loads((embedded_folder() / "tokenizer.json").read_bytes())
    words = list(facts["model"]["vocab"].items())
    facts["model"]["vocab"] = dict(words[:120])
    return folder / "tokenizer.json", json.dumps(facts).encode()


@settings(max_examples=100)
@given(data=st.data())
def test_a_tokenizer_has_its_marks_or_is_named(tokenizer, data):
    path, content = tokenizer
    path.write_bytes(data.draw(damage(content)))
    found = told(path, lambda: load_tokenizer(path))
    if found is not None:
        reader, marks = found
        assert isinstance(reader, Tokenizer) and len(marks) == 2


REVISION = "<revision><id>2</id><text>Some '''bold''' words.</text></revision>"
PAGE = f"<page><title>A</title><ns>0</ns><id>1</id>{REVISION}</page>"
DUMP = f"<mediawiki><siteinfo/>{PAGE}{PAGE.replace('<id>1', '<id>7')}</mediawiki>".encode()


@settings(max_examples=100)
@given(data=st.data())
def test_a_dump_becomes_articles_or_is_named(folder, data):
    packed = data.draw(st.booleans())
    path = folder / ("dump.xml.bz2" if packed else "dump.xml")
    path.write_bytes(data.draw(damage(bz2.compress(DUMP) if packed else DUMP)))
    found = told(path, lambda: list(read_dump(path, 10**6)))
    assert found is None or all(isinstance(article, Article) for article in found)
    assert not packed or found is None or {article.text for article in found} <= {"Some bold words."}


ROWS = b'{"id": "1", "title": "A", "text": "\\u044f words"}\n{"text": "more"}\n'


def opened(path):
    settings = {"source": "text", "location": str(path), "sha256": "", "column": "text", "max_bytes": 10**6}
    return open_corpus(settings, [str(path)], path.parent)[0]


@settings(max_examples=100)
@given(data=st.data())
def test_rows_of_text_become_articles_or_are_named(folder, data):
    suffix = data.draw(st.sampled_from(["jsonl", "txt"]))
    path = folder / f"rows.{suffix}"
    path.write_bytes(data.draw(damage(ROWS) | st.binary(max_size=60)))
    found = told(path, lambda: list(opened(path)))
    for article in found or []:
        article.text.encode()  # raises at half a letter
