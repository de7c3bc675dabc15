"""An archive is the same bytes for the same files, and whatever is wrong with one is told by name before it is used."""

import os
import re
import tarfile
import warnings
from pathlib import Path
from types import SimpleNamespace

import bagit
import pytest
import zstandard

from attnlimit.archive.bag import pack, require_whole, unpack
from support.bags import entries, rewrite

INFO = {"Bagging-Date": "2026-01-01", "Bag-Software-Agent": "a test"}
FILES = {"results/rates.csv": b"beta\n0.3\n", "results/deep/er/store.zip": bytes(range(256)) * 300, "run": b"#!\n"}


@pytest.fixture
def archive(tmp_path) -> Path:
    return make(tmp_path / "first", tmp_path / "run.tar.zst")


def make(folder: Path, path: Path) -> Path:
    """An archive of FILES, one of them executable, one with a second name elsewhere."""
    for name, content in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    (folder / "run").chmod(0o755)
    folder.with_name(f"outside of {folder.name}").hardlink_to(folder / "results/rates.csv")
    pack(folder, path, dict(INFO))
    return path


def check(path: Path, folder: Path) -> Path:
    folder.mkdir()
    bag = unpack(path, folder)
    require_whole(bag, path)
    return bag


def test_what_was_packed_comes_out(archive, tmp_path):
    bag = check(archive, tmp_path / "out")
    assert bag.name == "run"
    for name, content in FILES.items():
        assert (bag / "data" / name).read_bytes() == content
    assert os.access(bag / "data/run", os.X_OK) and not os.access(bag / "data/results/rates.csv", os.X_OK)
    assert "Bagging-Date: 2026-01-01" in (bag / "bag-info.txt").read_text()


def test_the_same_files_give_the_same_bytes(archive, tmp_path):
    (tmp_path / "later").mkdir()
    again = make(tmp_path / "later/second", tmp_path / "later/run.tar.zst")
    assert again.read_bytes() == archive.read_bytes()
    assert sorted(path.name for path in again.parent.iterdir()) == ["outside of second", "run.tar.zst", "second"]


def substitute(pattern, replacement, text, *count):
    """re.sub as from Python 3.13 on, where a count by position warns the caller: bagit gives one."""
    if count:
        warnings.warn("'count' is passed as positional argument", DeprecationWarning, stacklevel=2)
    return re.sub(pattern, replacement, text)


def test_a_warning_of_bagits_own_code_on_newer_pythons_is_no_error(tmp_path, monkeypatch):
    """The suite makes warnings errors; the same one from our own code stays one."""
    monkeypatch.setattr(bagit, "re", SimpleNamespace(**vars(re) | {"sub": substitute}))
    check(make(tmp_path / "first", tmp_path / "run.tar.zst"), tmp_path / "out")
    with pytest.raises(DeprecationWarning):
        substitute("%0D", "\r", "", re.IGNORECASE)


@pytest.mark.parametrize("lost", [1, 4, 1000])
def test_a_truncated_archive_is_refused(archive, tmp_path, lost):
    archive.write_bytes(archive.read_bytes()[:-lost])
    with pytest.raises(ValueError, match=r"run\.tar\.zst: truncated, its end is missing; download"):
        check(archive, tmp_path / "out")


def test_an_empty_or_another_file_is_refused(tmp_path):
    for content in (b"", b"PK\3\4" + b"0" * 100):
        (tmp_path / "run.tar.zst").write_bytes(content)
        with pytest.raises(ValueError, match=r"run\.tar\.zst: damaged, or no zstd file .*`make archive` wrote"):
            check(tmp_path / "run.tar.zst", tmp_path / f"out{len(content)}")


def test_no_flipped_byte_goes_unseen(archive, tmp_path):
    whole = archive.read_bytes()
    for number, place in enumerate(range(0, len(whole), 97)):
        archive.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises((ValueError, OSError), match=r"^.*run\.tar\.zst: "):
            check(archive, tmp_path / f"out{number}")


def test_something_after_the_end_is_refused(archive, tmp_path):
    archive.write_bytes(archive.read_bytes() + b"more")
    with pytest.raises(ValueError, match=r"run\.tar\.zst: data after the end"):
        check(archive, tmp_path / "out")


def folders_too(archive: tarfile.TarFile, bag: Path) -> None:
    archive.add(bag, "run")


def from_within(archive: tarfile.TarFile, bag: Path) -> None:
    archive.add(bag, ".")


def files_from_dot(archive: tarfile.TarFile, bag: Path) -> None:
    for path in filter(Path.is_file, bag.rglob("*")):
        archive.addfile(tarfile.TarInfo(f"./run/{path.relative_to(bag)}"))


@pytest.mark.parametrize("add", [folders_too, from_within, files_from_dot])
@pytest.mark.parametrize("sized", [True, False])
def test_a_repacked_archive_is_refused_with_the_remedy(archive, tmp_path, add, sized):
    bag = check(archive, tmp_path / "bag")
    with tarfile.open(tmp_path / "run.tar", "w") as repacked:
        add(repacked, bag)
    whole = (tmp_path / "run.tar").read_bytes()
    archive.write_bytes(zstandard.ZstdCompressor(write_content_size=sized).compress(whole))
    with pytest.raises(ValueError, match=rf"^{archive}: .*; if another program repacked it, use the archive that"):
        check(archive, tmp_path / "out")


def test_files_in_another_order_are_the_same_archive(archive, tmp_path):
    rewrite(archive, dict(reversed(entries(archive).items())))
    check(archive, tmp_path / "out")


