"""Stores: one xarray dataset in one `.zarr.zip`, whole or absent. The only file that opens Zarr."""

import struct
import sys
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.metadata import version
from math import prod
from pathlib import Path

import numpy as np
import xarray as xr
import zarr
from zarr.abc.buffer import Buffer
from zarr.codecs import Crc32cCodec, ZstdCodec
from zarr.storage import MemoryStore, ZipStore

from attnlimit.base.files import PACKED, atomic, naming_damage
from attnlimit.base.words import Words, words_of

TEXT = np.dtypes.StringDType()
CHUNK_BYTES = 32 * 2**20
DAMAGE: tuple[type[Exception], ...] = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, LookupError, OSError)
DAMAGE += (ValueError, RuntimeError, TypeError, AttributeError, ArithmeticError)  # what Zarr makes of wrong metadata
VERSIONED = ("numpy", "scipy", "tokenizers", "torch", "transformers", "xarray", "zarr")


def write(dataset: xr.Dataset, path: str | Path, words: Words, **attrs) -> None:
    """Write a dataset to one zip file: the same numbers give the same bytes, a killed writer leaves nothing.

    words: those of the store, from the about.py that declares it.

    Zarr goes to memory first, then its sorted keys into an uncompressed zip with a fixed date: written straight
    to a zip, the order and the dates of its entries would change from run to run.
    """
    versions = {name: version(name) for name in VERSIONED if name in sys.modules}
    dataset = with_text_as(TEXT, dataset.drop_attrs()).assign_attrs(attrs | {"versions": versions})
    describe(dataset, path, words)
    entries: dict[str, Buffer] = {}
    dataset.to_zarr(
        MemoryStore(entries),
        zarr_format=3,
        consolidated=False,
        write_empty_chunks=True,
        encoding={str(name): encoding(array) for name, array in dataset.variables.items()},
    )
    with atomic(path) as temporary, zipfile.ZipFile(temporary, "w", zipfile.ZIP_STORED) as archive:
        for key in sorted(entries):
            archive.writestr(zipfile.ZipInfo(key, date_time=(1980, 1, 1, 0, 0, 0)), entries[key].to_bytes())


def describe(dataset: xr.Dataset, path: str | Path, words: Words) -> None:
    """Give every variable its long_name and, where there is one, its unit; refuse one without words of its own."""
    names: dict[str, str] = {}
    for name in map(str, dataset.variables):
        long_name, unit = words_of(name, words)
        if not long_name or names.setdefault(long_name, name) != name:
            fault = f"has the words of {names[long_name]}" if long_name else "has no words"
            raise LookupError(f"{path}: variable {name} {fault}; give it its own in the about.py that has this store")
        dataset[name].attrs.update({"long_name": long_name} | ({"units": unit} if unit else {}))


def handed_on(*datasets: xr.Dataset) -> Words:
    """The words that variables of stores came with: for labels that a step hands on, for parts that it joins."""
    said = [(str(name), array.attrs) for dataset in datasets for name, array in dataset.variables.items()]
    return {
        name: attrs["long_name"] + (f" [{attrs['units']}]" if "units" in attrs else "")
        for name, attrs in said
        if "long_name" in attrs
    }


def with_text_as(dtype: np.dtype | type, dataset: xr.Dataset) -> xr.Dataset:
    """Labels in another dtype: Zarr has a format for strings of any length, numpy and pandas prefer fixed ones."""
    texts = {
        name: (array.dims, np.array(array.values.tolist(), dtype=dtype), array.attrs)
        for name, array in dataset.coords.items()
        if array.dtype.kind in "UT"
    }
    return dataset.assign_coords(texts) if texts else dataset


def encoding(array: xr.Variable) -> dict:
    """Zstd, then a checksum of each chunk: without it a flipped byte would be read as a number."""
    return {"chunks": chunk_shape(array), "compressors": [ZstdCodec(level=1), Crc32cCodec()]}


def chunk_shape(array: xr.Variable) -> tuple[int, ...]:
    """Halve the leading dimensions until a chunk fits: one layer, or a run of tokens, is then read by itself."""
    shape = [max(1, size) for size in array.shape]
    for axis in range(len(shape)):
        while shape[axis] > 1 and prod(shape) * array.dtype.itemsize > CHUNK_BYTES:
            shape[axis] = (shape[axis] + 1) // 2
    return tuple(shape)


