"""Checksums, and files that appear whole or not at all."""

import hashlib
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def sha256_of(path: str | Path) -> str:
    """Hexadecimal sha256 of a file, read in pieces."""
    with Path(path).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def verify_sha256(path: str | Path, expected: str, name: str | Path | None = None) -> None:
    """Raise unless the file's sha256 is `expected`; the message calls it `name` if it has a temporary one."""
    found = sha256_of(path)
    if found != expected.lower():
        raise ValueError(
            f"{name or path}: sha256 is {found}, expected {expected.lower()}; "
            "delete the file and fetch it again, or put the sha256 of the version you mean in the config"
        )


@contextmanager
def atomic(path: str | Path) -> Iterator[Path]:
    """Yield a free name beside `path`; what is written there becomes `path` if the block ends well.

    The temporary name keeps the suffix, because writers choose a format by it. On failure it is
    removed, and an older file at `path` stays as it was.
    """
    path = Path(path)
    part = path.with_name(f".{uuid.uuid4().hex[:12]}.{path.name}")
    try:
        yield part
        _flush(part)
        part.replace(path)
        _flush(path.parent)  # the rename itself must survive a power cut
    finally:
        part.unlink(missing_ok=True)


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
