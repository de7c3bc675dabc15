"""Checksums, and files that appear whole or not at all."""

import errno
import glob
import hashlib
import os
import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

KEPT = "then run again: what is finished is kept"
REFUSALS = {  # of a disk: what to do about it
    errno.ENOSPC: f"free some space, {KEPT}",
    errno.EDQUOT: f"free some of your quota, {KEPT}",
    errno.EFBIG: f"raise the limit on the size of a file, {KEPT}",
    errno.EROFS: f"make the folder writable, {KEPT}",
    errno.EACCES: f"make the folder writable, {KEPT}",
    errno.EPERM: f"make the folder writable, {KEPT}",
}
PACKED = 2**15  # bytes in one, at most: zstd packs 128 KiB into no fewer than 4
ALLOCATION = re.compile(r"(?:tried to allocate|unable to mmap|alloc of size) (\d+)")  # bytes not got: torch, pyarrow


def sha256_of(path: str | Path) -> str:
    """Hexadecimal sha256 of a file, read in pieces."""
    with Path(path).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def verify_sha256(path: str | Path, expected: str, name: str | Path | None = None) -> None:
    """Raise unless the file's sha256 is `expected`; the message calls it `name` if it has a temporary one."""
    actual = sha256_of(path)
    if actual != expected.lower():
        raise ValueError(
            f"{name or path}: sha256 is {actual}, expected {expected.lower()}; "
            "delete the file and fetch it again, or put the sha256 of the version you mean in the config"
        )


@contextmanager
def atomic(path: str | Path) -> Iterator[Path]:
    """Yield a free name beside `path`; what is written there becomes `path` if the block ends well.

    The temporary name keeps the suffix, because writers choose a format by it. On failure it is
    removed, and an older file at `path` stays as it was. A file has one writer at a time, so a temporary
    one found on entry was left by a writer that was killed, and goes.
    """
    path = Path(path)
    part = path.with_name(f".{uuid.uuid4().hex[:12]}.{path.name}")
    with naming_disk_errors(path):
        for left in path.parent.glob(f".{'[0-9a-f]' * 12}.{glob.escape(path.name)}"):
            left.unlink(missing_ok=True)
        try:
            yield part
            _flush(part)
            part.replace(path)
            _flush(path.parent)  # the rename itself must survive a power cut
        finally:
            part.unlink(missing_ok=True)


@contextmanager
def naming_disk_errors(path: str | Path) -> Iterator[None]:
    """Tell of a full or closed disk with the file that was to be written, which the error itself need not name."""
    try:
        yield
    except OSError as error:
        elsewhere = error.filename is not None and Path(error.filename).parent != Path(path).parent
        if error.errno not in REFUSALS or elsewhere:
            raise
        why = os.strerror(error.errno).lower()
        raise OSError(f"{path}: cannot be written ({why}); {REFUSALS[error.errno]}") from error


def require_writable(*folders: str | Path) -> None:
    """Raise at the first folder in which nothing can be written; one that is not there yet will be made."""
    for folder in filter(os.path.isdir, folders):
        if not os.access(folder, os.W_OK):
            raise PermissionError(f"{Path(folder).resolve()}: cannot be written; {REFUSALS[errno.EROFS]}")


def disk_error(path: str | Path, error: BaseException) -> OSError | None:
    """An error of the disk while reading, with the file named; None for one of the file's content.

    Libraries raise OSError for damaged content as well, but only those of the system have a number; and damaged
    content may send a reader to a place that no file has, which is EINVAL.
    """
    if not isinstance(error, OSError) or error.errno in (None, errno.EINVAL):
        return None
    return OSError(f"{path}: cannot be read ({os.strerror(error.errno).lower()}); see to the disk and run again")


def memory_error(path: str | Path, error: BaseException, packed: int = PACKED) -> MemoryError | None:
    """Running out of memory while reading, with the file named; None for an error of the file's content.

    Damaged content may ask for any memory: what one request alone has more bytes than the file can hold, `packed`
    times its size, is its content's fault.
    """
    asked = ALLOCATION.search(str(error))
    refused = isinstance(error, OSError) and error.errno == errno.ENOMEM
    if not (isinstance(error, MemoryError) or asked or refused):
        return None
    if asked and int(asked[1]) > packed * Path(path).stat().st_size:
        return None
    return MemoryError(
        f"{path}: not enough memory to read it; give the job more (--set-resources <rule>:mem_mb=…), "
        "or fewer tokens at a time"
    )


@contextmanager
def naming_damage(
    path: str | Path, what: str, errors: tuple[type[Exception], ...], remedy: str = "delete it and run again"
) -> Iterator[None]:
    """Around what reads a file, and only that: name it in what is wrong with its content, or with the machine.

    errors: what the reader makes of damaged bytes.
    """
    expected: tuple[type[Exception], ...] = (*errors, MemoryError)
    try:
        yield
    except expected as error:
        if named := memory_error(path, error) or disk_error(path, error):
            raise named from error
        raise ValueError(f"{path}: damaged {what} ({' '.join(str(error).split())[:200]}); {remedy}") from error


def private(folder: Path) -> None:
    """Make a folder that nobody else may read, unless it is there."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
