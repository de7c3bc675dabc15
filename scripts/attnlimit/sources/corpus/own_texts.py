"""Rows of a .jsonl or .parquet file of your own -> articles.

Read here and not by the `datasets` library, which reads the hub's: so that a line or a column at fault is named.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

import pyarrow as pa
import pyarrow.parquet as parquet

from attnlimit.base.files import naming_damage, sha256_of
from attnlimit.base.log import bar
from attnlimit.sources.corpus.articles import READ_ROWS, Article
from attnlimit.sources.corpus.encoding import LONGEST

COLUMN = "fetch_corpus.column"  # the config key that names the column of the text

BUFFER = 1 << 20  # bytes; without it a whole row group is read at once, and some files have only one


def read_jsonl(path: str | Path, column: str) -> Iterator[Article]:
    """One article a line: an object with the text in `column` and, if it has them, its `id` and `title`."""
    for number, row in jsonl_rows(path, column):
        yield row_article(row, number, column, f"{path}, line {number}")


def jsonl_rows(path: str | Path, column: str) -> Iterator[tuple[int, dict]]:
    """The objects of a file, one a line, with the number of the line; empty lines are passed over."""
    with Path(path).open("rb") as stream:
        total = Path(path).stat().st_size
        yield from bar(jsonl_lines(stream, path, column), total, unit="B", name="corpus", done=stream.tell)


def jsonl_lines(stream: IO[bytes], name: str | Path, column: str) -> Iterator[tuple[int, dict]]:
    """The same of a stream, called `name` where a line is at fault."""
    for number, line in enumerate(iter(lambda: stream.readline(LONGEST + 1), b""), 1):
        place = f"{name}, line {number}"
        if len(line) > LONGEST:
            raise ValueError(f"{place}: over {LONGEST} bytes for one text; cut it into shorter ones")
        try:
            row = json.loads(line.decode("utf-8-sig")) if line.strip() else None
        except ValueError as error:
            raise ValueError(f"{place}: broken JSON ({error}); fix the line") from error
        if isinstance(row, dict):
            yield number, row
        elif line.strip():
            raise ValueError(f"{place}: holds no object such as {{{json.dumps(column)}: …}}")


def read_parquet(path: str | Path, column: str) -> Iterator[Article]:
    """One article a row: the text in `column` and, if the file has them, its `id` and `title`."""
    yield from read_rows(parquet_rows(path, {column: COLUMN}, ("id", "title")), column, path)


def parquet_rows(path: str | Path, needed: dict[str, str], others: tuple[str, ...] = ()) -> Iterator[dict]:
    """The rows of a file, with the columns that are needed, each with the config key that names it, and others."""
    reading = naming_damage(path, "parquet", (pa.ArrowException, OSError), "fetch it again")
    with reading, parquet.ParquetFile(path, pre_buffer=False, buffer_size=BUFFER) as file:
        names = file.schema_arrow.names
        for column, key in needed.items():
            require_column(column, names, path, key)
        wanted = [name for name in names if name in (*others, *needed)]
        batches = file.iter_batches(batch_size=READ_ROWS, columns=wanted)
        rows = (row for batch in batches for row in batch.to_pylist())
        yield from bar(rows, file.metadata.num_rows, unit="rows", name="corpus")


def read_rows(rows: Iterable[dict], column: str, path: str | Path) -> Iterator[Article]:
    """One article a row of a file."""
    for number, row in enumerate(rows, 1):
        yield row_article(row, number, column, f"{path}, row {number}")


def row_article(row: dict, number: int, column: str, place: str) -> Article:
    """The row's id as page_id if it is a whole number, else the number of the row."""
    require_column(column, row, place)
    text, key, title = row[column], str(row.get("id", "")), row.get("title")
    title = title if isinstance(title, str) else str(number)
    for words in (text, title):
        require_text(words, column, place)
    known = key.isascii() and key.isdigit() and len(key) < 19  # int64
    return Article(int(key) if known else number, title, 0, text)


def require_text(text: object, column: str, place: str, key: str = COLUMN) -> None:
    """Raise unless this is a text that a tokenizer can read; the config key names its column."""
    if not isinstance(text, str):
        raise ValueError(f"{place}: {column} is {text!r:.40}, no text; check {key}")
    if len(text) > LONGEST:
        raise ValueError(f"{place}: over {LONGEST} characters for one text; cut it into shorter ones")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"{place}: holds half a character (a lone surrogate); fix it") from error


def require_column(column: str, names: Iterable[str], place: str | Path, key: str = COLUMN) -> None:
    if column not in names:
        raise LookupError(f"{place}: no column {column}; it has {', '.join(names)}: set {key}")


def checksum(files: list[str]) -> str:
    """sha256 of one file; of several, that of the list `sha256sum` prints: a line "sha256  name" for each."""
    if len(files) == 1:
        return sha256_of(files[0])
    return hashlib.sha256("".join(f"{sha256_of(name)}  {Path(name).name}\n" for name in files).encode()).hexdigest()
