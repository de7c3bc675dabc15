"""The table of articles: written and read in batches, so that memory does not grow with the corpus."""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as parquet

from attnlimit.base.files import atomic, naming_damage

SCHEMA = pa.schema(
    [("page_id", pa.int64()), ("title", pa.string()), ("revision_id", pa.int64()), ("text", pa.string())]
)
GROUP_CHARACTERS = 1 << 23  # of text in memory before a row group is written
READ_ROWS = 64
READ_CHARACTERS = 1 << 20
DAMAGE = (pa.ArrowException, OSError, LookupError, TypeError, ValueError)  # what a reader raises at damaged bytes


class Article(NamedTuple):
    page_id: int
    title: str
    revision_id: int  # 0 where the source has no revisions
    text: str  # plain


def up_to(articles: Iterable[Article], characters: int) -> Iterator[Article]:
    """Articles with text, up to the one that reaches this total of characters; 0: all."""
    reached = 0
    for article in articles:
        if article.text.strip():
            yield article
            reached += len(article.text)
            if 0 < characters <= reached:
                return


def write_articles(articles: Iterable[Article], path: str | Path, identity: dict) -> tuple[int, int]:
    """Write parquet; return how many articles and characters.

    `identity` says which corpus it is, and every store made from it repeats that. It is written last, because a source
    of many files knows their checksums only when all have been read.
    """
    count = total = 0
    digest = hashlib.sha256()
    with atomic(path) as part, parquet.ParquetWriter(part, SCHEMA, compression="zstd") as writer:
        for rows in _groups(articles, GROUP_CHARACTERS, lambda article: len(article.text)):
            columns = zip(*rows, strict=True)
            writer.write_batch(
                pa.record_batch([pa.array(*pair) for pair in zip(columns, SCHEMA.types, strict=True)], SCHEMA)
            )
            _add(digest, rows)
            count += len(rows)
            total += sum(len(row.text) for row in rows)
        if count == 0:
            raise ValueError(
                "the corpus holds no article with text; check fetch_corpus.source and fetch_corpus.location"
            )
        _add(digest, [identity])
        writer.add_key_value_metadata({"corpus": json.dumps(identity), "sha256": digest.hexdigest()})
    return count, total


def _groups(items: Iterable, characters: int, length: Callable[[Any], int]) -> Iterator[list]:
    """Lists of items, each ended by the item that reaches this total of characters."""
    rows, held = [], 0
    for item in items:
        rows.append(item)
        held += length(item)
        if held >= characters:
            yield rows
            rows, held = [], 0
    if rows:
        yield rows


def _add(digest: Any, rows: Iterable) -> None:
    for row in rows:
        digest.update(json.dumps(row).encode())


def read_articles(path: str | Path) -> Iterator[list[Article]]:
    """The articles in order, a few at a time: a tokenizer needs about 90 bytes for each character of a batch.

    Raises, at the end at the latest, unless the table holds what was written: parquet alone does not detect every
    flipped byte.
    """
    digest = hashlib.sha256()
    with naming_damage(path, "table of articles", DAMAGE), parquet.ParquetFile(path) as file:
        batches = file.iter_batches(batch_size=READ_ROWS, columns=SCHEMA.names)
        rows = (Article(*row) for batch in batches for row in zip(*(c.to_pylist() for c in batch.columns), strict=True))
        for group in _groups(rows, READ_CHARACTERS, lambda article: len(article.text)):
            _add(digest, group)
            yield group
        facts = file.metadata.metadata
        _add(digest, [json.loads(facts[b"corpus"])])
        if facts[b"sha256"].decode() != digest.hexdigest():
            raise ValueError("its sha256 is another than when it was written")


def read_identity(path: str | Path) -> dict[str, str]:
    """Which corpus a table of articles holds."""
    with naming_damage(path, "table of articles", DAMAGE):
        return json.loads(parquet.read_metadata(path).metadata[b"corpus"])
