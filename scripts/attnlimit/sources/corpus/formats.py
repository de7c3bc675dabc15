"""Texts by format, each of a stream: plain text, .jsonl, a column of .csv, MEDLINE, Python source, SQuAD.

One article a file, a row, a citation or a title; numbered from 1 over all files where the format has no numbers itself.
"""

import csv
import gzip
import io
import json
import re
import xml.etree.ElementTree as ElementTree
import zlib
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from pathlib import PurePosixPath
from typing import IO, NamedTuple
from xml.parsers import expat

from attnlimit.sources.corpus.articles import Article
from attnlimit.sources.corpus.encoding import LONGEST, TOO_LONG, UTF_8, encoding_of
from attnlimit.sources.corpus.location import ENDINGS, format_of
from attnlimit.sources.corpus.own_texts import jsonl_lines, require_text, row_article
from attnlimit.sources.corpus.survey import EMPTY, WINDOWS, Remarks
from attnlimit.sources.package import PIECE, Budget, Counted

LONGEST_JSON = 100_000_000  # bytes of a file that is one JSON value: it is read as a whole
FORMAT = "fetch_corpus.format"  # the config key that names the format
FRONT_MATTER = re.compile(r"---\n.*?^---[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)  # metadata in YAML above a text


class Reading(NamedTuple):
    """What the files of a corpus share while they are read."""

    column: str  # that holds the text, where there are columns
    remarks: Remarks
    numbers: Iterator[int]  # of the articles


def read_streams(
    files: Iterable[tuple[str, IO[bytes]]], form: str, column: str, budget: Budget, remarks: Remarks
) -> Iterator[Article]:
    """Articles of files, each with its name; form: of all of them, or "": by their endings.

    A file whose name ends in .gz is unpacked on the way; `budget` counts what comes out.
    """
    reading = Reading(column, remarks, count(1))
    for name, stream in files:
        plain = name.removesuffix(".gz")
        kind = form or format_of(plain)
        if not kind:
            raise ValueError(f"{name}: its ending tells no format; set {FORMAT} to one of {', '.join(ENDINGS)}")
        packed = plain != name
        text = io.BufferedReader(Counted(gzip.GzipFile(fileobj=stream), budget)) if packed else stream
        try:
            yield from READERS[kind](plain, text, reading)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise ValueError(f"{name}: damaged ({error}); take another file") from error


def read_text(name: str, stream: IO[bytes], reading: Reading) -> Iterator[Article]:
    """One article a file, titled by the file's name; YAML between two lines of --- at its head is left out."""
    text = whole_text(name, stream, reading.remarks)
    head = FRONT_MATTER.match(text)
    yield Article(next(reading.numbers), PurePosixPath(name).stem, 0, text[head.end() :] if head else text)


def read_python(name: str, stream: IO[bytes], reading: Reading) -> Iterator[Article]:
    """One article a file, as it is, titled by its path: many share a name."""
    yield Article(next(reading.numbers), name, 0, whole_text(name, stream, reading.remarks))


def whole_text(name: str, stream: IO[bytes], remarks: Remarks) -> str:
    """The text of a file, with uniform line ends; a file without text or not in UTF-8 is remarked."""
    content = stream.read(LONGEST + 1)
    if len(content) > LONGEST:
        raise ValueError(f"{name}: {TOO_LONG}")
    try:
        encoding = encoding_of(content)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error
    text = content.decode(encoding).replace("\r\n", "\n").replace("\r", "\n")
    if encoding != UTF_8:
        remarks.add(WINDOWS, name)
    if not text.strip():
        remarks.add(EMPTY, name)
    return text


def read_jsonl(name: str, stream: IO[bytes], reading: Reading) -> Iterator[Article]:
    """One article a line."""
    for number, row in jsonl_lines(stream, name, reading.column):
        yield row_article(row, next(reading.numbers), reading.column, f"{name}, line {number}")


def read_csv(name: str, stream: IO[bytes], reading: Reading) -> Iterator[Article]:
    """One article a row: the text in `column` of the first line's names and, if it has them, its `id` and `title`."""
    csv.field_size_limit(LONGEST)
    lines = io.TextIOWrapper(stream, "utf-8-sig", newline="")
    rows = csv.DictReader(lines, restkey="more", strict=True)
    try:
        for row in rows:
            yield row_article(row, next(reading.numbers), reading.column, f"{name}, line {rows.line_num}")
    except csv.Error as error:
        raise ValueError(f"{name}, after line {rows.line_num}: broken CSV ({error}); fix it") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"{name}, after line {rows.line_num}: not UTF-8 ({error}); convert it") from error
    finally:
        lines.detach()  # else it would close the stream, which is not its own


