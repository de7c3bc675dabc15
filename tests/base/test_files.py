"""Checksums are checked, and a file at its final name is always whole."""

import errno
import hashlib
import resource

import pytest

from attnlimit.base.files import atomic, disk_error, private, sha256_of, verify_sha256


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


def test_what_a_killed_writer_left_goes_with_the_next_write(tmp_path):
    left, other, yours = (tmp_path / f".0123456789ab.{name}" for name in ("numbers", "number", "numbers.csv"))
    for path in (left, other, yours):
        path.write_bytes(b"half")
    with atomic(tmp_path / "numbers") as part:
        assert not left.exists()
        part.write_bytes(b"new")
    assert sorted(tmp_path.iterdir()) == sorted([other, yours, tmp_path / "numbers"])


def test_a_full_disk_is_told_with_the_file_and_keeps_the_old_one(tmp_path):
    path = tmp_path / "numbers"
    path.write_bytes(b"old")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        with pytest.raises(OSError) as error, atomic(path) as part:
            part.write_bytes(bytes(2000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert str(error.value).startswith(f"{path}: cannot be written (file too large); ")
    assert "what is finished is kept" in str(error.value)
    assert list(tmp_path.iterdir()) == [path] and path.read_bytes() == b"old"


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES])
def test_every_refusal_of_a_disk_has_its_remedy(tmp_path, number):
    with pytest.raises(OSError) as error, atomic(tmp_path / "numbers"):
        raise OSError(number, "no")
    assert str(error.value).startswith(f"{tmp_path / 'numbers'}: cannot be written (")
    assert error.value.errno is None, "told once, not again by whoever calls"


def test_a_file_elsewhere_keeps_its_own_error(tmp_path):
    with pytest.raises(PermissionError) as error, atomic(tmp_path / "numbers"):
        raise PermissionError(errno.EACCES, "no", "/elsewhere/weights")
    assert error.value.filename == "/elsewhere/weights"


def test_an_error_of_the_disk_is_told_from_one_of_the_content(tmp_path):
    told = disk_error("a", OSError(errno.EIO, "Input/output error"))
    assert str(told) == "a: cannot be read (input/output error); see to the disk and run again"
    assert disk_error("a", OSError("Invalid data stream")) is None
    assert disk_error("a", OSError(errno.EINVAL, "a seek to nowhere")) is None
    assert disk_error("a", ValueError("no zip")) is None


def test_a_private_folder_is_for_nobody_else(tmp_path):
    private(tmp_path / "new" / "cache")
    assert (tmp_path / "new" / "cache").stat().st_mode & 0o777 == 0o700
    private(tmp_path / "new" / "cache")
