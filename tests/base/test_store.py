"""A store gives back what was written, whole, or an error: never another number."""

import os
import resource
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from math import prod
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
import zarr
from hypothesis import given
from hypothesis import strategies as st

from attnlimit.base import store
from attnlimit.base.files import sha256_of
from attnlimit.base.store import chunk_shape, handed_on, identity, read
from support.stores import write

MODEL = {"name": "bert", "revision": "86b5", "sizes": [1, 2], "nested": {"deep": True, "none": None}}
SCRIPTS = Path(store.__file__).parents[2]


def small() -> xr.Dataset:
    values = np.arange(4 * 5 * 3, dtype=np.float32).reshape(4, 5, 3)
    values[1, 2] = np.nan
    return xr.Dataset(
        {
            "tokens": (("layer", "token", "feature"), values),
            "seen": ("token", np.array([True, False, True, True, False])),
            "nothing": (("group", "token"), np.zeros((0, 5))),
            "one": 2.5,
        },
        coords={"layer": [0, 3, 5, 7], "token": np.arange(10, 15), "head": -1},
    )


@pytest.fixture
def chunked(tmp_path, monkeypatch) -> Path:
    """A store with one chunk for each layer and token."""
    monkeypatch.setattr(store, "CHUNK_BYTES", 12)
    write(small(), tmp_path / "small.zarr.zip", model=MODEL)
    return tmp_path / "small.zarr.zip"


def flip(content: bytes, place: int, bit: int = 0) -> bytes:
    return content[:place] + bytes([content[place] ^ 1 << bit]) + content[place + 1 :]


def rewrite(path: Path, change) -> None:
    """Zip the entries again as `change` leaves them: a sound zip file around a damaged store."""
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    change(entries)
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in entries.items():
            archive.writestr(name, content)


def test_values_dims_coords_and_attrs_come_back(tmp_path):
    data = small()
    write(data, tmp_path / "a.zarr.zip", model=MODEL, seed=2512, nested=True, code="ab12")
    found = read(tmp_path / "a.zarr.zip")
    xr.testing.assert_equal(found, data)
    assert {name: array.dtype for name, array in found.variables.items()} == {
        name: array.dtype for name, array in data.variables.items()
    }
    assert found["tokens"].dims == ("layer", "token", "feature")
    facts = {name: found.attrs[name] for name in ("model", "seed", "nested", "code")}
    assert facts == {"model": MODEL, "seed": 2512, "nested": True, "code": "ab12"}
    assert found.attrs["versions"]["numpy"] == np.__version__


def labelled() -> xr.Dataset:
    """As a store of rates: labels that are words, of unequal length and not only ASCII, beside numbers."""
    dims = ("statistic", "part", "layer", "head")
    return xr.Dataset(
        {"beta": (dims, np.arange(2 * 2 * 2 * 6.0).reshape(2, 2, 2, 6)), "alpha": ("setting", [0.5, 1.0])},
        coords={
            "statistic": ["mean", "cov_spectral"],
            "part": ["error", "bias"],
            "layer": [0, 3],
            "head": range(6),
            "setting": ["|t| = 0", "α = ½, R = 1"],
        },
    )


def test_labels_that_are_words_come_back_as_plain_text(tmp_path):
    path = tmp_path / "a.zarr.zip"
    write(labelled(), path)
    found = read(path)
    xr.testing.assert_equal(found, labelled())
    for name in ("statistic", "part", "setting"):
        assert found[name].dtype.kind == "U" and found.indexes[name].tolist() == labelled().indexes[name].tolist()
    assert found["beta"].sel(layer=3, head=5, statistic="mean", part="error") == 11
    assert read(path, statistic="cov_spectral", part=["bias"])["beta"].shape == (1, 2, 6)
    with pytest.raises(LookupError, match=r"no statistic median; it has \['mean', 'cov_spectral'\]"):
        read(path, statistic="median")


@pytest.mark.parametrize("make", [small, labelled])
def test_the_same_numbers_and_words_give_the_same_bytes(tmp_path, make):
    first, second, again = (tmp_path / f"{name}.zarr.zip" for name in ("first", "second", "again"))
    write(make(), first, model=MODEL)
    write(make(), second, model=MODEL)
    write(read(first), again, model=MODEL)
    assert sha256_of(first) == sha256_of(second) == sha256_of(again)
    write(make(), second, model=MODEL | {"revision": "other"})
    write(labelled().assign_coords(part=["error", "biases"]), again, model=MODEL)
    assert len({sha256_of(path) for path in (first, second, again)}) == 3


def test_plain_xarray_selects_by_words_in_a_store_of_rates(tmp_path):
    """What a notebook does: no line of this library, and what a variable is stands beside it."""
    path = tmp_path / "rates.zarr.zip"
    write(labelled(), path, model=MODEL)
    rates = xr.open_zarr(zarr.storage.ZipStore(path, mode="r"), consolidated=False)
    xr.testing.assert_equal(rates.load(), labelled())
    assert rates.attrs["model"] == MODEL
    assert rates.beta.sel(layer=3, head=5, statistic="mean", part="error") == 11
    assert rates.alpha.sel(setting="α = ½, R = 1") == 1
    assert {name: rates[name].attrs["long_name"] for name in rates.variables} == {
        name: f"words of {name}" for name in rates.variables
    }


