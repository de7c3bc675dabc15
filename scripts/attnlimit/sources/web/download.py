"""Files from the web: resumed after an interruption, and checked before they get their name."""

import os
import time
from pathlib import Path

import requests

from attnlimit.base.files import naming_disk_errors, private, sha256_of
from attnlimit.base.log import bar, logger
from attnlimit.sources.web.retry import (
    PAUSES,
    PIECE,
    SECONDS_WITHOUT_ANSWER,
    TransientError,
    raise_if_transient,
    transient_errors,
)

RANGE_BEYOND_END = 416
ELSEWHERE = "or download it elsewhere and put the path of the file in fetch_corpus.location"


def download(
    url: str,
    path: Path,
    sha256: str,
    pauses: tuple[float, ...] = PAUSES,
    section: str = "fetch_corpus",
    elsewhere: str = ELSEWHERE,
) -> None:
    """Download a file to `path`, unless it is there; a file at `path` always has the given sha256.

    `section` of the config names it; `elsewhere` says what to do without this server.

    Bytes are collected in a .part file that survives a failure. Its name holds the sha256: it is resumed for the same
    file only, and the check at the end finds a file that changed on the server. Retries are counted anew whenever bytes
    have arrived.
    """
    if path.is_file() and sha256_of(path) == sha256:
        return
    part = path.with_name(f"{path.name}.{sha256[:12]}.part")
    with naming_disk_errors(part):
        private(path.parent)
        part.touch()
    waits, longest = list(pauses), part.stat().st_size
    while failure := _fetch_rest(url, part, section, elsewhere):
        size = part.stat().st_size
        if size > longest:
            waits, longest = list(pauses), size
        if not waits:
            raise ConnectionError(f"{url}: {failure}; run again, to resume at byte {size}, {elsewhere}")
        logger.warning("%s: %s at byte %d; next try in %g s", url, failure, size, waits[0])
        time.sleep(waits.pop(0))
    arrived = sha256_of(part)
    if arrived != sha256:
        part.unlink()
        raise ValueError(
            f"{url}: sha256 is {arrived}, {section}.sha256 is {sha256}; the download is deleted: "
            "run again, or put the sha256 of the version you mean in the config"
        )
    part.replace(path)


def _fetch_rest(url: str, part: Path, section: str, elsewhere: str) -> str:
    """Add what is missing to the part. Return "" at the end of the file, else the transient failure."""
    have = part.stat().st_size
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={have}-"} if have else {})
    try:
        with (
            transient_errors(url),
            requests.get(url, headers=headers, stream=True, timeout=SECONDS_WITHOUT_ANSWER) as answer,
        ):
            raise_if_transient(answer)
            status = answer.status_code
            if have and status == RANGE_BEYOND_END:
                return ""  # all is here, or too much: the sha256 decides
            if not answer.ok:
                raise FileNotFoundError(
                    f"{url}: the server answers {status} {answer.reason}; check {section}.location, {elsewhere}"
                )
            if status == requests.codes.partial and not answer.headers.get("Content-Range", "").startswith(
                f"bytes {have}-"
            ):
                part.write_bytes(b"")
                return "the server sent another range than was asked for"
            _append(answer, part, "ab" if status == requests.codes.partial else "wb")
    except TransientError as failure:
        return str(failure)
    except requests.RequestException as error:
        raise ValueError(f"{url}: {error}; check {section}.location") from error
    return ""


def _append(answer: requests.Response, part: Path, mode: str) -> None:
    with naming_disk_errors(part), part.open(mode) as stream:
        length = int(answer.headers.get("Content-Length", 0))
        total = stream.tell() + length if length else 0
        for piece in bar(answer.iter_content(PIECE), total, unit="B", name="download", done=stream.tell):
            stream.write(piece)
        stream.flush()
        os.fsync(stream.fileno())
