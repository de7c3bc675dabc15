"""Archives taken apart and put together again, without the library."""

import io
import tarfile
from pathlib import Path

import zstandard

from attnlimit.archive.bundle import TIMES
from attnlimit.archive.crate import METADATA

# Files of an archive by which two runs may differ: they have the times of jobs, or size and sha256 of those.
TIMED = (f"data/{METADATA}", f"data/{TIMES}", "bag-info.txt", "manifest-sha256.txt", "tagmanifest-sha256.txt")


def entries(path: Path) -> dict[str, bytes]:
    plain = zstandard.ZstdDecompressor().decompress(path.read_bytes())
    with tarfile.open(fileobj=io.BytesIO(plain)) as tar:
        return {entry.name: tar.extractfile(entry).read() for entry in tar}


def rewrite(path: Path, contents: dict[str, bytes], *others: tarfile.TarInfo) -> None:
    """A sound tar and zstd file of these contents, and of other entries without any."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w") as tar:
        for name, content in contents.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
        for entry in others:
            tar.addfile(entry)
    path.write_bytes(zstandard.ZstdCompressor(write_checksum=True).compress(plain.getvalue()))