def test_words_are_of_the_store_and_are_handed_on(tmp_path):
    words = {"beta": "rate", "alpha": "factor", "n": "sample size [tokens]"}
    data = xr.Dataset({"beta": ("n", [0.5, 0.4]), "alpha": 1.0, "beta_se": ("n", [0.1, 0.1])}, coords={"n": [8, 16]})
    store.write(data, tmp_path / "a.zarr.zip", words)
    found = read(tmp_path / "a.zarr.zip")
    assert found["n"].attrs == {"long_name": "sample size", "units": "tokens"}
    assert found["beta_se"].attrs == {"long_name": "standard error of the rate"}
    assert handed_on(found) == words | {"beta_se": "standard error of the rate"}
    assert not any(array.attrs for array in data.variables.values())  # the given one is not written to


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        ({"beta": "rate"}, "variable alpha has no words"),
        ({"beta": "rate", "alpha": ""}, "variable alpha has no words"),
        ({"beta": "rate", "alpha": "rate"}, "variable alpha has the words of beta"),
    ],
)
def test_a_variable_without_words_of_its_own_is_refused(tmp_path, words, fault):
    path = tmp_path / "a.zarr.zip"
    with pytest.raises(LookupError, match=rf"{path}: {fault}; .*about\.py"):
        store.write(xr.Dataset({"beta": 1.0, "alpha": 2.0}), path, words)
    assert not path.exists()


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_flipped_bit_in_a_word_is_refused(tmp_path):
    path = tmp_path / "a.zarr.zip"
    write(labelled(), path)
    rewrite(path, lambda entries: entries.update({"part/c/0": flip(entries["part/c/0"], 12)}))
    with pytest.raises(ValueError, match="damaged store"):
        read(path)


def test_a_label_reads_that_part(chunked):
    xr.testing.assert_equal(read(chunked, layer=3), small().sel(layer=3))
    xr.testing.assert_equal(read(chunked, layer=[0, 7]), small().sel(layer=[0, 7]))
    part = read(chunked, layer=5, token=slice(11, 13))
    xr.testing.assert_equal(part, small().sel(layer=5, token=slice(11, 13)))
    assert part.sizes["token"] == 3


def test_other_parts_are_not_loaded(chunked):
    """A damaged chunk of layer 0 stops whoever reads it, and nobody else."""
    rewrite(chunked, lambda entries: entries.update({"tokens/c/0/0/0": b"damaged"}))
    xr.testing.assert_equal(read(chunked, layer=3), small().sel(layer=3))
    xr.testing.assert_equal(read(chunked, layer=0, token=slice(11, 14)), small().sel(layer=0, token=slice(11, 14)))
    with pytest.raises(ValueError, match="damaged store"):
        read(chunked, layer=0)


def test_a_name_may_begin_another(tmp_path):
    data = xr.Dataset({"tokens": ("token", np.arange(3.0)), "c": ("token", np.ones(3))}, coords={"token": range(3)})
    write(data, tmp_path / "a.zarr.zip")
    xr.testing.assert_equal(read(tmp_path / "a.zarr.zip"), data)


def flip_in_file(path: Path) -> None:
    with zipfile.ZipFile(path) as archive:
        entry = archive.getinfo("tokens/c/1/0/0")
        place = entry.header_offset + 30 + len(entry.filename) + entry.file_size // 2
    path.write_bytes(flip(path.read_bytes(), place))


def rewriting(change: Callable[[dict], object]) -> Callable[[Path], None]:
    return lambda path: rewrite(path, change)


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(path.read_bytes()[:-1000]),
        lambda path: path.write_bytes(b""),
        flip_in_file,
        # In the number itself, behind 9 bytes of zstd, with the zip's own checksum mended: only the chunk's can tell.
        rewriting(lambda entries: entries.update({"one/c": flip(entries["one/c"], 12)})),
        rewriting(lambda entries: entries.pop("tokens/c/1/1/0")),
        rewriting(lambda entries: entries.pop("layer/c/0")),
        rewriting(lambda entries: entries.update({"tokens/c/1/9/0": entries.pop("tokens/c/1/1/0")})),
        # Without its coordinate, a label would be taken for a position: another layer's numbers.
        rewriting(lambda entries: entries.update({"layer/zarr.jsoo": entries.pop("layer/zarr.json")})),
        rewriting(lambda entries: entries.pop("zarr.json")),
    ],
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_damaged_store_is_refused_by_name_with_a_remedy(chunked, damage):
    damage(chunked)
    with pytest.raises(ValueError) as error:
        read(chunked, layer=3)
    assert str(error.value).startswith(f"{chunked}: ")
    assert "delete it and run again" in str(error.value)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_no_flipped_bit_changes_a_number(tmp_path):
    """Anywhere in the file, its table of contents above all, which no checksum covers."""
    path = tmp_path / "a.zarr.zip"
    data = small()[["tokens"]].isel(token=slice(2), drop=True)
    write(data, path)
    good, whole = path.read_bytes(), read(path)
    with zipfile.ZipFile(path) as archive:
        contents = archive.start_dir
    rng = np.random.default_rng(1)
    places = np.concatenate([rng.integers(contents, size=30), rng.integers(contents, len(good), size=120)])
    refused = 0
    for place, bit in zip(places, rng.integers(8, size=len(places)), strict=True):
        path.write_bytes(flip(good, place, bit))
        try:
            assert read(path).identical(whole), f"bit {bit} of byte {place}"
        except ValueError as error:
            assert str(error).startswith(f"{path}: "), f"bit {bit} of byte {place}"
            refused += 1
    assert refused > 50


