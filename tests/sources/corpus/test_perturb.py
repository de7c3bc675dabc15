"""Perturbed texts keep what they promise, are the same again, and no source goes around them."""

import runpy
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from attnlimit.base import job
from attnlimit.sources.corpus import open as opening
from attnlimit.sources.corpus.articles import Article, read_articles, read_identity
from attnlimit.sources.corpus.dump import EXCERPT_TITLE, excerpt_path
from attnlimit.sources.corpus.location import PERIOD, PERTURBED, local_files, most_tokens
from attnlimit.sources.corpus.perturb import perturb, perturbed
from support.configs import DEFAULT, ROOT
from support.packages import sha256, wheel

TEXT = 'Birds\nThey sing. "Do they?" They do!  Dr. No (a bird, 3.5 g) does not\n\nEnd'
SENTENCES = ["Birds", "They sing.", '"Do they?"', "They do!", "Dr.", "No (a bird, 3.5 g) does not", "End"]
BULGARIAN = "bgwiki-latest-pages-articles-shortened.xml.bz2"
BULGARIAN_SHA256 = "8c67571ec18cb8f0f77a91ab2ee4a04c9368684358e40b94d95670f909210355"
LETTERS = st.text(alphabet="ab.!?\"' \n\t\u00a0\u2003жц", max_size=300)


