"""Each source of the config gives its articles, and says what they are."""

import functools
import hashlib
import shutil
from http.server import SimpleHTTPRequestHandler

import pytest

from attnlimit.sources.corpus.dump import EXCERPT_LICENCE, EXCERPT_SHA256, EXCERPT_TITLE, excerpt_path
from attnlimit.sources.corpus.location import local_files
from attnlimit.sources.corpus.open import open_corpus
from support.faulty import FaultyServer
from support.packages import sha256, wheel

BULGARIAN = "bgwiki-latest-pages-articles-shortened.xml.bz2"
BULGARIAN_SHA256 = "8c67571ec18cb8f0f77a91ab2ee4a04c9368684358e40b94d95670f909210355"


def corpus(**keys):
    return {"location": "", "column": "text", "sha256": "", "max_bytes": 10**8} | keys


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture
def folder_on_the_web(tmp_path, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    folder = tmp_path / "web"
    folder.mkdir()
    with FaultyServer(functools.partial(Quiet, directory=str(folder))) as server:
        yield folder, server.endpoint


def test_the_excerpt_needs_no_sha256(tmp_path):
    articles, identity = open_corpus(corpus(source="excerpt"), [], tmp_path)
    assert next(articles).title == "Anarchism"
    named = {"source": "excerpt", "name": excerpt_path().name, "sha256": EXCERPT_SHA256}
    assert identity == named | {"title": EXCERPT_TITLE, "licence": EXCERPT_LICENCE}


def test_a_dump_from_a_file(tmp_path):
    settings = corpus(source="dump", location=str(excerpt_path().with_name(BULGARIAN)), sha256=BULGARIAN_SHA256)
    articles, identity = open_corpus(settings, [settings["location"]], tmp_path)
    assert [article.page_id for article in articles] == [558]
    assert identity == {"source": "dump", "name": BULGARIAN, "sha256": BULGARIAN_SHA256}
    with pytest.raises(ValueError, match=f"{BULGARIAN}: sha256 is {BULGARIAN_SHA256}, expected 00"):
        open_corpus(settings | {"sha256": "0" * 64}, [settings["location"]], tmp_path)


def test_a_dump_from_the_web_is_kept(tmp_path, folder_on_the_web):
    folder, url = folder_on_the_web
    shutil.copyfile(excerpt_path().with_name(BULGARIAN), folder / "bg.xml.bz2")
    settings = corpus(source="dump", location=f"{url}/bg.xml.bz2", sha256=BULGARIAN_SHA256)
    for _ in ("the web", "the file kept"):
        articles, identity = open_corpus(settings, [], tmp_path / "downloads")
        assert [article.page_id for article in articles] == [558]
        assert identity == {"source": "dump", "name": "bg.xml.bz2", "sha256": BULGARIAN_SHA256}
        (folder / "bg.xml.bz2").unlink(missing_ok=True)
    assert [path.name for path in (tmp_path / "downloads").iterdir()] == ["bg.xml.bz2"]


def test_text_with_and_without_a_sha256(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"text": "words"}\n')
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    for given in ("", sha256):
        articles, identity = open_corpus(corpus(source="text", location=str(path), sha256=given), [str(path)], tmp_path)
        assert [article.text for article in articles] == ["words"]
        assert identity == {"source": "text", "name": "rows.jsonl", "sha256": sha256}
    with pytest.raises(ValueError, match="rows.jsonl: sha256 is"):
        open_corpus(corpus(source="text", location=str(path), sha256="0" * 64), [str(path)], tmp_path)


def test_members_of_a_package(tmp_path, monkeypatch):
    monkeypatch.delenv("ATTNLIMIT_DOWNLOADS", raising=False)
    name, content = wheel({"tiny_texts/a.txt": b"One.", "tiny_texts/b.txt": b"Two.", "tiny_texts/c.txt": b"Three."})
    (tmp_path / "packages").mkdir()
    (tmp_path / "packages" / name).write_bytes(content)
    pinned = {"file": name, "files": "tiny_texts/[ab].txt", "sha256": sha256(content)}
    named = {"title": "Two texts", "licence": "CC0"}
    settings = corpus(source="package", location="tiny-texts==1.0", format="", **pinned, **named)
    articles, identity = open_corpus(settings, [], tmp_path)
    assert [article.text for article in articles] == ["One.", "Two."]
    found = {"source": "package", "name": "tiny-texts", "package": "tiny-texts==1.0"}
    assert identity == found | pinned | named
    articles, _ = open_corpus(settings | {"max_bytes": 7}, [], tmp_path)
    with pytest.raises(ValueError, match=r"over 7 bytes unpacked; is fetch_corpus\.max_bytes too low\?"):
        list(articles)


@pytest.mark.parametrize(
    ("contents", "location", "form", "texts"),
    [
        ({"b.txt": "b", "a.md": "\ufeffмного\r\nдуми"}, "", "", ["много\nдуми", "b"]),
        ({"b.jsonl": '{"text": "b"}', "a.jsonl": '{"text": "a"}'}, "", "jsonl", ["a", "b"]),
        ({"b.py": "# b", "a.py": "# a", "notes.txt": "x"}, "", "python", ["# a", "# b"]),
        ({"rows.csv": "text\nwords\n"}, "rows.csv", "", ["words"]),  # a format that its ending tells
        ({"MY.LICENSE": "Do what you want."}, "MY.LICENSE", "text", ["Do what you want."]),
    ],
)
def test_files_of_ones_own(tmp_path, contents, location, form, texts):
    for name, text in contents.items():
        (tmp_path / name).write_text(text, "utf-8")
    settings = corpus(source="text", location=str(tmp_path / location), format=form, title="Mine")
    articles, identity = open_corpus(settings, local_files(settings), tmp_path)
    assert [article.text for article in articles] == texts
    assert identity["name"] == (tmp_path / location).name and identity["title"] == "Mine"
    skipped = "1 file other than .py: notes.txt" if form == "python" else None
    assert identity.get("skipped") == skipped


def mixed(tmp_path, monkeypatch, texts: dict[str, list[str]], shares: dict[str, float]):
    """A mixture of packages with one text a file."""
    monkeypatch.setenv("ATTNLIMIT_DOWNLOADS", str(tmp_path))
    (tmp_path / "packages").mkdir()
    parts = []
    for name, files in texts.items():
        file, content = wheel({f"{name}/{k:03}.txt": text.encode() for k, text in enumerate(files)}, name)
        (tmp_path / "packages" / file).write_bytes(content)
        keys = {"location": f"{name}==1.0", "file": file, "files": "*.txt", "licence": f"licence of {name}"}
        parts.append({"source": "package", "share": shares[name], "sha256": sha256(content), **keys})
    return open_corpus(corpus(source="mixture", texts=parts), [], tmp_path)


def test_a_mixture_takes_turns_by_the_shares(tmp_path, monkeypatch):
    texts = {"long": ["l" * 30] * 20, "short": ["s" * 5, " ", *["s" * 5] * 39]}
    articles, identity = mixed(tmp_path, monkeypatch, texts, {"long": 0.75, "short": 0.25})
    found = list(articles)
    lengths = [sum(len(each.text) for each in found[:n] if "s" in each.text) for n in range(1, len(found) + 1)]
    for n, short in enumerate(lengths, 1):
        whole = sum(len(each.text) for each in found[:n])
        assert abs(short - 0.25 * whole) <= 30  # never farther off than an article
    assert [each.page_id for each in found] == list(range(len(found)))
    assert sum("s" in each.text for each in found) == 40  # to the end of the one that ends first, no further
    assert identity["texts"]["2"] | {"share": 0.25, "licence": "licence of short"} == identity["texts"]["2"]
    assert len(identity["texts"]["1"]["sha256"]) == 64


def test_an_empty_part_of_a_mixture_is_refused_by_name(tmp_path, monkeypatch):
    articles, _ = mixed(tmp_path, monkeypatch, {"full": ["text"], "empty": ["  "]}, {"full": 0.5, "empty": 0.5})
    with pytest.raises(ValueError, match=r"fetch_corpus\.texts: empty holds no article with text"):
        list(articles)
