"""Which texts a task asks about."""

import numpy as np
import pytest

from attnlimit.questions.downstream.measure import tokens_of
from attnlimit.sources.corpus.task_texts import (
    Texts,
    Wanted,
    choose_blocks_of_articles,
    choose_labelled,
    require_training,
    texts_dataset,
)

MARKS = (101, 102)
WANTED = Wanted(texts=6, shortest=8, longest=10, per_article=2, training=0)


def stream():
    return np.random.default_rng(3)


def pieces(*lengths):
    return [np.arange(length) + 1000 * number for number, length in enumerate(lengths, 1)]


def test_every_article_has_as_many_blocks_and_short_ones_have_none():
    """Blocks of 8 pieces and 2 marks; the second article has one block, the third a last one of 5 tokens."""
    texts, articles = choose_blocks_of_articles(pieces(40, 9, 19, 16, 80, 80), MARKS, WANTED, stream())
    assert articles == [0, 2, 3] and texts.label == [0, 0, 1, 1, 2, 2]
    for tokens, label in zip(texts.tokens, texts.label, strict=True):
        assert (tokens[0], tokens[-1]) == MARKS and len(tokens) == 10
        assert (tokens[1:-1] // 1000 == articles[label] + 1).all()
        np.testing.assert_array_equal(np.diff(tokens[1:-1]), 1)
        assert (tokens[1] % 1000) % 8 == 0  # where a block begins
    assert not np.array_equal(texts.tokens[0], texts.tokens[1])


def test_an_article_with_one_block_makes_no_task():
    with pytest.raises(ValueError, match="1 articles have 2 blocks of 8 tokens or more, 2 are needed; lower"):
        choose_blocks_of_articles(pieces(40, 9, 8), MARKS, WANTED, stream())


def test_labelled_texts_are_drawn_once_each_and_short_ones_passed_over():
    labels = [number % 3 for number in range(12)]
    lengths = [9] * 9 + [4] * 3

    def read(rows):
        return [np.full(lengths[row], row) for row in rows]

    texts, short = choose_labelled(labels, read, WANTED._replace(texts=5, training=4), stream())
    rows = [int(tokens[0]) for tokens in texts.tokens]
    assert sorted(rows) == list(range(9)) and short == 3
    assert texts.label == [labels[row] for row in rows] and texts.training == [False] * 5 + [True] * 4
    with pytest.raises(ValueError, match="5 and 5 for training, but the file has 9 texts of 8 tokens or more"):
        choose_labelled(labels, read, WANTED._replace(texts=5, training=5), stream())


def test_only_labels_are_taught():
    section = {"texts": 6, "per_article": 2, "training": 7}
    training = [Wanted.of(section | {"task": task}, (8, 10)).training for task in ("labels", "retrieval", "classifier")]
    assert training == [7, 0, 0]
    assert Wanted.of(section | {"task": "retrieval"}, (8, 10)) == WANTED


def test_a_class_that_is_never_taught_is_refused():
    texts = Texts([np.zeros(3)] * 3, [0, 1, 0], [False, False, True])
    with pytest.raises(ValueError, match="no training text has the label 'cat'; raise training"):
        require_training(texts, ["dog", "cat"])
    require_training(texts._replace(label=[0, 0, 0]), ["dog", "cat"])


def test_texts_come_back_as_they_were():
    tokens = [np.arange(3), np.arange(5), np.arange(1)]
    for found, expected in zip(tokens_of(texts_dataset(Texts(tokens, [0, 1, 0], [False] * 3))), tokens, strict=True):
        np.testing.assert_array_equal(found, expected)
