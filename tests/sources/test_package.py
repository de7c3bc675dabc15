"""A package is read as an archive: members by pattern, nothing that leads out of it, nothing that bursts."""

import errno
import io
import tarfile
import zipfile

import pytest

from attnlimit.sources.package import Budget, fault_of, members, naming_damage
from support.packages import entry, sdist, wheel, write

TEXTS = {
    "tiny_texts/data/b.txt": b"Second.",
    "tiny_texts/data/a.txt": b"First.",
    "tiny_texts/data/deep/c.txt": b"Third.",
}


def read(path, pattern, most=10**6) -> dict[str, bytes]:
    with naming_damage(path):
        return {name: stream.read() for name, stream in members(path, pattern, Budget(most, "enough"), "key")}


def test_members_by_pattern_in_the_order_of_the_archive(tmp_path):
    path = write(tmp_path, wheel(TEXTS))
    assert list(read(path, "*/data/*.txt").items()) == list(TEXTS.items())
    assert read(path, "tiny_texts/data/a.*") == {"tiny_texts/data/a.txt": b"First."}
    path = write(tmp_path, sdist(*(entry(f"tiny_texts-1.0/{name}", text) for name, text in TEXTS.items())))
    assert [name.removeprefix("tiny_texts-1.0/") for name in read(path, "*/data/*.txt")] == list(TEXTS)
    assert b"".join(read(path, "*/data/*.txt").values()) == b"Second.First.Third."


def test_a_pattern_that_nothing_matches_is_told_with_what_there_is(tmp_path):
    for made in (wheel(TEXTS), sdist(entry("tiny_texts-1.0/a.txt"))):
        path = write(tmp_path, made)
        with pytest.raises(LookupError, match=rf"^key: no member of {path.name} matches \*\.csv; it has tiny_texts"):
            read(path, "*.csv")


@pytest.mark.parametrize(
    ("member", "why"),
    [
        (entry("/etc/a.txt", b"x"), "'/etc/a.txt' leads out of the archive"),
        (entry("tiny/../../a.txt", b"x"), "leads out"),
        (entry("tiny\\..\\a.txt", b"x"), "leads out"),
        (entry("tiny/a.txt", kind=tarfile.SYMTYPE, link="/etc/passwd"), "'tiny/a.txt' is a link or a device"),
        (entry("tiny/a.txt", kind=tarfile.LNKTYPE, link="setup.py"), "is a link or a device"),
        (entry("tiny/a.txt", kind=tarfile.CHRTYPE), "is a link or a device"),
        (entry("tiny/a.txt", kind=tarfile.FIFOTYPE), "is a link or a device"),
        (entry("tiny_texts-1.0/setup.py", b"x"), "is there twice"),
    ],
)
def test_an_sdist_that_leads_out_is_refused(member, why, tmp_path):
    """Whatever is asked of it."""
    path = write(tmp_path, sdist(entry("tiny/good.txt", b"good"), member))
    with pytest.raises(ValueError, match="refused: member") as error:
        read(path, "tiny/good.txt")
    assert why in str(error.value) and str(path) in str(error.value)


@pytest.mark.parametrize("name", ["/etc/a.txt", "tiny/../../a.txt", "link", "strange"])
def test_a_wheel_that_leads_out_is_refused(name, tmp_path):
    path = write(tmp_path, wheel(TEXTS))
    with zipfile.ZipFile(path, "a") as archive:
        info = zipfile.ZipInfo(name)
        if name == "link":
            info.external_attr = 0o120777 << 16
        archive.writestr(info, "/etc/passwd", zipfile.ZIP_LZMA if name == "strange" else None)
    with pytest.raises(ValueError, match=f"refused: member '{name}'"):
        read(path, "*.txt")


def test_what_unpacks_to_more_than_the_cap_is_refused(tmp_path):
    zeros = bytes(2_000_000)
    for made in (wheel({"tiny_texts/a.txt": zeros}), sdist(entry("tiny_texts-1.0/a.txt", zeros))):
        assert len(made[1]) < 5_000, "a bomb"
        path = write(tmp_path, made)
        assert len(read(path, "*/a.txt", most=2_000_000)) == 1
        with pytest.raises(ValueError, match="over 1999999 bytes unpacked; enough"):
            read(path, "*/a.txt", most=1_999_999)


def test_members_share_one_cap(tmp_path):
    path = write(tmp_path, wheel(TEXTS))
    with pytest.raises(ValueError, match="over 18 bytes unpacked"):
        read(path, "*/data/*.txt", most=18)
    assert len(read(path, "*/data/*.txt", most=19)) == 3


@pytest.mark.parametrize("made", [wheel(TEXTS), sdist(entry("tiny_texts-1.0/a.txt", b"words" * 999))])
def test_a_damaged_archive_is_told(made, tmp_path):
    name, content = made
    path = tmp_path / name
    for broken in (b"", content[: len(content) // 2], b"no archive at all"):
        path.write_bytes(broken)
        with pytest.raises(ValueError, match=rf"{name}: damaged archive \(.*\); delete it and run again"):
            read(path, "*")


def test_a_member_with_a_wrong_checksum_is_told(tmp_path):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a.txt", "words to be changed")
    path = write(tmp_path, ("a-1-py3-none-any.whl", packed.getvalue().replace(b"changed", b"chanGed")))
    with pytest.raises(ValueError, match=r"damaged archive \(Bad CRC-32"):
        read(path, "*.txt")


@pytest.mark.parametrize(
    ("location", "file", "key"),
    [
        ("tiny-texts==1.0", "tiny_texts-1.0-py3-none-any.whl", None),
        ("Tiny.Texts==1.0", "tiny_texts-1.0-py3-none-any.whl", None),
        ("tiny-texts==1.0", "tiny-texts-1.0.tar.gz", None),
        ("tiny-texts==1.0.post1", "tiny_texts-1.0.post1.tar.gz", None),
        ("tiny-texts", "tiny_texts-1.0-py3-none-any.whl", "location"),
        ("tiny-texts>=1.0", "tiny_texts-1.0-py3-none-any.whl", "location"),
        ("tiny-texts==1.*", "tiny_texts-1.0-py3-none-any.whl", "location"),
        ("--no-deps==1.0", "tiny_texts-1.0-py3-none-any.whl", "location"),
        ("tiny texts==1.0", "tiny_texts-1.0-py3-none-any.whl", "location"),
        ("tiny-texts==1.0", "tiny_texts-1.1-py3-none-any.whl", "file"),
        ("tiny-texts==1.0", "other_texts-1.0-py3-none-any.whl", "file"),
        ("tiny-texts==1.0", "other-texts-1.0.tar.gz", "file"),
        ("tiny-texts==1.0", "../tiny_texts-1.0.tar.gz", "file"),
        ("tiny-texts==1.0", "tiny_texts-1.0.zip", "file"),
        ("tiny-texts==1.0", "tiny_texts.whl", "file"),
    ],
)
def test_location_and_file_name_one_version_of_one_package(location, file, key):
    fault = fault_of({"location": location, "file": file, "sha256": "0" * 64})
    assert (fault and fault[0]) == key


def test_a_disk_that_fails_is_not_called_damage(tmp_path):
    path = tmp_path / "a.whl"
    with pytest.raises(OSError, match=rf"^{path}: cannot be read \(input/output error\)"), naming_damage(path):
        raise OSError(errno.EIO, "told by the system")
    with pytest.raises(OSError, match=r"^told already$"), naming_damage(path):
        raise OSError("told already")
