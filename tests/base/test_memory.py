"""Running out of memory is told as such, with the file that was read; content that asks for too much is damage."""

import errno
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from attnlimit.base import store
from attnlimit.base.files import memory_error
from attnlimit.base.store import opened, read
from support.stores import write

SCRIPTS = Path(store.__file__).parents[2]
READ_WITH_LITTLE = """
import resource, sys
from attnlimit.base.log import one_line_errors
from attnlimit.base.store import read
read(sys.argv[1])  # all that is imported late, and the threads
pages = int(open("/proc/self/statm").read().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + 2**25,) * 2)
with one_line_errors():
    read(sys.argv[2])
"""


def test_a_store_too_large_for_the_memory_is_not_called_damaged(tmp_path):
    """128 MiB of zeros, a small file, read by a process that may have 32 MiB more."""
    small, large = tmp_path / "small.zarr.zip", tmp_path / "large.zarr.zip"
    write(xr.Dataset({"one": 1.0}), small)
    write(xr.Dataset({"zeros": ("token", np.zeros(2**24))}), large)
    command = [sys.executable, "-c", READ_WITH_LITTLE, small, large]
    job = subprocess.run(command, env={"PYTHONPATH": str(SCRIPTS)}, capture_output=True, text=True, check=False)
    assert job.returncode == 1
    assert job.stderr.startswith(f"MemoryError: {large}: not enough memory to read it; give the job more")
    assert len(job.stderr.splitlines()) == 1
    assert read(large)["zeros"].sum() == 0


@pytest.mark.parametrize("error", [ValueError("mine"), LookupError("mine"), TypeError("mine"), MemoryError("mine")])
def test_an_error_of_the_reader_is_not_the_stores(tmp_path, error):
    write(xr.Dataset({"one": 1.0}), tmp_path / "a.zarr.zip")
    with pytest.raises(type(error)) as caught, opened(tmp_path / "a.zarr.zip"):
        raise error
    assert caught.value is error


def claim(path: Path, shape: int, chunk: int) -> None:
    """Let the metadata of `tokens` speak of another size."""
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    facts = json.loads(entries["tokens/zarr.json"])
    facts["shape"], facts["chunk_grid"]["configuration"]["chunk_shape"] = [shape], [chunk]
    entries["tokens/zarr.json"] = json.dumps(facts).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in entries.items():
            archive.writestr(name, content)


@pytest.mark.parametrize(("shape", "chunk"), [(2**50, 2**50), (2**50, 3), (2**30, 2**30)])
def test_a_store_that_claims_more_than_its_file_can_hold_is_damaged(tmp_path, shape, chunk):
    path = tmp_path / "a.zarr.zip"
    write(xr.Dataset({"tokens": ("token", np.arange(3.0))}), path)
    claim(path, shape, chunk)
    with pytest.raises(ValueError, match=r"a\.zarr\.zip: damaged store \(.*(too small|more chunks).*delete it"):
        read(path)


def test_an_entry_that_claims_more_bytes_than_the_file_is_damage(tmp_path):
    """In the zip's table of contents, which no checksum covers: its entry's size at offset 24, packed at 20."""
    path = tmp_path / "a.zarr.zip"
    write(xr.Dataset({"tokens": ("token", np.arange(3.0))}), path)
    content = bytearray(path.read_bytes())
    place = content.index(b"PK\x01\x02")
    content[place + 20 : place + 28] = (2**31 - 1).to_bytes(4, "little") * 2
    path.write_bytes(content)
    with pytest.raises(ValueError, match="damaged store .*claims more bytes"):
        read(path)


def test_what_is_asked_tells_a_full_memory_from_damage(tmp_path):
    """One request of more than the file can hold unpacked, 2^15 times its size, is not the machine's fault."""
    path = tmp_path / "a"
    path.write_bytes(bytes(10))
    assert "not enough memory" in str(memory_error(path, MemoryError()))
    assert "not enough memory" in str(memory_error(path, MemoryError(f"malloc of size {10 * 2**15} failed")))
    assert memory_error(path, MemoryError(f"malloc of size {10 * 2**15 + 1} failed")) is None
    assert "not enough memory" in str(memory_error(path, OSError(errno.ENOMEM, "Cannot allocate memory")))
    assert memory_error(path, OSError(errno.EIO, "Input/output error")) is None
    assert memory_error(path, ValueError("no zip")) is None