def read(path: str | Path, *names: str, **select) -> xr.Dataset:
    """Load a store, or only the named variables, or only the part at the given coordinates.

    It is refused if any of it is missing or what is loaded is damaged.
    """
    with opened(path) as dataset:
        require_labels(path, dataset, names, select)
        part = (dataset[list(names)] if names else dataset).sel(select)
        with naming_damage(path, "store", DAMAGE):
            return with_text_as(str, part.load())


def select(path: str | Path, dataset: xr.Dataset, name: str, **place) -> xr.DataArray:
    """One variable, or a part of it, of a store that is open; refused as in `read`."""
    require_labels(path, dataset, (name,), place)
    with naming_damage(path, "store", DAMAGE):
        return dataset[name].sel(place).load()


def read_attrs(path: str | Path) -> dict:
    """What a store says of itself, without its numbers."""
    with opened(path) as dataset:
        return dataset.attrs


@contextmanager
def opened(path: str | Path) -> Iterator[xr.Dataset]:
    """A store with all its entries, numbers still on disk. Only the opening is guarded: what the caller does is not."""
    if not Path(path).is_file():
        raise FileNotFoundError(f"{path}: no such store; run the rule that makes it")
    with ExitStack() as stack:
        with naming_damage(path, "store", DAMAGE):
            archive = stack.enter_context(zipfile.ZipFile(path))
            require_entries(archive.infolist(), Path(path).stat().st_size)
            store = stack.enter_context(ZipStore(path, mode="r"))
            require_complete(zarr.open_group(store, mode="r"), archive)
            dataset = xr.open_zarr(store, consolidated=False, chunks=None)
        yield dataset


def require_entries(entries: list[zipfile.ZipInfo], size: int) -> None:
    """An entry larger than the file could ask for any memory."""
    for entry in entries:
        if max(entry.compress_size, entry.file_size) > size:
            raise ValueError(f"entry {entry.filename} claims more bytes than the file has")


def require_complete(group: zarr.Group, archive: zipfile.ZipFile) -> None:
    """A chunk that is not there would read as fill values, a coordinate as positions: refuse, never fill.

    Nor may an array claim more than the file can hold: from there on, running out of memory is not the store's fault.
    """
    entries, expected = archive.namelist(), {"zarr.json"}
    for name, array in group.arrays():
        if prod(array.cdata_shape) > len(entries):
            raise ValueError(f"array {name} claims more chunks than the file has entries")
        keys = [f"{name}/{array.metadata.encode_chunk_key(place)}" for place in np.ndindex(array.cdata_shape)]
        expected |= {f"{name}/zarr.json", *keys}
        claimed = prod(array.chunks) * array.dtype.itemsize
        for key in set(keys) & set(entries):
            if claimed > PACKED * archive.getinfo(key).file_size:
                raise ValueError(f"entry {key} is too small for a chunk {array.chunks}")
    if sorted(entries) != sorted(expected):
        raise ValueError(f"entry {min(expected ^ set(entries), default='twice')} missing or unknown")


def require_labels(path: str | Path, dataset: xr.Dataset, names: tuple[str, ...], select: dict) -> None:
    """Raise at a variable or coordinate asked for that the store does not have.

    Without its index, a coordinate would be taken for a position and give another row's numbers.
    """
    for name in names:
        if name not in dataset.variables:
            raise LookupError(f"{path}: no variable {name}; it has {', '.join(map(str, dataset.variables))}")
    for name, wanted in select.items():
        if name not in dataset.indexes:
            raise LookupError(f"{path}: no coordinate {name}; it has {', '.join(map(str, dataset.indexes))}")
        held = dataset.indexes[name]
        if not isinstance(wanted, slice) and not np.isin(wanted, held).all():
            raise LookupError(f"{path}: no {name} {wanted}; it has {held.tolist()}")


def inherited(dataset: xr.Dataset) -> dict:
    """The attrs of a store that hold for what is computed from it as well: all but those of its own writing."""
    return {name: value for name, value in dataset.attrs.items() if name not in ("code", "versions")}


def identity(*datasets: xr.Dataset) -> dict:
    """The attrs that say which model and which corpus the numbers come from, handed on from the inputs."""
    return {name: data.attrs[name] for data in datasets for name in ("corpus", "model") if name in data.attrs}