def read_squad(name: str, stream: IO[bytes], reading: Reading) -> Iterator[Article]:
    """One article a title: its paragraphs, without the questions."""
    content = stream.read(LONGEST_JSON + 1)
    if len(content) > LONGEST_JSON:
        raise ValueError(f"{name}: over {LONGEST_JSON} bytes of JSON; cut it into shorter files")
    try:
        for entry in json.loads(content)["data"]:
            text = "\n".join(paragraph["context"] for paragraph in entry["paragraphs"])
            title = entry.get("title", "")
            require_text(text, "context", f"{name}, {title!r:.60}", FORMAT)
            require_text(title, "title", name, FORMAT)
            yield Article(next(reading.numbers), title.replace("_", " "), 0, text)
    except (LookupError, TypeError, AttributeError, RecursionError, json.JSONDecodeError, UnicodeDecodeError) as error:
        why = f"{type(error).__name__}: {error}"
        raise ValueError(f"{name}: no SQuAD, data[].paragraphs[].context ({why}); check {FORMAT}") from error


class _Citations:
    """An XML parser that hands over each finished <MedlineCitation> and forgets what is around it.

    MEDLINE names a document type, which is not fetched; what declares or uses an entity of its own is refused, so that
    no entity bomb gets further and no letter is lost.
    """

    def __init__(self) -> None:
        self.parser, self.builder, self.depth = expat.ParserCreate(), ElementTree.TreeBuilder(), 0
        self.finished: list[ElementTree.Element] = []
        self.parser.buffer_text = True
        self.parser.StartElementHandler, self.parser.EndElementHandler = self.start, self.end
        self.parser.CharacterDataHandler = self.data
        self.parser.EntityDeclHandler = self.parser.SkippedEntityHandler = self.entity

    def entity(self, name: str, *_: object) -> None:
        raise ValueError(f"entity {name!r:.60}, which no MEDLINE file declares")

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if self.depth or tag == "MedlineCitation":
            self.depth += 1
            self.builder.start(tag, attributes)

    def data(self, text: str) -> None:
        if self.depth:
            self.builder.data(text)

    def end(self, tag: str) -> None:
        if self.depth:
            self.depth -= 1
            self.builder.end(tag)
            if self.depth == 0:
                self.finished.append(self.builder.close())
                self.builder = ElementTree.TreeBuilder()


def read_medline(name: str, stream: IO[bytes], reading: Reading) -> Iterator[Article]:
    """One article a citation that has an abstract: its title and its abstract; numbered by PubMed."""
    citations = _Citations()
    try:
        for piece in iter(lambda: stream.read(PIECE), b""):
            citations.parser.Parse(piece)
            yield from filter(None, (citation_article(each) for each in citations.finished))
            citations.finished.clear()
        citations.parser.Parse(b"", True)
        yield from filter(None, (citation_article(each) for each in citations.finished))
    except expat.ExpatError as error:
        raise ValueError(f"{name}: broken XML ({error}); check {FORMAT}") from error
    except ValueError as error:
        raise ValueError(f"{name}: refused: {error}") from error


def citation_article(citation: ElementTree.Element) -> Article | None:
    """Title and abstract; None without an abstract."""
    title = words(citation.find("Article/ArticleTitle"))
    abstract = [words(part) for part in citation.iterfind("Article/Abstract/AbstractText")]
    number = citation.findtext("PMID") or ""
    if not (number.isascii() and number.isdigit() and len(number) < 19):
        raise ValueError(f"a citation has PMID {number!r:.40}, no number")
    text = "\n".join(filter(None, abstract))
    return Article(int(number), title, 0, f"{title}\n{text}") if text else None


def words(element: ElementTree.Element | None) -> str:
    """The text of an element without its markup, such as <i> and <sup>."""
    return " ".join("".join(element.itertext()).split()) if element is not None else ""


Reader = Callable[[str, IO[bytes], Reading], Iterator[Article]]
READERS: dict[str, Reader] = {
    "text": read_text,
    "jsonl": read_jsonl,
    "csv": read_csv,
    "medline": read_medline,
    "python": read_python,
    "squad": read_squad,
}
