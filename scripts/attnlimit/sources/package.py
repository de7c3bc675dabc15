"""A file of the package index, a wheel or an sdist: which one is meant, and its members as streams.

It is only ever read as an archive: nothing of it is installed, imported or run, and nothing is written by names that it
holds. Standard library only: the host that plans the jobs may have nothing else.
"""

import errno
import io
import re
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from gzip import BadGzipFile, GzipFile
from pathlib import Path, PurePosixPath
from typing import IO, NamedTuple

from attnlimit.base.files import disk_error

WHEEL, SDIST = ".whl", ".tar.gz"
NAME = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"
VERSION = r"[0-9][A-Za-z0-9.!+_-]*"
MOST_MEMBERS = 200_000  # the largest packages have some 30,000
LARGEST = 2_000_000_000  # bytes that an sdist may unpack to while it is looked through
LISTED = 5  # members that a refusal names
PIECE = 1 << 16
PLAIN, ENCRYPTED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED), 1
DAMAGE = (zipfile.BadZipFile, tarfile.TarError, EOFError, zlib.error, NotImplementedError)


class Package(NamedTuple):
    """A file of the package index."""

    name: str
    version: str
    file: str
    sha256: str

    @property
    def pinned(self) -> str:
        return f"{self.name}=={self.version}"


def package_of(section: dict) -> Package:
    """What a section fetch_… with the source package asks for."""
    name, _, version = section["location"].partition("==")
    return Package(name, version, section["file"], section["sha256"])


def fault_of(section: dict) -> tuple[str, str] | None:
    """The key of a section that names no file of the package index, and why; None if all is well."""
    location, file = section["location"], section["file"]
    if not re.fullmatch(f"{NAME}=={VERSION}", location):
        return "location", f"{location!r:.100} is not of the form name==version, with one exact version"
    if not re.fullmatch(r"[\w.!+-]+", file) or not file.endswith((WHEEL, SDIST)):
        return "file", f"{file!r:.100} is not the name of a wheel ({WHEEL}) or an sdist ({SDIST})"
    wanted, parts = package_of(section), file.removesuffix(SDIST).removesuffix(WHEEL).split("-")
    name, version = (parts[0], parts[1:2]) if file.endswith(WHEEL) else ("-".join(parts[:-1]), parts[-1:])
    if normal(name) != normal(wanted.name) or version != [wanted.version.replace("-", "_")]:
        return "file", f"{file!r:.100} is not of {location}; both must name the same package and version"
    return None


def normal(name: str) -> str:
    """A package's name as the index spells it."""
    return re.sub(r"[-_.]+", "-", name).lower()


class Budget:
    """Bytes that may still be unpacked, and the key of the config that says how many."""

    def __init__(self, most: int, remedy: str):
        self.most, self.left, self.remedy = most, most, remedy

    def spend(self, count: int) -> None:
        self.left -= count
        if self.left < 0:
            raise ValueError(f"over {self.most} bytes unpacked; {self.remedy}")


class Counted(io.RawIOBase):
    """A stream whose bytes are counted as they come, so that no bomb unpacks."""

    def __init__(self, stream: IO[bytes] | GzipFile, budget: Budget):
        super().__init__()
        self.stream, self.budget = stream, budget

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:  # noqa: ANN001  # any writable buffer
        piece = self.stream.read(min(len(buffer), PIECE))
        self.budget.spend(len(piece))
        buffer[: len(piece)] = piece
        return len(piece)


class Member(NamedTuple):
    """What an archive says of one of its members; why it is refused, or ""."""

    name: str
    is_file: bool
    fault: str


def members(path: Path, pattern: str, budget: Budget, key: str) -> Iterator[tuple[str, IO[bytes]]]:
    """Members that match a pattern, in the order of the archive, each as a stream to be read before the next.

    The whole archive is refused if any member is unsafe. `key` of the config holds the pattern.
    """
    found = require_safe(listed(path), path)
    names = [name for name in found if fnmatchcase(name, pattern)]
    if not names:
        some = ", ".join(sorted(found)[:LISTED])
        raise LookupError(f"{key}: no member of {path.name} matches {pattern}; it has {some}, …")
    yield from (in_wheel if path.name.endswith(WHEEL) else in_sdist)(path, set(names), budget)


def in_wheel(path: Path, names: set[str], budget: Budget) -> Iterator[tuple[str, IO[bytes]]]:
    with zipfile.ZipFile(path) as archive:
        for name in filter(names.__contains__, archive.namelist()):
            with archive.open(name) as stream:
                yield name, io.BufferedReader(Counted(stream, budget))


def in_sdist(path: Path, names: set[str], budget: Budget) -> Iterator[tuple[str, IO[bytes]]]:
    with tarfile.open(path, "r|gz") as archive:
        for entry in archive:
            stream = archive.extractfile(entry) if entry.name in names else None
            if stream is not None:
                yield entry.name, io.BufferedReader(Counted(stream, budget))


def listed(path: Path) -> Iterator[Member]:
    """All members of an archive, without reading what is in them."""
    if path.name.endswith(WHEEL):
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                kind = stat.S_IFMT(info.external_attr >> 16)
                odd = kind not in (0, stat.S_IFREG, stat.S_IFDIR)
                plain = info.compress_type in PLAIN and not info.flag_bits & ENCRYPTED
                fault = "is a link or a device" if odd else "" if plain else "uses an unsupported compression"
                yield Member(info.filename, not info.is_dir(), fault)
        return
    with tarfile.open(path, "r|gz") as archive:
        for entry in archive:
            if entry.offset_data + entry.size > LARGEST:
                raise ValueError(f"over {LARGEST} bytes unpacked; take another file of the package")
            odd = not (entry.isreg() or entry.isdir())
            yield Member(entry.name, entry.isreg(), "is a link or a device" if odd else "")


def require_safe(found: Iterator[Member], path: Path) -> list[str]:
    """The names of all files of an archive; refused if any member is more than a file or folder below its top."""
    names: dict[str, None] = {}
    for number, (name, is_file, fault) in enumerate(found):
        odd = PurePosixPath(name).is_absolute() or ".." in name.split("/") or "\\" in name or "\0" in name
        why = fault or ("leads out of the archive" if odd else "is there twice" if name in names else "")
        why = why or (f"exceeds the limit of {MOST_MEMBERS:,} members" if number >= MOST_MEMBERS else "")
        if why:
            raise ValueError(f"{path}: refused: member {name!r:.100} {why}; take another file of the package")
        if is_file:
            names[name] = None
    return list(names)


@contextmanager
def naming_damage(path: Path) -> Iterator[None]:
    """Around what reads members: name the archive in what is wrong with it, or with the disk."""
    try:
        yield
    except (*DAMAGE, OSError) as error:
        if isinstance(error, OSError) and not isinstance(error, BadGzipFile) and error.errno != errno.EINVAL:
            raise disk_error(path, error) or error from None  # of the disk, or named already
        why = " ".join(str(error).split())[:200]
        raise ValueError(f"{path}: damaged archive ({why}); delete it and run again") from error
