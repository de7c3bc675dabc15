"""Facts about the real excerpts, English and Bulgarian, and refusal of damaged dumps."""

import bz2
import re
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest

from attnlimit.base.files import verify_sha256
from attnlimit.sources.corpus.articles import Article
from attnlimit.sources.corpus.dump import EXCERPT_SHA256, excerpt_path, read_dump

SCRIPTS = Path(__file__).parents[3] / "scripts"
EXCERPT_BYTES = 6_089_746
BULGARIAN = "bgwiki-latest-pages-articles-shortened.xml.bz2"
NAMESPACES = (
    '<siteinfo><namespaces><namespace key="6">Tập tin</namespace><namespace key="14">Thể loại</namespace>'
    '<namespace key="2">Thành viên</namespace><namespace key="0" /></namespaces></siteinfo>'
)


@pytest.fixture(scope="module")
def articles():
    return list(read_dump(excerpt_path(), EXCERPT_BYTES))


@pytest.fixture(scope="module")
def bulgarian():
    return list(read_dump(excerpt_path().with_name(BULGARIAN), 10**6))


def page(number=1, namespace=0, text="Some words.", redirect=""):
    return (
        f"<page><title>T{number}</title><ns>{namespace}</ns><id>{number}</id>{redirect}"
        f"<revision><id>{number + 100}</id><text>{text}</text></revision></page>"
    )


def dump(folder, *pages, head="", name="dump.xml"):
    path = folder / name
    xml = f'{head}<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.10/">{"".join(pages)}</mediawiki>'
    path.write_bytes(bz2.compress(xml.encode()) if name.endswith(".bz2") else xml.encode())
    return path


def test_the_excerpt_is_the_one_we_know():
    verify_sha256(excerpt_path(), EXCERPT_SHA256)


def test_the_excerpt_is_found_without_importing_gensim():
    code = "import sys; from attnlimit.sources.corpus.dump import excerpt_path as f; f(); "
    code += "assert 'gensim' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, env={"PYTHONPATH": str(SCRIPTS)})


def test_the_excerpt_holds_106_articles(articles):
    assert len(articles) == 106  # of 206 pages: 100 are redirects
    found = {article.title: (article.page_id, article.revision_id) for article in articles}
    assert found["Anarchism"] == (12, 716551092)
    assert found["Albert Einstein"] == (736, 716825343)
    assert found["Algorithm"] == (775, 717822654)
    assert [article.page_id for article in articles] == sorted(article.page_id for article in articles)
    assert not any(article.text.lower().startswith("#redirect") for article in articles)


@pytest.mark.parametrize(
    "residue",
    [
        r"\[\[", r"\]\]", r"\{\{", r"\}\}", r"\{\|", r"\|-", r"^\s*\|", "''", "<ref", r"</?\w+>", "==",
        r"^[*#:;]", "(?i)category:", r"(?i)\bfile:", r"\d+px\b", r"&\w+;", "https?:", "__", "^$", r"^\s|\s$",
        "  ", r"\( | \)", r"\(\)", "(?i)^(?:references|external links|see also|further reading)$",
    ],
)  # fmt: skip
def test_no_markup_is_left_in_the_excerpts(articles, bulgarian, residue):
    lines = [line for article in articles + bulgarian for line in article.text.split("\n")]
    assert [line for line in lines if re.search(residue, line)] == []


def test_most_of_the_prose_is_kept(articles):
    assert articles[0].text.startswith(
        "Anarchism is a political philosophy that advocates self-governed societies based"
    )
    assert 2.7e6 < sum(len(article.text) for article in articles) < 2.9e6
    einstein = {article.title: article.text for article in articles}["Albert Einstein"]
    assert "E = mc^2" in einstein and "photoelectric effect" in einstein


def test_the_bulgarian_excerpt_becomes_bulgarian_prose(bulgarian):
    (article,) = bulgarian  # of 3 pages: 2 belong to the project
    assert article[:3] == (558, "Григориански календар", 7862180)
    assert article.text.startswith("Григорианският календар (понякога наричан и Грегориански календар, „нов стил“) е")
    assert 7000 < len(article.text) < 8000
    letters = [letter for letter in article.text if letter.isalpha()]
    assert sum("Ѐ" <= letter <= "ӿ" for letter in letters) > 0.95 * len(letters)
    assert not re.search("(?i)(категория|файл|картинка):", article.text)