def test_a_missing_file_is_named_with_a_remedy(tmp_path):
    path = tmp_path / "absent.zarr.zip"
    with pytest.raises(FileNotFoundError) as error:
        read(path, layer=3)
    assert str(error.value).startswith(f"{path}: ") and "run the rule" in str(error.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("wanted", "label"), [({"layer": 4}, "4"), ({"layer": [0, 4]}, "4"), ({"depth": 1}, "depth")])
def test_an_unknown_label_is_named_with_a_remedy(chunked, wanted, label):
    with pytest.raises(LookupError) as error:
        read(chunked, **wanted)
    message = str(error.value)
    assert message.startswith(f"{chunked}: ")
    assert next(iter(wanted)) in message and label in message.removeprefix(str(chunked))
    assert "; " in message, "no remedy"


WRITE_FOR_EVER = """
import itertools, sys
import numpy as np, xarray as xr
from attnlimit.base.store import write
noise = np.random.default_rng(0).random((64, 2**14))
for number in itertools.count():
    dataset = xr.Dataset({"noise": (("row", "column"), noise + number)})
    write(dataset, f"{sys.argv[1]}/{number}.zarr.zip", {"noise": "numbers"})
"""


def test_a_killed_writer_leaves_no_half_store(tmp_path):
    """Stop the writer, see that it is in the middle of a file, and only then kill it."""
    writer = subprocess.Popen([sys.executable, "-c", WRITE_FOR_EVER, tmp_path], env={"PYTHONPATH": str(SCRIPTS)})
    caught = False
    try:
        deadline = time.monotonic() + 60
        while not caught and time.monotonic() < deadline:
            time.sleep(0.003)
            os.kill(writer.pid, signal.SIGSTOP)
            assert os.WIFSTOPPED(os.waitpid(writer.pid, os.WUNTRACED)[1]), "the writer died by itself"
            caught = (tmp_path / "1.zarr.zip").exists() and any(tmp_path.glob(".*"))
            if not caught:
                os.kill(writer.pid, signal.SIGCONT)
    finally:
        writer.kill()
        writer.wait()
    assert caught
    assert len(list(tmp_path.glob(".*"))) == 1
    noise = np.random.default_rng(0).random((64, 2**14))
    finished = sorted(tmp_path.glob("[0-9]*"), key=lambda path: int(path.name.split(".")[0]))
    assert len(finished) >= 2
    for number, path in enumerate(finished):
        np.testing.assert_array_equal(read(path)["noise"], noise + number)


@given(st.lists(st.integers(0, 2000), max_size=3), st.sampled_from(["?", "f4", "f8"]))
def test_a_chunk_is_small_and_the_fewest_are_made(shape, dtype):
    array = xr.Variable([f"d{axis}" for axis in range(len(shape))], np.broadcast_to(np.zeros((), dtype), shape))
    chunk = chunk_shape(array)
    assert len(chunk) == len(shape)
    assert all(1 <= part <= max(1, size) for part, size in zip(chunk, shape, strict=True))
    assert prod(chunk) * array.dtype.itemsize <= store.CHUNK_BYTES
    if array.nbytes <= store.CHUNK_BYTES:
        assert chunk == tuple(max(1, size) for size in shape)


def test_identity_is_handed_on():
    corpus = xr.Dataset(attrs={"corpus": {"name": "wiki"}, "seed": 1})
    model = xr.Dataset(attrs={"model": {"name": "bert"}, "corpus": {"name": "wiki"}})
    assert identity(corpus, model) == {"corpus": {"name": "wiki"}, "model": {"name": "bert"}}
    assert identity(xr.Dataset()) == {}


def test_only_the_named_variables_are_read(chunked):
    found = read(chunked, "seen", token=slice(11, 13))
    assert list(found.data_vars) == ["seen"]
    xr.testing.assert_equal(found, small()[["seen"]].sel(token=slice(11, 13)))
    with pytest.raises(LookupError, match=r"small\.zarr\.zip: no variable sean; it has .*seen"):
        read(chunked, "sean")


def test_an_error_of_the_disk_is_not_called_damage(chunked):
    """No more files may be opened: real, and as little the store's fault as a disk that does not answer."""
    free = os.dup(0)
    os.close(free)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (free, hard))
    try:
        with pytest.raises(OSError) as error:
            read(chunked)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert str(error.value) == f"{chunked}: cannot be read (too many open files); see to the disk and run again"
    xr.testing.assert_equal(read(chunked), small())
