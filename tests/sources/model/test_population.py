"""Tokens in shards are the same tokens, and atoms count each of them once."""

from collections import Counter

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

from attnlimit.base import store
from attnlimit.sources.model import population
from attnlimit.sources.model.population import assemble, atoms, gather
from support.stores import write

TOKENS = np.random.default_rng(0).normal(size=(2, 30, 3)).astype(np.float32)
STARTS = (0, 11, 12, 30)


@pytest.fixture(scope="module")
def shards(tmp_path_factory) -> list[str]:
    folder = tmp_path_factory.mktemp("shards")
    paths = []
    for start, stop in zip(STARTS, STARTS[1:], strict=False):
        part = xr.Dataset(
            {"tokens": (("layer", "token", "feature"), TOKENS[:, start:stop])},
            coords={"layer": [0, 4], "token": np.arange(start, stop)},
        )
        paths.append(str(folder / f"shard_{start}.zarr.zip"))
        write(part, paths[-1], first_token=start, last_token=stop - 1)
    return paths


def test_blocks_are_assembled_end_to_end():
    joined, rounding = assemble([TOKENS[:, :11], TOKENS[:, 11:]], 30, "float32")
    np.testing.assert_array_equal(joined, TOKENS)
    np.testing.assert_array_equal(rounding, [0, 0])


def test_the_cost_of_rounding_is_measured():
    joined, rounding = assemble([TOKENS[:, :11], TOKENS[:, 11:]], 30, "float16")
    assert joined.dtype == np.float16
    lost = ((joined.astype(np.float64) - TOKENS) ** 2).sum((1, 2))
    spread = ((TOKENS - TOKENS.mean(1, keepdims=True)) ** 2).sum((1, 2))
    np.testing.assert_allclose(rounding, np.sqrt(lost / spread), rtol=1e-3)
    assert (rounding > 1e-5).all()


@pytest.mark.parametrize(("number", "dtype"), [(np.nan, "float32"), (1e5, "float16")])
def test_a_token_that_does_not_fit_is_refused(number, dtype):
    block = TOKENS.copy()
    block[1, 7, 2] = number
    with pytest.raises(ValueError, match=r"extract_embeddings\.dtype"):
        assemble([block], 30, dtype)


def test_a_shard_with_a_gap_is_refused(tmp_path):
    part = xr.Dataset({"tokens": (("layer", "token", "feature"), TOKENS)}, coords={"layer": [0, 4]})
    numbers = np.delete(np.arange(31), 5)
    write(part.assign_coords(token=numbers), tmp_path / "gap.zarr.zip", first_token=0, last_token=30)
    with pytest.raises(ValueError, match=r"gap\.zarr\.zip: its tokens are not consecutive; .* run extract_embeddings"):
        gather([tmp_path / "gap.zarr.zip"], 0, np.array([3, 9]))


@settings(max_examples=25, deadline=None)
@given(wanted=st.sets(st.integers(0, 29), min_size=1).map(sorted), place=st.integers(0, 1))
def test_gather_is_indexing(shards, wanted, place):
    found = gather(shards, [0, 4][place], np.array(wanted))
    np.testing.assert_array_equal(found, TOKENS[place, wanted])
    assert found.dtype == np.float32


def test_tokens_stay_as_they_are_stored(tmp_path):
    halves = TOKENS.astype(np.float16)
    part = xr.Dataset({"tokens": (("layer", "token", "feature"), halves)}, coords={"layer": [0, 4]})
    write(part.assign_coords(token=np.arange(30)), tmp_path / "half.zarr.zip", first_token=0, last_token=29)
    found = gather([tmp_path / "half.zarr.zip"], 4, np.array([2, 7]), dtype=None)
    assert found.dtype == np.float16
    np.testing.assert_array_equal(found, halves[1, [2, 7]])


def test_a_pass_in_blocks_opens_a_shard_once_and_unpacks_a_chunk_once(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "CHUNK_BYTES", 8 * TOKENS[0, 0].nbytes)  # eight tokens of one layer, at most
    paths = [str(tmp_path / f"{first}.zarr.zip") for first in (0, 15)]
    for path, first in zip(paths, (0, 15), strict=True):
        part = xr.Dataset({"tokens": (("layer", "token", "feature"), TOKENS[:, first : first + 15])})
        labels = {"layer": [0, 4], "token": np.arange(first, first + 15)}
        write(part.assign_coords(labels), path, first_token=first, last_token=first + 14)
    calls = []
    for name in ("opened", "select"):
        real = getattr(population, name)
        monkeypatch.setattr(population, name, lambda *a, real=real, name=name, **k: calls.append(name) or real(*a, **k))
    blocks = [gather(paths, 4, np.arange(start, start + 3)) for start in range(0, 30, 3)]
    np.testing.assert_array_equal(np.concatenate(blocks), TOKENS[1])
    assert Counter(calls) == {"opened": 2, "select": 4}


def test_all_tokens_are_the_whole_array(shards):
    np.testing.assert_array_equal(gather(shards, 4, np.arange(30)), TOKENS[1])


@pytest.mark.parametrize("wanted", [[3, 11, 20], [11], [0, 29, 30], [30, 31]])
def test_missing_tokens_are_an_error(shards, wanted):
    with pytest.raises(LookupError, match="extract_embeddings"):
        gather([shards[0], shards[2]], 0, np.array(wanted))


def test_a_missing_layer_is_an_error(shards):
    with pytest.raises(LookupError):
        gather(shards, 1, np.arange(3))


words_and_places = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), min_size=1, max_size=40)


@given(words_and_places)
def test_atoms_of_layer_0_repeat_to_the_population(pairs):
    words, places = np.array(pairs, dtype=np.int32).T
    first, counts = atoms(words, places, layer=0)
    assert counts.sum() == len(pairs)
    assert np.all(np.diff(first) > 0)
    stood_for = Counter(zip(np.repeat(words[first], counts), np.repeat(places[first], counts), strict=True))
    assert stood_for == Counter(pairs)
    assert len(first) == len(set(pairs))


def test_words_in_16_bits_do_not_collide():
    """128 * 512 is 0 in 16 bits: word 128 would be taken for word 0."""
    words, places = np.array([0, 128, 0], dtype=np.uint16), np.array([3, 3, 511], dtype=np.uint16)
    first, counts = atoms(words, places, layer=0)
    np.testing.assert_array_equal(first, np.arange(3))
    np.testing.assert_array_equal(counts, np.ones(3))


@given(words_and_places, st.integers(1, 11))
def test_deeper_every_token_is_its_own_atom(pairs, layer):
    words, places = np.array(pairs).T
    first, counts = atoms(words, places, layer)
    np.testing.assert_array_equal(first, np.arange(len(pairs)))
    np.testing.assert_array_equal(counts, np.ones(len(pairs)))
