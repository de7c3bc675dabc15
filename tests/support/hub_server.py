"""A hub on this machine: a few repositories, each at one commit, and faults where they are asked for."""

import hashlib
import json
import re
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

import pyarrow as pa
from pyarrow import parquet

from support.faulty import FaultyServer

LARGE = (".safetensors", ".parquet", ".bin")  # kept in LFS: the hub lists their sha256
API = re.compile(r"/api/(model|dataset)s/([^/]+/[^/]+)/revision/(\w+)")
FILE = re.compile(r"/(datasets/)?([^/]+/[^/]+)/resolve/(\w+)/(.+)")
PAGE = b"<!DOCTYPE html><html><body>Please log in to this network.</body></html>"


class Repository(NamedTuple):
    folder: Path
    commit: str
    licence: str


class Server(FaultyServer):
    def __init__(self):
        super().__init__(Handler)
        self.repositories = {}

    def add(self, kind: str, name: str, folder: Path, licence: str = "mit") -> str:
        """Serve a folder as a repository; its commit."""
        commit = hashlib.sha1(name.encode()).hexdigest()
        self.repositories[kind, name] = Repository(folder, commit, licence)
        return commit


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_) -> None:
        pass

    def do_HEAD(self) -> None:  # noqa: N802
        self.answer()

    def do_GET(self) -> None:  # noqa: N802
        self.answer()

    def answer(self) -> None:
        path = unquote(urlsplit(self.path).path)
        self.server.asked.append((self.command, path))
        fault = self.server.fault(self.command, path)
        if fault.isdigit():
            self.send(int(fault), b"", {"Retry-After": "0"} if fault == "429" else {})
        elif found := API.fullmatch(path):
            self.list(*found.groups(), fault)
        elif found := FILE.fullmatch(path):
            kind, *rest = found.groups()
            self.give("dataset" if kind else "model", *rest, fault)
        else:
            self.send(404, b"", {})

    def repository(self, kind: str, name: str, revision: str) -> Repository | None:
        held = self.server.repositories.get((kind, name))
        if held is None or held.commit != revision:
            self.send(404, b"", {"X-Error-Code": "RevisionNotFound" if held else "RepoNotFound"})
            return None
        return held

    def list(self, kind: str, name: str, revision: str, fault: str) -> None:
        if held := self.repository(kind, name, revision):
            files = sorted(path for path in held.folder.rglob("*") if path.is_file())
            answer = {
                "id": name,
                "sha": "f" * 40 if fault == "other commit" else held.commit,
                "cardData": {"license": held.licence},
                "siblings": [described(path, held.folder) for path in files],
            }
            self.send(200, PAGE if fault == "page" else json.dumps(answer).encode(), {})

    def give(self, kind: str, name: str, revision: str, file: str, fault: str) -> None:
        held = self.repository(kind, name, revision)
        if held is None:
            return
        path = held.folder / file
        if not path.is_file():
            self.send(404, b"", {"X-Error-Code": "EntryNotFound", "X-Repo-Commit": held.commit})
            return
        content = path.read_bytes()
        facts = described(path, held.folder)
        checksum = facts["lfs"]["sha256"] if "lfs" in facts else facts["blobId"]
        headers = {
            "X-Repo-Commit": "f" * 40 if fault == "other commit" else held.commit,
            "ETag": f'"{checksum}"',
            "X-Linked-Etag": f'"{checksum}"',
            "X-Linked-Size": str(len(content)),
            "Accept-Ranges": "bytes",
        }
        status, start = 200, re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        if start:
            status, first = 206, int(start.group(1))
            headers["Content-Range"] = f"bytes {first}-{len(content) - 1}/{len(content)}"
            content = content[first:]
        half = len(content) // 2
        match fault:
            case "corrupt":  # of the same size
                content = content[:half] + bytes([content[half] ^ 1]) + content[half + 1 :]
            case "short":
                content = content[:half]
            case "page":
                content = PAGE
        self.send(status, content, headers, cut=fault == "cut")

    def send(self, status: int, content: bytes, headers: dict[str, str], cut: bool = False) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content[: len(content) // 2] if cut else content)
        self.close_connection = self.close_connection or cut


def described(path: Path, folder: Path) -> dict:
    """A file as the hub lists it."""
    content = path.read_bytes()
    facts = {"rfilename": path.relative_to(folder).as_posix(), "size": len(content)}
    facts["blobId"] = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
    if path.suffix in LARGE:
        facts["lfs"] = {"sha256": hashlib.sha256(content).hexdigest(), "size": len(content), "pointerSize": 130}
    return facts


def files_in(cache: Path) -> list[Path]:
    """Every blob and snapshot in the cache of a client."""
    found = [path for path in cache.rglob("*") if path.is_file() or path.is_symlink()]
    return [path for path in found if {"blobs", "snapshots"} & set(path.parts)]


def save_shards(folder: Path) -> Path:
    """A dataset: three parquet shards of four rows and a file of another kind."""
    place = folder / "en"
    place.mkdir(parents=True)
    for number in range(3):
        rows = {"id": [f"{number}{row}" for row in range(4)], "text": [f"Text {row} of {number}." for row in range(4)]}
        parquet.write_table(pa.table(rows), place / f"train-{number}.parquet")
    (place / "README.md").write_text("Text.")
    return folder
