"""Texts with their words or sentences in another order, or with a block of their words repeated.

The text loaders of the paper's public code do this to the whole corpus. Here each text is perturbed by itself, with a
random stream of its own, so that articles keep their words.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

import numpy as np

from attnlimit.base.seeds import generator
from attnlimit.sources.corpus.articles import Article
from attnlimit.sources.corpus.location import PERIOD, perturbed_name, text_name

WORD = re.compile(r"\S+\s*")  # with the white space that follows it
END = re.compile(r"""[.!?]["'”’»)\]]*\s|\n""")  # of a sentence, in its last word


def perturb(articles: Iterable[Article], identity: dict, how: str, seed: int) -> Iterator[Article]:
    """The articles perturbed by fetch_corpus.perturb, lazily; the identity gets its new title at once."""
    if how == "none":
        return iter(articles)
    identity |= {"title": perturbed_name(text_name(identity), how), "perturb": how}
    return (
        article._replace(text=perturbed(article.text, how, generator(seed, "fetch_corpus", number)))
        for number, article in enumerate(articles)
    )


def perturbed(text: str, how: str, stream: np.random.Generator) -> str:
    """One text; white space moves with the word before it.

    words, sentences: in random order.  repeat: word k becomes word s + (k mod PERIOD), s random; the number of words
    stays.  A text of at most PERIOD words is not changed.
    """
    # The line end makes the last word end a sentence, and keeps it apart from a word that is moved behind it.
    words = WORD.findall(text.strip() + "\n")
    match how:
        case "words":
            parts = shuffled(words, stream)
        case "sentences":
            parts = shuffled(sentences(words), stream)
        case "repeat":
            start = int(stream.integers(max(len(words) - PERIOD, 0) + 1))
            parts = [words[start + place % PERIOD] for place in range(len(words))]
        case _:
            raise LookupError(f"fetch_corpus.perturb: {how} is not known")
    return "".join(parts).rstrip()


def shuffled(parts: list[str], stream: np.random.Generator) -> list[str]:
    return [parts[place] for place in stream.permutation(len(parts))]


def sentences(words: list[str]) -> list[str]:
    """Words joined up to one that ends a line, or ends in . ! or ?, closing quotes and brackets aside."""
    ends = [place + 1 for place, word in enumerate(words) if END.search(word)]
    return ["".join(words[start:end]) for start, end in pairwise([0, *ends])]
