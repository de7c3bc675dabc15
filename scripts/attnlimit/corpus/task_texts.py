"""The texts that a downstream task asks about: blocks of the corpus, two or more an article, or labelled texts."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import xarray as xr

from attnlimit.corpus.location import MARKS

FEWEST_ARTICLES = 2  # one alone would always be found


class Texts(NamedTuple):
    """Token ids of each text, the number of its class, and whether it only teaches the probe."""

    tokens: list[np.ndarray]
    label: list[int]
    training: list[bool]


def blocks_of_articles(page_id: np.ndarray, sizes: np.ndarray, wanted: int, shortest: int) -> np.ndarray:
    """Numbers of at most `wanted` blocks (block,), increasing, of articles that have two or more such blocks.

    page_id and sizes (block,) are those of the population, whose blocks are in random order: articles are taken as they
    come, whole, while they fit. Blocks below `shortest` tokens are left out before.
    """
    long = np.flatnonzero(sizes >= shortest)
    chosen: list[int] = []
    pages = list(dict.fromkeys(page_id[long]))
    for page in pages:
        own = long[page_id[long] == page]
        if len(own) > 1 and len(chosen) + len(own) <= wanted:
            chosen += own.tolist()
    found = len(set(page_id[chosen]))
    if found < FEWEST_ARTICLES:
        raise ValueError(
            f"measure_downstream: {found} articles with two or more blocks of {shortest} tokens among {len(pages)}; "
            "raise tokenize_corpus.population or measure_downstream.texts, or lower measure_downstream.shortest"
        )
    return np.sort(chosen)


def opening(pieces: np.ndarray, marks: tuple[int, int], block: int) -> np.ndarray:
    """The first block of a text (token,): opening mark, as many word pieces as fit, closing mark."""
    return np.concatenate([[marks[0]], pieces[: block - MARKS], [marks[1]]]).astype(np.int32)


def choose_labelled(
    labels: Sequence[int],
    read: Callable[[list[int]], list[np.ndarray]],
    wanted: tuple[int, int],
    shortest: int,
    stream: np.random.Generator,
) -> tuple[Texts, int]:
    """So many texts to ask about and so many that teach (`wanted`), drawn at random; and how many were too short.

    labels: the class of every row; read: the tokens of rows by their numbers. A text with fewer than `shortest` tokens
    is passed over.
    """
    asked, teaching = wanted
    tokens: list[np.ndarray] = []
    rows: list[int] = []
    order, short = stream.permutation(len(labels)).tolist(), 0
    while len(rows) < asked + teaching and order:
        batch, order = order[: asked + teaching - len(rows)], order[asked + teaching - len(rows) :]
        for row, text in zip(batch, read(batch), strict=True):
            if len(text) >= shortest:
                rows.append(row)
                tokens.append(text)
            else:
                short += 1
    if len(rows) < asked + teaching:
        raise ValueError(
            f"measure_downstream.texts: {asked} and {teaching} for training, but the file has {len(rows)} texts of "
            f"{shortest} tokens or more; lower texts, training or shortest"
        )
    training = [number >= asked for number in range(len(rows))]
    return Texts(tokens, [labels[row] for row in rows], training), short


def require_taught(texts: Texts, classes: Sequence[str]) -> None:
    """Raise at a class that is asked about and never taught: a probe would never answer it."""
    pairs = list(zip(texts.label, texts.training, strict=True))
    taught = {label for label, training in pairs if training}
    missing = sorted({label for label, training in pairs if not training} - taught)
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


def tokens_of(dataset: xr.Dataset) -> list[np.ndarray]:
    """Token ids of each text."""
    ends = np.flatnonzero(np.diff(dataset["text_of_token"].values)) + 1
    return np.split(dataset["token_id"].values, ends)
