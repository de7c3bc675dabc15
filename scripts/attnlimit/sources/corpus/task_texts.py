"""The texts that a downstream task asks about: blocks of the corpus, several an article, or labelled texts."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
import xarray as xr

from attnlimit.sources.corpus.blocks import cut
from attnlimit.sources.corpus.location import MARKS

FEWEST_ARTICLES = 2  # one alone would always be found


class Wanted(NamedTuple):
    """How many texts are asked about, of how many tokens, marks included; blocks of each article; training texts."""

    texts: int
    shortest: int
    longest: int
    per_article: int
    training: int

    @classmethod
    def of(cls, section: dict, lengths: tuple[int, int]) -> "Wanted":
        """From the config section and the resolved lengths; only the task `labels` has training texts."""
        training = section["training"] if section["task"] == "labels" else 0
        return cls(section["texts"], *lengths, section["per_article"], training)


class Texts(NamedTuple):
    """Token ids of each text, the number of its class, and whether it is a training text of the probe."""

    tokens: list[np.ndarray]
    label: list[int]
    training: list[bool]


def choose_blocks_of_articles(
    pieces: Iterable[np.ndarray], marks: tuple[int, int], wanted: Wanted, stream: np.random.Generator
) -> tuple[Texts, list[int]]:
    """Blocks of articles, which are their own labels, each with as many; and the numbers of these articles.

    pieces: word pieces of articles in random order, read until there are texts enough. Of each that has as many blocks
    of the wanted length, `per_article` are drawn; others are passed over. The last article is left out where it would
    exceed the wanted number.
    """
    texts, articles = Texts([], [], []), list[int]()
    for number, article in enumerate(pieces):
        if len(texts.tokens) + wanted.per_article > wanted.texts:
            break
        blocks = cut(np.array([len(article)]), wanted.longest)
        blocks = blocks.take(np.flatnonzero(blocks.size + MARKS >= wanted.shortest))
        if len(blocks.size) < wanted.per_article:
            continue
        for place in np.sort(stream.choice(len(blocks.size), wanted.per_article, replace=False)):
            texts.tokens.append(opening(article[blocks.start[place] :], marks, wanted.longest))
            texts.label.append(len(articles))
            texts.training.append(False)
        articles.append(number)
    if len(articles) < FEWEST_ARTICLES:
        raise ValueError(
            f"measure_downstream.per_article: {len(articles)} articles have {wanted.per_article} blocks of "
            f"{wanted.shortest} tokens or more, {FEWEST_ARTICLES} are needed; lower measure_downstream.longest and "
            "shortest, take a larger corpus, or leave whole_model out of chapters"
        )
    return texts, articles


def opening(pieces: np.ndarray, marks: tuple[int, int], longest: int) -> np.ndarray:
    """The first block of a text (token,): opening mark, as many word pieces as fit, closing mark."""
    return np.concatenate([[marks[0]], pieces[: longest - MARKS], [marks[1]]]).astype(np.int32)


def choose_labelled(
    labels: Sequence[int], read: Callable[[list[int]], list[np.ndarray]], wanted: Wanted, stream: np.random.Generator
) -> tuple[Texts, int]:
    """Texts to ask about, then training texts, drawn at random; and how many were too short and passed over.

    labels: the class of every row; read: the tokens of rows by their numbers.
    """
    needed = wanted.texts + wanted.training
    tokens: list[np.ndarray] = []
    rows: list[int] = []
    order, short = stream.permutation(len(labels)).tolist(), 0
    while len(rows) < needed and order:
        batch, order = order[: needed - len(rows)], order[needed - len(rows) :]
        for row, text in zip(batch, read(batch), strict=True):
            if len(text) >= wanted.shortest:
                rows.append(row)
                tokens.append(text)
            else:
                short += 1
    if len(rows) < needed:
        raise ValueError(
            f"measure_downstream.texts: {wanted.texts} and {wanted.training} for training, but the file has "
            f"{len(rows)} texts of {wanted.shortest} tokens or more; lower texts, training or shortest"
        )
    training = [number >= wanted.texts for number in range(len(rows))]
    return Texts(tokens, [labels[row] for row in rows], training), short


def require_training(texts: Texts, classes: Sequence[str]) -> None:
    """Raise if a class of the tested texts is in no training text: a probe would never predict it."""
    pairs = list(zip(texts.label, texts.training, strict=True))
    trained = {label for label, training in pairs if training}
    missing = sorted({label for label, training in pairs if not training} - trained)
    if missing:
        raise ValueError(
            f"measure_downstream.training: no training text has the label {classes[missing[0]]!r:.40}; raise training"
        )


def texts_dataset(texts: Texts) -> xr.Dataset:
    """The texts end to end along `token`."""
    sizes = [len(text) for text in texts.tokens]
    return xr.Dataset(
        {
            "token_id": ("token", np.concatenate(texts.tokens)),
            "text_of_token": ("token", np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)),
            "label": ("text", np.array(texts.label, dtype=np.int64)),
            "training": ("text", np.array(texts.training, dtype=bool)),
        },
        coords={"text": np.arange(len(sizes))},
    )