def stream(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def split(text: str) -> list[str]:
    """Sentences, by hand: a break is after . ! or ? and what closes, or at the end of a line."""
    found, words = [], []
    for line in text.strip().split("\n"):
        for word in line.split():
            words.append(word)
            if word.rstrip("\"'”’»)]").endswith((".", "!", "?")):
                found.append(" ".join(words))
                words = []
        found += [" ".join(words)] if words else []
        words = []
    return found


@given(LETTERS, st.integers(0, 99))
def test_shuffled_words_are_the_same_words(text, seed):
    assert Counter(perturbed(text, "words", stream(seed)).split()) == Counter(text.split())


@given(LETTERS, st.integers(0, 99))
def test_shuffled_sentences_are_the_same_sentences(text, seed):
    assert Counter(split(perturbed(text, "sentences", stream(seed)))) == Counter(split(text))


def test_what_a_sentence_is():
    orders = {tuple(split(perturbed(TEXT, "sentences", stream(seed)))) for seed in range(50)}
    assert {tuple(sorted(order)) for order in orders} == {tuple(sorted(SENTENCES))}
    assert len(orders) > 1


def test_every_order_of_words_is_as_likely():
    counts = Counter(perturbed("a b c", "words", stream(seed)) for seed in range(6000))
    assert len(counts) == 6 and max(abs(count - 1000) for count in counts.values()) < 5 * (1000 * 5 / 6) ** 0.5


@pytest.mark.parametrize("count", [PERIOD + 1, 2 * PERIOD, 1000])
def test_a_repeated_block_has_its_period(count):
    words = [f"w{number}" for number in range(count)]
    starts = set()
    for seed in range(40):
        found = perturbed(" ".join(words), "repeat", stream(seed)).split()
        start = int(found[0][1:])
        block = words[start : start + PERIOD]
        assert found == (block * (count // PERIOD + 1))[:count]
        starts.add(start)
    assert len(starts) > 1 and max(starts) <= count - PERIOD


@pytest.mark.parametrize("text", ["", "word", "word.", "many words\n\nof few"])
def test_a_text_that_cannot_be_repeated_stays(text):
    assert perturbed(text, "repeat", stream()) == text
    if len(text.split()) < 2:
        assert [perturbed(text, how, stream()) for how in PERTURBED] == [text] * 3


def test_each_text_has_a_stream_of_its_own():
    """One more text changes no other; two of the same words are not shuffled alike."""
    articles = [Article(number, "T", 0, " ".join("abcdefghijkl")) for number in range(3)]
    first, second, third = (article.text for article in perturb(articles, {"name": "x"}, "words", 1))
    assert len({first, second, third}) == 3
    assert [article.text for article in perturb(articles[:2], {"name": "x"}, "words", 1)] == [first, second]
    assert [article.text for article in perturb(articles[:1], {"name": "x"}, "words", 2)] != [first]


def test_an_unknown_perturbation_is_named():
    with pytest.raises(LookupError, match=r"fetch_corpus\.perturb: mirror"):
        perturbed("a b", "mirror", stream())


def test_bytes_of_a_text_do_not_bound_what_is_repeated(tmp_path):
    (tmp_path / "a.txt").write_text("a b c " * 100)
    corpus = {"source": "text", "location": str(tmp_path), "perturb": "words"}
    assert most_tokens(corpus, 64) is not None and most_tokens(corpus | {"perturb": "repeat"}, 64) is None


@pytest.fixture
def fetched(tmp_path, monkeypatch):
    """Runs the script of fetch_corpus; its table of articles."""
    monkeypatch.setattr(job, "open_log", lambda path: None)
    monkeypatch.setenv("RAYON_NUM_THREADS", "1")

    def fetch(name: str, **keys: object) -> Path:
        options = DEFAULT["fetch_corpus"] | keys
        params = {"settings": options, "location": options["location"], "downloads": str(tmp_path)}
        params["seed"] = None if options["perturb"] == "none" else 7
        snakemake = SimpleNamespace(
            params=SimpleNamespace(job=params),
            input=local_files(options),
            output=SimpleNamespace(articles=str(tmp_path / name)),
            log=["log.txt"],
            threads=1,
        )
        runpy.run_path(str(ROOT / "scripts/fetch_corpus.py"), {"snakemake": snakemake})
        return tmp_path / name

    return fetch


@pytest.fixture
def sources(tmp_path, monkeypatch) -> dict[str, dict]:
    """A small corpus of each source."""
    monkeypatch.setenv("ATTNLIMIT_DOWNLOADS", str(tmp_path))
    (tmp_path / "packages").mkdir()
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts/a.txt").write_text(TEXT)
    file, content = wheel({"tiny_texts/a.txt": TEXT.encode(), "tiny_texts/b.txt": b"word"})
    (tmp_path / "packages" / file).write_bytes(content)
    package = {"source": "package", "location": "tiny-texts==1.0", "file": file, "sha256": sha256(content)}
    package |= {"files": "*.txt"}
    parquet.write_table(pa.table({"text": [TEXT, "word"]}), tmp_path / "shard.parquet")
    monkeypatch.setattr(opening, "corpus_files", lambda *_: iter([(tmp_path / "shard.parquet", "0" * 64)]))
    dump = str(excerpt_path().with_name(BULGARIAN))
    return {
        "excerpt": {"source": "excerpt", "characters": 60_000},
        "dump": {"source": "dump", "location": dump, "sha256": BULGARIAN_SHA256, "title": "Bulgarian"},
        "text": {"source": "text", "location": str(tmp_path / "texts")},
        "package": package,
        "hub": {"source": "hub", "location": "tiny/text", "revision": "0" * 40, "files": "*"},
        "mixture": {"source": "mixture", "texts": [package | {"share": 1.0}]},
    }


NAMES = {"excerpt": EXCERPT_TITLE, "dump": "Bulgarian", "text": "texts", "package": "tiny-texts", "hub": "tiny/text"}
NAMES["mixture"] = "mixture of tiny-texts"


@pytest.mark.parametrize("source", NAMES)
def test_every_source_is_perturbed_and_says_so(sources, fetched, source):
    plain = fetched("plain", **sources[source])
    before, named = [each for group in read_articles(plain) for each in group], read_identity(plain)
    assert "perturb" not in named and PERTURBED["words"] not in str(named)
    for how, words in PERTURBED.items():
        path = fetched(how, **sources[source], perturb=how)
        assert path.read_bytes() == fetched("again", **sources[source], perturb=how).read_bytes()
        assert read_identity(path) == named | {"title": f"{NAMES[source]}, {words}", "perturb": how}
        after = [each for group in read_articles(path) for each in group]
        assert [each._replace(text="") for each in after] == [each._replace(text="") for each in before]
        assert [len(each.text.split()) for each in after] == [len(each.text.split()) for each in before]
        for one, other in zip(before, after, strict=True):
            assert (Counter(one.text.split()) == Counter(other.text.split())) or how == "repeat"
        long = how != "repeat" or any(len(each.text.split()) > PERIOD for each in before)
        assert (after != before) == long
