"""Packages made for one test, and an index on this machine that serves them."""

import gzip
import hashlib
import io
import json
import tarfile
import zipfile
from http.server import BaseHTTPRequestHandler
from pathlib import Path

from support.faulty import FaultyServer

SETUP = "raise SystemExit('the code of a package was run')\n"


def wheel(files: dict[str, bytes], name: str = "tiny_texts", version: str = "1.0") -> tuple[str, bytes]:
    """A wheel that pip takes, with these files; its name and its bytes."""
    info = f"{name}-{version}.dist-info"
    metadata = {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nRequires-Dist: not-there\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: a test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": "",
        f"{name}/__init__.py": SETUP,
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in (files | metadata).items():
            archive.writestr(zipfile.ZipInfo(path), content, zipfile.ZIP_DEFLATED)
    return f"{name}-{version}-py3-none-any.whl", packed.getvalue()


def entry(name: str, content: bytes = b"", kind: bytes = tarfile.REGTYPE, link: str = "") -> tuple:
    """A member of an sdist, of any kind."""
    member = tarfile.TarInfo(name)
    member.size, member.type, member.linkname = len(content), kind, link
    return member, io.BytesIO(content)


def sdist(*entries: tuple, name: str = "tiny_texts", version: str = "1.0") -> tuple[str, bytes]:
    """An sdist with these members and a setup.py that must not run; its name and its bytes."""
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", mtime=0) as stream, tarfile.open(fileobj=stream, mode="w") as archive:
        for member in (entry(f"{name}-{version}/setup.py", SETUP.encode()), *entries):
            archive.addfile(*member)
    return f"{name}-{version}.tar.gz", packed.getvalue()


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def write(folder: Path, made: tuple[str, bytes]) -> Path:
    """A package as a file."""
    path = folder / made[0]
    path.write_bytes(made[1])
    return path


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):  # noqa: N802
        server = self.server
        server.asked.append(self.path)
        if server.status != 200:
            return self.send_error(server.status)
        last = self.path.rstrip("/").rpartition("/")[2]
        if self.path.startswith("/simple/") and server.json:
            files = [{"filename": name, "url": f"../../files/{name}"} for name in server.files]
            return self.answer(json.dumps({"files": files}).encode(), "application/vnd.pypi.simple.v1+json")
        if self.path.startswith("/simple/"):
            links = "".join(f'<a href="/files/{name}">{name}</a>\n' for name in server.files)
            return self.answer(f"<!DOCTYPE html><html><body>{links}</body></html>".encode(), "text/html")
        return self.answer(server.files[last], "application/octet-stream")

    def answer(self, body: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Index(FaultyServer):
    """A simple index of one package's files; `status`: of every answer."""

    def __init__(self, *made: tuple[str, bytes]):
        super().__init__(Handler)
        self.files, self.status, self.json = dict(made), 200, False
        self.url = f"{self.endpoint}/simple"
