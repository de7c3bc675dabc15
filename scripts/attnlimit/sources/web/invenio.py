"""Drafts on a server of InvenioRDM, such as Zenodo. The only file that speaks the Records API.

Nothing here publishes. A file goes in three steps (announced, sent, committed) and cannot be continued in the middle:
what a break leaves behind is removed and sent again.
"""

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote, urlsplit

import requests

from attnlimit.base.log import bar
from attnlimit.sources.web.retry import (
    PAUSES,
    PIECE,
    SECONDS_WITHOUT_ANSWER,
    TransientError,
    raise_if_transient,
    retry,
    transient_errors,
)

SECONDS_TO_STORE = 1800  # a server may answer only when a large file has reached its last disk
HERE = ("localhost", "127.0.0.1", "::1")
# The first is the API's own shape, which Zenodo gives only on request; not every address knows it.
ACCEPT = "application/vnd.inveniordm.v1+json, application/json;q=0.9"
AGAIN = "run again, to resume where it stopped"


class Server:
    """A server and the right to write there. The token is sent to this server only, and shown nowhere."""

    def __init__(self, url: str, token: str, agent: str, pauses: tuple[float, ...] = PAUSES):
        self.url, self.pauses = require_safe(url), pauses
        self._token = require_token(token, self.url)
        self._headers = {"Accept": ACCEPT, "User-Agent": agent}  # Zenodo slows down clients without a name

    def create(self, record: dict) -> tuple[str, str]:
        """Make a draft: its id, and what the server finds wrong with the record, or "".

        Should the answer get lost, another try makes another draft: an empty one stays behind.
        """
        answer = self._retry(partial(self._ask, "POST", json=record), self.url)
        draft = str(answer.get("id", ""))
        if not re.fullmatch(r"[\w-]+", draft):
            raise ValueError(f"{self.url}: the answer names no draft; check that ZENODO_URL is a server of InvenioRDM")
        return draft, self._words({"errors": answer.get("errors")})

    def is_open(self, draft: str) -> bool:
        """Whether there is such a draft, of a record that is not published yet."""
        try:
            answer = self._retry(partial(self._ask, "GET", f"/{draft}/draft"), self.url)
        except LookupError:
            return False
        return not answer.get("is_published")

    def send(self, draft: str, path: Path) -> bool:
        """Bring a file into a draft; whether it had to be sent. A file that is there, whole and the same, stays."""
        return self._retry(partial(self._send, draft, path, checksum(path)), path.name)

    def _send(self, draft: str, path: Path, md5: str) -> bool:
        files, key = f"/{draft}/draft/files", path.name
        file = f"{files}/{quote(key, safe='')}"
        there = [entry for entry in self._ask("GET", files).get("entries", []) if entry.get("key") == key]
        if there and is_whole(there[0], path, md5):
            return False
        if there:
            self._ask("DELETE", file)
        self._ask("POST", files, json=[{"key": key}])
        with path.open("rb") as stream:
            headers = {"Content-Type": "application/octet-stream"}
            self._ask("PUT", f"{file}/content", SECONDS_TO_STORE, headers, data=Body(stream, key))
        try:
            entry = self._retry(partial(self._ask, "POST", f"{file}/commit", SECONDS_TO_STORE), key)
        except LookupError as error:  # the server took the bytes and lost them
            raise TransientError("the server does not have what was sent") from error
        if not is_whole(entry, path, md5):
            self._ask("DELETE", file)
            raise ValueError(
                f"{path}: {md5}, {path.stat().st_size} bytes, but the server has {entry.get('checksum')}, "
                f"{entry.get('size')} bytes; removed there: {AGAIN}"
            )
        return True

    def _retry(self, action: Callable, what: str):
        return retry(action, what, AGAIN, self.pauses)

    def _ask(
        self, method: str, path: str = "", seconds: float = SECONDS_WITHOUT_ANSWER, headers: dict | None = None, **body
    ) -> dict:
        """The answer to one request, or an error in one line. A redirect is not followed: the token stays here."""
        url = f"{self.url}/api/records{path}"
        try:
            with transient_errors(url, seconds):
                answer = requests.request(
                    method,
                    url,
                    headers=self._headers | (headers or {}),
                    auth=self._sign,
                    allow_redirects=False,
                    timeout=(SECONDS_WITHOUT_ANSWER, seconds),
                    **body,
                )
        except requests.RequestException as error:
            raise ValueError(f"{url}: {error}; check ZENODO_URL") from error
        raise_if_transient(answer)
        return self._content(answer, url)

    def _sign(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["Authorization"] = f"Bearer {self._token}"
        return request

    def _content(self, answer: requests.Response, url: str) -> dict:
        try:
            content = answer.json() if answer.content else {}
        except requests.JSONDecodeError:
            content = None
        status = answer.status_code
        said = f"the server answers {status} {self._words(content) or answer.reason}"
        match status:
            case 401 | 403:
                raise PermissionError(
                    f"{self.url}: the token in ZENODO_TOKEN is refused: {said}; it must be of this server (the sandbox "
                    "has its own), with the scope deposit:write, and of the account that made the draft: "
                    f"{self.url}/account/settings/applications"
                )
            case 404 | 410:
                raise LookupError(f"{url}: {said}; check ZENODO_URL")
            case _ if status >= 400:
                raise ValueError(f"{url}: {said}")
            case _ if status >= 300:
                place = urlsplit(answer.headers.get("Location", "")).netloc
                raise ValueError(
                    f"{url}: the server redirects to {place}; the token is not sent there; check ZENODO_URL"
                )
        if not isinstance(content, dict):
            raise ValueError(f"{url}: no answer of the Records API; check ZENODO_URL")
        return content

    def _words(self, content: object) -> str:
        """What the server says, in one line that shows no token."""
        content = content if isinstance(content, dict) else {}
        errors = json.dumps(content["errors"], ensure_ascii=False) if content.get("errors") else ""
        words = f"{content.get('message') or ''} {errors}".replace(self._token, "…")
        return "".join(letter if letter.isprintable() else " " for letter in words).strip()[:1000]


class Body:
    """A file to upload in pieces, with a known length: some servers refuse a body without one."""

    def __init__(self, stream: BinaryIO, name: str):
        self.stream, self.name, self.size = stream, name, os.fstat(stream.fileno()).st_size

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[bytes]:
        pieces = iter(partial(self.stream.read, PIECE), b"")
        return bar(pieces, self.size, unit="B", name=self.name, done=self.stream.tell)


def checksum(path: Path) -> str:
    """The md5 of a file, as the API writes it."""
    with path.open("rb") as stream:
        return f"md5:{hashlib.file_digest(stream, partial(hashlib.md5, usedforsecurity=False)).hexdigest()}"


def is_whole(entry: dict, path: Path, md5: str) -> bool:
    """Whether the server lists a file as committed, with the size and the md5 it has here."""
    listed = entry.get("status"), entry.get("size"), entry.get("checksum")
    return listed == ("completed", path.stat().st_size, md5)


def require_safe(url: str) -> str:
    """The address of a server, fit to be sent a token: over TLS, unless it is this machine."""
    parts = urlsplit(url)
    if not parts.hostname or not (parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in HERE)):
        raise ValueError(
            f"ZENODO_URL: {parts.scheme}://{parts.hostname} is not an https address; https://zenodo.org is one"
        )
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError(f"ZENODO_URL: only the address of {parts.hostname}, without a name, a password or a query")
    return url.rstrip("/")


def require_token(token: str, url: str) -> str:
    if not token:
        raise ValueError(f"ZENODO_TOKEN is not set; make a token at {url}/account/settings/applications")
    if not re.fullmatch(r"[!-~]+", token):
        raise ValueError("ZENODO_TOKEN has a space, a line's end or a letter that no token has; copy it again")
    return token
