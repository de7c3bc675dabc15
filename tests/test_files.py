"""Checksums are checked, and a file at its final name is always whole."""

import hashlib

import pytest

from attnlimit.files import atomic, sha256_of, verify_sha256


def test_sha256_is_that_of_the_bytes(tmp_path):
    path = tmp_path / "data"
    path.write_bytes(b"abc" * 10**6)
    assert sha256_of(path) == hashlib.sha256(b"abc" * 10**6).hexdigest()
    verify_sha256(path, sha256_of(path))
    verify_sha256(path, sha256_of(path).upper())


def test_a_wrong_sha256_names_file_expected_found_and_remedy(tmp_path):
    path = tmp_path / "data"
    path.write_bytes(b"abc")
    with pytest.raises(ValueError) as error:
        verify_sha256(path, "0" * 64)
    for part in (str(path), "0" * 64, sha256_of(path), "fetch it again"):
        assert part in str(error.value)


def test_atomic_shows_nothing_until_the_end(tmp_path):
    path = tmp_path / "numbers.zarr.zip"
    with atomic(path) as part:
        assert part.parent == path.parent and part.name.endswith(".numbers.zarr.zip")
        part.write_bytes(b"new")
        assert not path.exists()
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt])
def test_atomic_failure_keeps_the_old_file_and_nothing_else(tmp_path, failure):
    path = tmp_path / "numbers"
    path.write_bytes(b"old")
    with pytest.raises(failure), atomic(path) as part:
        part.write_bytes(b"half")
        raise failure
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_atomic_without_a_written_file_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError), atomic(tmp_path / "numbers"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_two_writers_do_not_share_a_temporary_name(tmp_path):
    with atomic(tmp_path / "numbers") as first, atomic(tmp_path / "numbers") as second:
        assert first != second
        first.write_bytes(b"1")
        second.write_bytes(b"2")
    assert (tmp_path / "numbers").read_bytes() == b"1"