@pytest.mark.parametrize(
    "link",
    [
        "[[Tập tin:a.jpg|nhỏ|Một [[b|c]]]]", "[[tập_tin:a.jpg]]", "[[Thể loại:Y]]", "[[File:a|b]]", "[[Category:Z]]",
        "[[Hình:a.JPEG|thumb|older name of files]]",
    ],
)  # fmt: skip
def test_links_to_files_and_categories_go_by_the_names_in_the_dump(tmp_path, link):
    path = dump(tmp_path, NAMESPACES, page(text=f"x{link}y [[Thành viên:A|shown]]"))
    assert [article.text for article in read_dump(path, 10**6)] == ["xy shown"]


def test_the_names_of_another_wiki_are_not_hidden_here(tmp_path):
    path = dump(tmp_path, page(text="x [[Thể loại:Y]]"))
    assert [article.text for article in read_dump(path, 10**6)] == ["x Thể loại:Y"]


@pytest.mark.parametrize("name", ["dump.xml.gz", "dump.xml.7z"])
def test_other_packings_are_refused_with_the_remedy(tmp_path, name):
    with pytest.raises(ValueError, match=f"{name}: only .bz2 and plain XML are read; unpack it"):
        list(read_dump(dump(tmp_path, page(), name=name), 10**6))


def test_redirects_and_other_namespaces_are_dropped(tmp_path):
    path = dump(tmp_path, page(1), page(2, namespace=4), page(3, redirect='<redirect title="T1" />'), page(4))
    assert list(read_dump(path, 10**6)) == [Article(1, "T1", 101, "Some words."), Article(4, "T4", 104, "Some words.")]


def test_several_bz2_streams_are_one_dump(tmp_path):
    xml = dump(tmp_path, page(1), page(2)).read_bytes()
    path = tmp_path / "dump.xml.bz2"
    path.write_bytes(bz2.compress(xml[:150]) + bz2.compress(xml[150:]))
    assert [article.page_id for article in read_dump(path, 10**6)] == [1, 2]


def test_memory_stays_far_below_the_size_of_the_dump(tmp_path):
    remark = f"&lt;!-- {'word ' * 2000} --&gt; x"  # long to read, quick to clean
    path = dump(tmp_path, *(page(number, text=remark) for number in range(1000)))
    tracemalloc.start()
    count = sum(1 for _ in read_dump(path, 10**8))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 1000
    assert peak < path.stat().st_size / 10


def test_a_bz2_bomb_stops_at_the_cap(tmp_path):
    path = dump(tmp_path, page(text="0" * 50_000_000), name="bomb.xml.bz2")
    assert path.stat().st_size < 1000
    with pytest.raises(ValueError, match=r"bomb.xml.bz2.* 1000000 bytes .*fetch_corpus.max_bytes"):
        list(read_dump(path, 1_000_000))


def test_the_cap_is_the_last_size_that_passes(tmp_path):
    path = dump(tmp_path, page())
    assert len(list(read_dump(path, path.stat().st_size))) == 1
    with pytest.raises(ValueError, match="max_bytes"):
        list(read_dump(path, path.stat().st_size - 1))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize("subset", ["", '[<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]', 'SYSTEM "file:///etc/passwd"'])
def test_any_document_type_is_refused(tmp_path, subset, encoding):
    path = dump(tmp_path, page(text="&b;" if "ENTITY" in subset else "x"), head=f"<!DOCTYPE bomb {subset}>")
    path.write_bytes(path.read_text().encode(encoding))
    with pytest.raises(ValueError, match="dump.xml.*document type 'bomb'"):
        list(read_dump(path, 10**6))


@pytest.mark.parametrize("name", ["dump.xml", "dump.xml.bz2"])
@pytest.mark.parametrize("kept", [0, 20, 100, -1])
def test_a_truncated_dump_is_refused(tmp_path, name, kept):
    path = dump(tmp_path, page(), name=name)
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(ValueError, match=f"{name}: damaged dump"):
        list(read_dump(path, 10**6))


@pytest.mark.parametrize("tail", ["<page>", "</page>", "&undeclared;", "\x00", "a page of the web"])
def test_malformed_xml_and_what_is_not_bz2_are_refused(tmp_path, tail):
    path = dump(tmp_path, page(), tail)
    if tail == "a page of the web":
        path = path.rename(tmp_path / "dump.xml.bz2")
    with pytest.raises(ValueError, match=f"{path.name}: damaged dump"):
        list(read_dump(path, 10**6))


def test_a_page_without_a_field_is_refused(tmp_path):
    path = dump(tmp_path, page().replace("<ns>0</ns>", ""))
    with pytest.raises(ValueError, match="dump.xml.*'T1' has no ns"):
        list(read_dump(path, 10**6))


def test_a_missing_dump_says_so(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere.xml"):
        list(read_dump(tmp_path / "nowhere.xml", 10**6))
