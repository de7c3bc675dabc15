"""Wikipedia dump -> articles of plain text -> blocks of tokens."""

import bz2
import importlib.util
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import xarray as xr
from tokenizers import Tokenizer

from attnlimit.files import atomic
from attnlimit.wikitext import plain_text

EXCERPT = "test/test_data/enwiki-latest-pages-articles1.xml-p000000010p000030302-shortened.bz2"
PIECE = 1 << 16  # bytes read at a time


class Article(NamedTuple):
    page_id: int
    title: str
    revision_id: int
    text: str  # wikitext


def excerpt_path() -> Path:
    """The English Wikipedia excerpt that the gensim wheel carries; gensim itself is not imported."""
    package = importlib.util.find_spec("gensim")
    if package is None:
        raise LookupError("no gensim, whose wheel carries the excerpt: pip install gensim==4.4.0")
    return Path(package.submodule_search_locations[0], EXCERPT)


class _Pages(ElementTree.TreeBuilder):
    """Hands over each finished <page> and then forgets it, so memory holds one page at a time."""

    def __init__(self) -> None:
        super().__init__()
        self.root = None
        self.finished: list[ElementTree.Element] = []

    def doctype(self, name: str, public: str | None, system: str | None) -> None:
        # Entities can only be declared here, and a dump declares none: no entity bomb gets further.
        raise ValueError(f"it declares document type {name!r}, which no MediaWiki dump does")

    def start(self, tag: str, attributes: dict[str, str]) -> ElementTree.Element:
        element = super().start(tag, attributes)
        self.root = element if self.root is None else self.root
        return element

    def end(self, tag: str) -> ElementTree.Element:
        element = super().end(tag)
        if tag.rpartition("}")[2] == "page":
            self.finished.append(element)
            self.root.clear()
        return element


def read_dump(path: str | Path, max_bytes: int) -> Iterator[Article]:
    """Articles of a MediaWiki export (.xml or .bz2) in page order, without redirects and other namespaces."""
    pages, size = _Pages(), 0
    parser = ElementTree.XMLParser(target=pages)
    with (bz2.open if Path(path).suffix == ".bz2" else open)(path, "rb") as stream:
        try:
            while piece := stream.read(PIECE):
                size += len(piece)
                if size > max_bytes:
                    raise ValueError(f"over {max_bytes} bytes unpacked; is fetch_corpus.max_bytes too low?")
                parser.feed(piece)
                yield from map(_article, filter(_is_article, pages.finished))
                pages.finished.clear()
            parser.close()
        except (EOFError, OSError, ElementTree.ParseError) as error:
            raise ValueError(f"{path}: damaged dump ({error}); fetch it again") from error
        except ValueError as error:
            raise ValueError(f"{path}: dump refused: {error}") from error


def _is_article(page: ElementTree.Element) -> bool:
    return _field(page, "ns") == "0" and page.find("{*}redirect") is None


def _article(page: ElementTree.Element) -> Article:
    return Article(
        page_id=int(_field(page, "id")),
        title=_field(page, "title"),
        revision_id=int(_field(page, "revision/{*}id")),
        text=_field(page, "revision/{*}text"),
    )


def _field(page: ElementTree.Element, name: str) -> str:
    value = page.findtext("{*}" + name)
    if value is None:
        raise ValueError(f"page {page.findtext('{*}title')!r} has no {name.replace('{*}', '')}")
    return value


def articles_table(articles: Iterable[Article]) -> pa.Table:
    """Columns page_id, title, revision_id, text (plain); articles without any text are left out."""
    rows = [article._replace(text=plain_text(article.text)) for article in articles]
    rows = [row for row in rows if row.text]
    if not rows:
        raise ValueError("the dump holds no article with text; check fetch_corpus.source")
    types = [pa.int64(), pa.string(), pa.int64(), pa.string()]
    columns = [pa.array(column, kind) for column, kind in zip(zip(*rows, strict=True), types, strict=True)]
    return pa.table(columns, names=Article._fields)


def write_articles(table: pa.Table, path: str | Path, **identity: str) -> None:
    """Write parquet; `identity` says which corpus it is, and every store made from it repeats that."""
    with atomic(path) as part:
        parquet.write_table(table.replace_schema_metadata(identity), part, compression="zstd")


def read_articles(path: str | Path) -> tuple[pa.Table, dict[str, str]]:
    """The table of articles, and the identity it was written with."""
    table = parquet.read_table(path)
    return table, {name.decode(): value.decode() for name, value in (table.schema.metadata or {}).items()}


def token_blocks(texts: Iterable[str], tokenizer: Tokenizer, block: int) -> list[list[list[int]]]:
    """For each text its blocks of token ids: [CLS], up to block - 2 word pieces, [SEP]; never padding."""
    if block < 3:
        raise ValueError(f"tokenize_corpus.block is {block}, but [CLS], one word piece and [SEP] need 3")
    start, stop = (_special_id(tokenizer, name) for name in ("[CLS]", "[SEP]"))
    # A tokenizer.json may ask for both, and MiniLM's does: it would cut and fill every text to 128 tokens.
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True  # a "[SEP]" that an author wrote is a word, not a mark
    articles = (tokenizer.encode(text, add_special_tokens=False).ids for text in texts)
    size = block - 2
    return [[[start, *ids[i : i + size], stop] for i in range(0, len(ids), size)] for ids in articles]


def _special_id(tokenizer: Tokenizer, name: str) -> int:
    number = tokenizer.token_to_id(name)
    if number is None:
        raise LookupError(f"the tokenizer has no {name}; take the tokenizer.json of a BERT model")
    return number


def choose_blocks(
    blocks: Sequence[Sequence[list[int]]], population: int, generator: np.random.Generator
) -> list[tuple[int, list[int]]]:
    """Blocks in random order, as (article number, token ids), until they hold `population` tokens.

    [CLS] and [SEP] count. The order does not depend on `population`: a larger one only adds blocks.
    """
    numbered = [(article, ids) for article, own in enumerate(blocks) for ids in own]
    shuffled = [numbered[place] for place in generator.permutation(len(numbered))]
    reached = np.cumsum([len(ids) for _, ids in shuffled], dtype=np.int64)
    available = int(reached[-1]) if shuffled else 0
    if available < population:
        raise ValueError(
            f"tokenize_corpus.population is {population}, but the corpus holds {available} tokens; "
            "lower it or take a larger corpus"
        )
    return shuffled[: int(np.searchsorted(reached, population)) + 1]


def blocks_dataset(
    chosen: Sequence[tuple[int, list[int]]], page_ids: Sequence[int], revision_ids: Sequence[int]
) -> xr.Dataset:
    """Blocks end to end along `token`; `block_of_token` and `position` say where each token stands."""
    articles = [article for article, _ in chosen]
    sizes = [len(ids) for _, ids in chosen]
    return xr.Dataset(
        {
            "token_id": ("token", np.concatenate([ids for _, ids in chosen]).astype(np.int32)),
            "position": ("token", np.concatenate([np.arange(size, dtype=np.int16) for size in sizes])),
            "block_of_token": ("token", np.repeat(np.arange(len(chosen), dtype=np.int32), sizes)),
            "page_id": ("block", np.asarray(page_ids, np.int64)[articles]),
            "revision_id": ("block", np.asarray(revision_ids, np.int64)[articles]),
        }
    )
