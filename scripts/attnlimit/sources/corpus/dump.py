"""MediaWiki dump -> articles of plain text, for a wiki in any language."""

import bz2
import importlib.util
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path
from xml.parsers.expat import errors as expat

from attnlimit.base.files import disk_error, memory_error
from attnlimit.base.log import bar
from attnlimit.sources.corpus.articles import Article
from attnlimit.sources.corpus.wikitext import HIDDEN_LINKS, plain_text

EXCERPT = "test/test_data/enwiki-latest-pages-articles1.xml-p000000010p000030302-shortened.bz2"
EXCERPT_SHA256 = "a53f4648dec40467ebdcbc7a1307eddb51fe6e28e9309f6ebde81ba0d04bea2d"
EXCERPT_TITLE = "English Wikipedia, 106 articles"
EXCERPT_LICENCE = "text CC BY-SA and GFDL, by the authors of each article"
PIECE = 1 << 16  # bytes read at a time
HIDDEN_NAMESPACES = {"-2", "6", "14"}  # media, files, categories: these numbers are the same in every wiki
PACKED = {".7z", ".gz", ".xz", ".zip", ".zst"}


def excerpt_path() -> Path:
    """The English Wikipedia excerpt that the gensim wheel carries; gensim itself is not imported."""
    package = importlib.util.find_spec("gensim")
    if package is None or not package.submodule_search_locations:
        raise LookupError("no gensim, whose wheel carries the excerpt: pip install gensim==4.4.0")
    return Path(package.submodule_search_locations[0], EXCERPT)


class _Pages(ElementTree.TreeBuilder):
    """Hands over each finished <page> and then forgets it, so memory holds one page at a time."""

    def __init__(self) -> None:
        super().__init__()
        self.root: ElementTree.Element | None = None
        self.finished: list[ElementTree.Element] = []
        self.hidden = set(HIDDEN_LINKS)  # the English names are understood by every wiki

    def doctype(self, name: str, public: str | None, system: str | None) -> None:
        # Entities can only be declared here, and a dump declares none: no entity bomb gets further.
        raise ValueError(f"it declares document type {name!r}, which no MediaWiki dump does")

    def start(self, tag: str, attributes: dict[str, str]) -> ElementTree.Element:
        element = super().start(tag, attributes)
        self.root = element if self.root is None else self.root
        return element

    def end(self, tag: str) -> ElementTree.Element:
        element = super().end(tag)
        match tag.rpartition("}")[2]:
            case "page" if self.root is not None:
                self.finished.append(element)
                self.root.clear()
            case "namespace" if element.get("key") in HIDDEN_NAMESPACES and element.text:
                self.hidden.add(element.text.lower())
        return element


def read_dump(path: str | Path, max_bytes: int) -> Iterator[Article]:
    """Articles of a MediaWiki export (.xml or .bz2) in page order, without redirects and other namespaces."""
    if Path(path).suffix in PACKED:
        raise ValueError(f"{path}: only .bz2 and plain XML are read; unpack it and check fetch_corpus.location")
    pages, size = _Pages(), 0
    parser = ElementTree.XMLParser(target=pages)  # noqa: S314  # safe: pages refuses what declares entities
    with Path(path).open("rb") as file, bz2.open(file) if Path(path).suffix == ".bz2" else file as stream:
        pieces = iter(lambda: stream.read(PIECE), b"")
        try:
            for piece in bar(pieces, Path(path).stat().st_size, unit="B", name="dump", done=file.tell):
                size += len(piece)
                if size > max_bytes:
                    raise ValueError(f"over {max_bytes} bytes unpacked; is fetch_corpus.max_bytes too low?")
                parser.feed(piece)
                for page in filter(_is_article, pages.finished):
                    yield _article(page, pages.hidden)
                pages.finished.clear()
            parser.close()
        except (EOFError, OSError, MemoryError, ElementTree.ParseError) as error:
            full = isinstance(error, ElementTree.ParseError) and error.code == expat.codes[expat.XML_ERROR_NO_MEMORY]
            if named := memory_error(path, MemoryError() if full else error) or disk_error(path, error):
                raise named from error
            raise ValueError(f"{path}: damaged dump ({error}); fetch it again") from error
        except ValueError as error:
            raise ValueError(f"{path}: dump refused: {error}") from error


def _is_article(page: ElementTree.Element) -> bool:
    return _field(page, "ns") == "0" and page.find("{*}redirect") is None


def _article(page: ElementTree.Element, hidden: set[str]) -> Article:
    return Article(
        page_id=int(_field(page, "id")),
        title=_field(page, "title"),
        revision_id=int(_field(page, "revision/{*}id")),
        text=plain_text(_field(page, "revision/{*}text"), hidden),
    )


def _field(page: ElementTree.Element, name: str) -> str:
    value = page.findtext("{*}" + name)
    if value is None:
        raise ValueError(f"page {page.findtext('{*}title')!r} has no {name.replace('{*}', '')}")
    return value
