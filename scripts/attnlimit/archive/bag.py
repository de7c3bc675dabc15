"""A folder as one file that anyone can check: a BagIt bag in a tar of fixed order and dates, packed with zstd."""

import logging
import os
import re
import shutil
import tarfile
import tempfile
from pathlib import Path, PurePosixPath
from typing import BinaryIO

import bagit
import zstandard

from attnlimit.base.files import atomic, sha256_of

COMPRESSION = 3  # stores are compressed already
PIECE = 4096  # bytes of the packed file; at most 128 MB come out of one
PLAIN = re.compile(r"([\w.-]{1,200}/)*[\w.-]{1,200}", re.ASCII)  # names that every disk and every format can hold
TAG_MANIFEST = "tagmanifest-sha256.txt"
AGAIN = "download the archive again"
REPACKED = "if another program repacked it, use the archive that `make archive` wrote"
logging.getLogger("bagit").setLevel(logging.CRITICAL)  # our error says what it finds


def pack(folder: Path, path: Path, info: dict[str, str]) -> None:
    """Make the folder a bag and write it to one file: the same files and info give the same bytes."""
    bagit.make_bag(folder, info, checksums=["sha256"])
    with atomic(path) as temporary, tempfile.TemporaryFile(dir=path.parent) as plain:
        with tarfile.open(fileobj=plain, mode="w", format=tarfile.PAX_FORMAT) as archive:
            for name in files_below(folder):
                with (folder / name).open("rb") as stream:
                    archive.addfile(entry(folder / name, f"{name_of(path)}/{name}"), stream)
        size = plain.tell()
        plain.seek(0)
        with temporary.open("wb") as stream:  # the size goes into the head of the file: a reader knows what to expect
            zstandard.ZstdCompressor(level=COMPRESSION, write_checksum=True).copy_stream(plain, stream, size=size)


def name_of(path: Path) -> str:
    """The folder inside an archive: its name without suffixes."""
    return path.name.split(".")[0]


def files_below(folder: Path) -> list[str]:
    """Names of all files, relative to the folder, in order."""
    return sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file())


def entry(file: Path, name: str) -> tarfile.TarInfo:
    """A regular file, owner and mtime cleared; its mode by its content: not every disk keeps modes."""
    made = tarfile.TarInfo(name)
    with file.open("rb") as stream:
        made.mode = 0o755 if stream.read(2) == b"#!" else 0o644
    made.size = file.stat().st_size
    return made


def unpack(path: Path, folder: Path) -> Path:
    """Unpack an archive into an empty folder and return the bag; nothing is written outside of that folder."""
    with tempfile.TemporaryFile(dir=folder) as plain:
        _decompress(path, plain, folder)
        with _opened(plain, path) as archive:
            for member in archive.getmembers():
                _require_plain(member, path, folder)
                archive.extract(member, folder, filter="data")
    bags = sorted(folder.iterdir())
    if len(bags) != 1 or not bags[0].is_dir():
        raise ValueError(f"{path}: holds {len(bags)} entries at its top level, not one folder; {REPACKED}")
    return bags[0]


def _opened(plain: BinaryIO, path: Path) -> tarfile.TarFile:
    """A tar all of whose heads could be read."""
    try:
        archive = tarfile.TarFile(fileobj=plain)
        archive.getmembers()
    except (tarfile.TarError, ValueError, OverflowError) as error:
        raise ValueError(f"{path}: damaged ({error}); {AGAIN}") from error
    return archive


def _decompress(path: Path, plain: BinaryIO, folder: Path) -> None:
    try:
        with path.open("rb") as stream:
            size = zstandard.get_frame_parameters(stream.read(18)).content_size
            free = shutil.disk_usage(folder).free
            if size == zstandard.CONTENTSIZE_UNKNOWN:
                raise ValueError(f"{path}: does not say how large it is unpacked; {REPACKED}")
            if 2 * size > free:  # the tar, and the files out of it
                raise OSError(f"{path}: needs {2 * size:,} bytes, {folder} has {free:,}; set TMPDIR or TO elsewhere")
            stream.seek(0)
            frame = zstandard.ZstdDecompressor().decompressobj()
            while not frame.eof and (piece := stream.read(PIECE)):
                plain.write(frame.decompress(piece))
                if plain.tell() > size:
                    raise ValueError(f"{path}: holds more than the {size:,} bytes it says; do not trust this archive")
            if not frame.eof:
                raise ValueError(f"{path}: truncated, its end is missing; {AGAIN}")
            if frame.unused_data or stream.read(1):
                raise ValueError(f"{path}: data after the end of the archive; {AGAIN}; {REPACKED}")
    except zstandard.ZstdError as error:
        raise ValueError(f"{path}: damaged, or no zstd file ({error}); {AGAIN}; {REPACKED}") from error
    plain.seek(0)


def _require_plain(member: tarfile.TarInfo, path: Path, folder: Path) -> None:
    """Only regular files, each once, with plain names below the folder: we write nothing else."""
    name = PurePosixPath(member.name)
    if name.is_absolute() or ".." in name.parts:
        raise ValueError(f"{path}: {member.name!r} leads out of the folder; do not trust this archive")
    if member.isdir() or f"./{name}" == member.name:  # as tar writes what it found in a folder
        raise ValueError(f"{path}: {member.name!r:.200} is not an entry of an attnlimit archive; {REPACKED}")
    if str(name) != member.name or not PLAIN.fullmatch(member.name):
        raise ValueError(
            f"{path}: {member.name!r:.200} is not a name in an attnlimit archive; do not trust this archive"
        )
    if member.type not in (tarfile.REGTYPE, tarfile.AREGTYPE) or member.issparse():
        target = f" to {member.linkname!r}" if member.linkname else ""
        raise ValueError(f"{path}: {member.name!r} is not a regular file but a link or device{target}; do not trust it")
    if os.path.lexists(folder / name) or any((folder / above).is_file() for above in name.parents):
        raise ValueError(f"{path}: {member.name!r} is there twice; do not trust this archive")


def require_whole(folder: Path, path: Path) -> None:
    """Raise at the first file of the bag that is missing, extra or altered, by name."""
    try:
        bag = bagit.Bag(str(folder))
        present, listed = set(files_below(folder)), {*bag.entries, TAG_MANIFEST}
        for name in sorted(present ^ listed):
            raise ValueError(f"{path}: {name} {'is not in the manifest' if name in present else 'is missing'}; {AGAIN}")
        for name, checksums in sorted(bag.entries.items()):
            if checksums.get("sha256") != sha256_of(folder / name):
                raise ValueError(f"{path}: {name} is not what its sha256 in the manifest says; {AGAIN}")
        bag.validate(fast=True)  # what else the format asks for
    except (bagit.BagError, UnicodeError) as error:
        why = str(error).replace(f"{folder}{os.sep}", "")
        raise ValueError(f"{path}: not a BagIt bag ({why}); {AGAIN}") from error
