"""Every variable says in words what it is: by its name, by the ending of its name, or as that of a whole layer."""

import re

import pytest

from attnlimit.base.coordinates import PARTS, STATISTICS
from attnlimit.base.words import ENDINGS, LABELS, words_of
from attnlimit.questions.normality.about import STORES
from attnlimit.questions.normality.measure import COORDINATES

WORDS = {"beta": "rate", "limit_se": "its own", "limit": "the limit", "n": "sample size [tokens]", "mean": "mean"}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("beta", ("rate", "")),
        ("n", ("sample size", "tokens")),
        ("beta_low", ("lower end of the 95 % interval of the rate", "")),
        ("n_low", ("lower end of the 95 % interval of the sample size", "tokens")),
        ("n_local_slope", ("rate between neighbouring sizes, as a power of 1/n: sample size", "")),
        ("mean_value_se", ("standard error of the mean error over replicates: mean", "")),
        ("limit_se", ("its own", "")),  # a name of its own goes before the ending
        *((name, ("", "")) for name in ("bata", "", "_se", "bata_se")),
    ],
)
def test_words_of_a_name(name, words):
    assert words_of(name, WORDS) == words


def test_words_are_there_for_what_the_labels_stand_for():
    coordinate = STORES["rates/normality"]["coordinate"]
    for labels, words in ((STATISTICS, LABELS["statistic"]), (PARTS, LABELS["part"]), (COORDINATES, coordinate)):
        assert all(re.search(rf"\b{label}\b", words) for label in labels), words


def test_endings_are_filled_in():
    assert all(words.count("{}") == 1 for words in ENDINGS.values())