RATES, MANIFEST = "run/data/results/rates.csv", "run/manifest-sha256.txt"


def other_algorithm(contents: dict) -> None:
    for name in ("manifest", "tagmanifest"):
        contents[f"run/{name}-sha512.txt"] = contents[f"run/{name}-sha256.txt"]
        contents["run/tagmanifest-sha256.txt"] += b"0" * 64 + f" {name}-sha512.txt\n".encode()
    contents[MANIFEST] = b""


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda contents: contents | {RATES: b"beta\n0.4\n"}, "data/results/rates.csv is not what its sha256"),
        (lambda contents: contents | {RATES: contents[RATES] + b"0"}, "data/results/rates.csv is not what its sha256"),
        (lambda contents: contents.pop(RATES), "data/results/rates.csv is missing"),
        (lambda contents: contents | {"run/data/more.csv": b"beta"}, "data/more.csv is not in the manifest"),
        (lambda contents: contents | {"run/more.txt": b"beta\n"}, "more.txt is not in the manifest"),
        (
            lambda contents: contents | {MANIFEST: contents[MANIFEST].replace(b"0", b"1")},
            "is not what its sha256 in the manifest says",
        ),
        (lambda contents: contents.pop(MANIFEST), "data/results/deep/er/store.zip is not in the manifest"),
        (lambda contents: contents | {"run/bag-info.txt": b"\xff\xfe: \xff\n"}, "not a BagIt bag ("),
        (other_algorithm, "is not what its sha256 in the manifest says"),
        (lambda contents: contents.pop("run/tagmanifest-sha256.txt"), "bag-info.txt is not in the manifest"),
    ],
)
def test_what_is_wrong_in_a_bag_is_named(archive, tmp_path, change, message):
    contents = entries(archive)
    changed = change(contents)
    rewrite(archive, changed if isinstance(changed, dict) else contents)
    with pytest.raises(ValueError) as error:
        check(archive, tmp_path / "out")
    assert str(error.value).startswith(f"{archive}: ") and message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["../escaped", "/tmp/escaped", "run/../../escaped"])
def test_a_path_out_of_the_folder_is_refused(archive, tmp_path, name):
    rewrite(archive, entries(archive) | {name: b"here"})
    with pytest.raises(ValueError, match=f"{name!r} leads out of the folder"):
        check(archive, tmp_path / "out")
    assert not list(tmp_path.rglob("escaped")) and not Path("/tmp/escaped").exists()


@pytest.mark.parametrize("name", ["run//x", "run/a b", "run/ü", "run/a\nb", "run/" + "a" * 300, "run/data"])
def test_a_name_that_we_do_not_give_is_refused(archive, tmp_path, name):
    rewrite(archive, entries(archive) | {name: b"here"})
    with pytest.raises(ValueError, match=rf"^{archive}: ") as error:
        check(archive, tmp_path / "out")
    assert "do not trust this archive" in str(error.value) and "\n" not in str(error.value)


LINK = {"linkname": "/etc/passwd"}
HOLES = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.realsize": str(2**40)}


@pytest.mark.parametrize(
    ("name", "facts", "message"),
    [
        ("link", {"type": tarfile.SYMTYPE} | LINK, "'run/data/link' is not a regular file"),
        ("link", {"type": tarfile.LNKTYPE} | LINK, "'run/data/link' is not a regular file"),
        ("pipe", {"type": tarfile.FIFOTYPE}, "'run/data/pipe' is not a regular file"),
        ("device", {"type": tarfile.CHRTYPE}, "'run/data/device' is not a regular file"),
        # A few bytes of a tar can stand for any number of zeros.
        (
            "holes",
            {"pax_headers": {"GNU.sparse.map": "0,0", "GNU.sparse.size": str(2**40)}},
            "'run/data/holes' is not a regular file",
        ),
        ("holes", {"pax_headers": HOLES}, "damaged"),
        ("run", {}, "'run/data/run' is there twice"),
        ("run/below", {}, "'run/data/run/below' is there twice"),  # a file that is a folder too
    ],
)
def test_an_entry_that_we_do_not_write_is_refused(archive, tmp_path, name, facts, message):
    entry = tarfile.TarInfo(f"run/data/{name}")
    for key, value in facts.items():
        setattr(entry, key, value)
    rewrite(archive, entries(archive), entry)
    with pytest.raises(ValueError, match=message):
        check(archive, tmp_path / "out")


def test_an_archive_that_holds_more_than_it_says_is_refused_at_once(archive, tmp_path):
    """The size stands in the head of the file, behind 4 bytes of magic number and 1 of flags."""
    zeros = zstandard.ZstdCompressor().compress(bytes(2**24))
    assert zeros[4] >> 6 == 2, "the size has four bytes"
    archive.write_bytes(zeros[:5] + (2**20).to_bytes(4, "little") + zeros[9:])
    with pytest.raises(ValueError, match=r"holds more than the 1,048,576 bytes it says|damaged"):
        check(archive, tmp_path / "out")


def test_an_archive_larger_than_the_disk_is_refused_before_it_is_unpacked(tmp_path):
    """The head of a zstd file that promises a petabyte."""
    path = tmp_path / "run.tar.zst"
    path.write_bytes(bytes.fromhex("28b52ffd") + bytes([0b11100000]) + (10**15).to_bytes(8, "little") + b"0" * 50)
    with pytest.raises(OSError, match=r"run\.tar\.zst: needs 2,000,000,000,000,000 bytes"):
        check(path, tmp_path / "out")
