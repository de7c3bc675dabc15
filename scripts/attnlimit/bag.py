"""A folder as one file that anyone can check: a BagIt bag in a tar of fixed order and dates, packed with zstd."""

import logging
import os
import shutil
import tarfile
import tempfile
from pathlib import Path, PurePosixPath

import bagit
import zstandard

from attnlimit.files import atomic, sha256_of

LEVEL = 3  # stores are compressed already
PIECE = 4096  # bytes of the packed file; at most 128 MB come out of one
TAG_MANIFEST = "tagmanifest-sha256.txt"
AGAIN = "download the archive again"
logging.getLogger("bagit").setLevel(logging.CRITICAL)  # what it finds is told in our error


def pack(folder: Path, path: Path, info: dict[str, str]) -> None:
    """Make the folder a bag and write it to one file: the same files and info give the same bytes."""
    bagit.make_bag(folder, info, checksums=["sha256"])
    with atomic(path) as temporary, tempfile.TemporaryFile(dir=path.parent) as plain:
        with tarfile.open(fileobj=plain, mode="w", format=tarfile.PAX_FORMAT) as archive:
            for file in sorted(path for path in folder.rglob("*") if path.is_file()):
                with file.open("rb") as stream:
                    archive.addfile(entry(file, f"{name_of(path)}/{file.relative_to(folder).as_posix()}"), stream)
        size = plain.tell()
        plain.seek(0)
        with temporary.open("wb") as stream:  # the size goes into the head of the file: a reader knows what to expect
            zstandard.ZstdCompressor(level=LEVEL, write_checksum=True).copy_stream(plain, stream, size=size)


def name_of(path: Path) -> str:
    """The folder inside an archive: its name without suffixes."""
    return path.name.split(".")[0]


def entry(file: Path, name: str) -> tarfile.TarInfo:
    """A regular file of nobody in particular, without a date."""
    made, found = tarfile.TarInfo(name), file.stat()
    made.size, made.mode = found.st_size, 0o755 if found.st_mode & 0o100 else 0o644
    return made


def unpack(path: Path, folder: Path) -> Path:
    """Unpack an archive into an empty folder and return the bag; nothing is written outside of that folder."""
    with tempfile.TemporaryFile(dir=folder) as plain:
        _decompress(path, plain, folder)
        try:
            with tarfile.open(fileobj=plain, mode="r:") as archive:
                for found in archive:
                    _require_plain(found, path, folder)
                    archive.extract(found, folder, filter="data")
        except tarfile.TarError as error:
            raise ValueError(f"{path}: damaged ({error}); {AGAIN}") from error
    bags = sorted(folder.iterdir())
    if len(bags) != 1 or not bags[0].is_dir():
        raise ValueError(f"{path}: holds {len(bags)} things at its top, not one folder; it is none of our archives")
    return bags[0]


def _decompress(path: Path, plain, folder: Path) -> None:
    try:
        with path.open("rb") as stream:
            size = zstandard.get_frame_parameters(stream.read(18)).content_size
            free = shutil.disk_usage(folder).free
            if size == zstandard.CONTENTSIZE_UNKNOWN:
                raise ValueError(f"{path}: does not say how large it is unpacked; it is none of our archives")
            if 2 * size > free:  # the tar, and the files out of it
                raise OSError(f"{path}: needs {2 * size:,} bytes, {folder} has {free:,}; set TMPDIR or TO elsewhere")
            stream.seek(0)
            frame = zstandard.ZstdDecompressor().decompressobj()
            while not frame.eof and (piece := stream.read(PIECE)):
                plain.write(frame.decompress(piece))
            if not frame.eof:
                raise ValueError(f"{path}: truncated, its end is missing; {AGAIN}")
            if frame.unused_data or stream.read(1):
                raise ValueError(f"{path}: something follows the end of the archive; {AGAIN}")
    except zstandard.ZstdError as error:
        raise ValueError(f"{path}: damaged, or no zstd file ({error}); {AGAIN}") from error
    plain.seek(0)


def _require_plain(found: tarfile.TarInfo, path: Path, folder: Path) -> None:
    """Only regular files, each once, with plain names below the folder: we write nothing else."""
    name = PurePosixPath(found.name)
    if name.is_absolute() or ".." in name.parts or str(name) != found.name:
        raise ValueError(f"{path}: {found.name!r} leads out of the folder; do not trust this archive")
    if not found.isreg():
        target = f" to {found.linkname!r}" if found.linkname else ""
        raise ValueError(f"{path}: {found.name!r} is no regular file but a link or device{target}; do not trust it")
    if os.path.lexists(folder / name):
        raise ValueError(f"{path}: {found.name!r} is there twice; do not trust this archive")


def require_whole(folder: Path, path: Path) -> None:
    """Raise at the first file of the bag that is missing, extra or altered, by name."""
    try:
        bag = bagit.Bag(str(folder))
        present = {file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()}
        listed = {*bag.entries, TAG_MANIFEST}
        for name in sorted(present ^ listed):
            raise ValueError(f"{path}: {name} {'is not in the manifest' if name in present else 'is missing'}; {AGAIN}")
        for name, checksums in sorted(bag.entries.items()):
            if sha256_of(folder / name) != checksums["sha256"]:
                raise ValueError(f"{path}: {name} is not what its sha256 in the manifest says; {AGAIN}")
        bag.validate(fast=True)  # what else the format asks for
    except bagit.BagError as error:
        raise ValueError(f"{path}: no BagIt bag ({error}); {AGAIN}") from error
