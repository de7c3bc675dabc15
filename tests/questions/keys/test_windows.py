"""Which articles give a window: those that are long enough and not left out, in an order that the seed tells."""

from types import SimpleNamespace

import numpy as np
import pytest

from attnlimit.questions.keys.windows import choose_windows
from support.language import word_tokenizer, words

LENGTHS = {"one": 40, "two": 20, "three": 32, "four": 50}
ARTICLES = [
    SimpleNamespace(title=title, page_id=number, text=words(length, number))
    for number, (title, length) in enumerate(LENGTHS.items())
]


def chosen(**changes):
    section = {"windows": 2, "window": 32, "left_out": ["one"]} | changes
    return choose_windows(ARTICLES, word_tokenizer(), section, np.random.default_rng(5))


def test_windows_are_first_tokens_of_articles_that_are_long_enough_and_not_left_out():
    found = chosen()
    assert set(found["title"].values) == {"three", "four"}
    for row, page in enumerate(found["page_id"].values):
        assert found["token_id"].values[row].tolist() == [int(w[1:]) for w in ARTICLES[page].text.split()[:32]]


def test_texts_too_short_for_so_many_windows_are_told_with_the_remedy():
    with pytest.raises(ValueError, match="prepare_windows.windows: 3, but 2 articles have 32 tokens; lower it or"):
        chosen(windows=3)
