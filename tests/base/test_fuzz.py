"""Whatever bytes a store holds: its numbers, or one line that names it; nothing else."""

import functools
import io
import json
import operator
import zipfile
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

from attnlimit.base.store import read
from support.fuzz import NONSENSE, damage, places, told
from support.stores import write


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("fuzz")


@pytest.fixture(scope="module")
def store(folder) -> tuple[Path, bytes, xr.Dataset]:
    path = folder / "a.zarr.zip"
    values = {"tokens": (("layer", "token"), np.arange(6.0).reshape(2, 3)), "count": ("layer", np.array([3, 4]))}
    write(xr.Dataset(values, coords={"layer": [0, 5]}), path, model={"name": "bert"})
    return path, path.read_bytes(), read(path)


@pytest.mark.filterwarnings("ignore::UserWarning")
@settings(max_examples=100)
@given(data=st.data())
def test_a_store_gives_its_numbers_or_its_name(store, data):
    path, content, whole = store
    path.write_bytes(data.draw(damage(content)))
    found = told(path, lambda: read(path))
    assert found is None or found.identical(whole)


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=60)
@given(data=st.data())
def test_metadata_that_make_no_sense_are_told_with_the_store(store, data):
    """In a sound zip: no checksum stands between these and Zarr."""
    path, content, _ = store
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    name = data.draw(st.sampled_from(sorted(name for name in entries if name.endswith("zarr.json"))))
    facts = json.loads(entries[name])
    *above, last = data.draw(st.sampled_from(places(facts)))
    functools.reduce(operator.getitem, above, facts)[last] = data.draw(st.sampled_from(NONSENSE))
    entries[name] = json.dumps(facts).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for entry, written in entries.items():
            archive.writestr(entry, written)
    told(path, lambda: read(path))
