"""Texts -> blocks of tokens, and as many of these as the population needs."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import xarray as xr
from tokenizers import Tokenizer

from attnlimit.sources.corpus.location import MARKS


class Blocks(NamedTuple):
    """Where each block lies: word pieces start : start + size of an article."""

    article: np.ndarray  # (block,)
    start: np.ndarray  # (block,)
    size: np.ndarray  # (block,) without marks

    def take(self, places: np.ndarray) -> "Blocks":
        return Blocks(*(values[places] for values in self))


def load_tokenizer(path: str | Path) -> tuple[Tokenizer, tuple[int, int]]:
    """A prepared tokenizer, its opening and its closing mark."""
    try:
        tokenizer = Tokenizer.from_file(str(path))
        return tokenizer, prepare(tokenizer)
    except LookupError as error:
        raise LookupError(f"{path}: {error}") from None
    except BaseException as error:
        # The library raises the bare Exception, and PanicException, which it does not export.
        if type(error) is not Exception and type(error).__name__ != "PanicException":
            raise
        raise ValueError(f"{path}: no tokenizer ({error}); delete it and run again, or fix the model's own") from error


def prepare(tokenizer: Tokenizer) -> tuple[int, int]:
    """Make the tokenizer give all pieces of a text and nothing else; return its opening and its closing mark."""
    # A tokenizer.json may ask for both, and MiniLM's does: it would cut and fill every text to 128 tokens.
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True  # a "[SEP]" that an author wrote is a word, not a mark
    marks = tokenizer.encode("").ids
    if len(marks) != MARKS:
        raise LookupError(
            f"the tokenizer puts {len(marks)} marks around a text, not an opening and a closing one; "
            "take a model with a tokenizer such as those of BERT, RoBERTa and BigBird"
        )
    opening, closing = marks
    return opening, closing


def word_pieces(texts: list[str], tokenizer: Tokenizer) -> list[np.ndarray]:
    """Token ids of each text (piece,), without marks; the tokenizer is a prepared one."""
    encodings = tokenizer.encode_batch_fast(texts, add_special_tokens=False)
    return [np.array(encoding.ids, dtype=np.int32) for encoding in encodings]


def cut(counts: np.ndarray, block: int, full: bool = False) -> Blocks:
    """Blocks of articles from their numbers of word pieces (article,): block - 2 pieces each.

    The last of an article has fewer; full leaves it out.
    """
    if block <= MARKS:
        raise ValueError(f"tokenize_corpus.block is {block}, but two marks and one word piece need 3")
    most = block - MARKS
    blocks = counts // most if full else -(-counts // most)  # (article,)
    article = np.repeat(np.arange(len(counts)), blocks)
    number = np.arange(len(article)) - np.repeat(np.cumsum(blocks) - blocks, blocks)  # within its article
    start = number * most
    return Blocks(article, start, np.minimum(most, counts[article] - start))


def choose_blocks(blocks: Blocks, population: int, generator: np.random.Generator) -> Blocks:
    """Blocks in random order until they hold `population` tokens, marks among them.

    The order does not depend on `population`: a larger one only adds blocks.
    """
    order = generator.permutation(len(blocks.size))
    reached = np.cumsum(blocks.size[order] + MARKS)
    available = int(reached[-1]) if len(reached) else 0
    if available < population:
        raise ValueError(
            f"tokenize_corpus.population is {population}, but the corpus holds {available} tokens; "
            "lower it or take a larger corpus"
        )
    return blocks.take(order[: int(np.searchsorted(reached, population)) + 1])


def fill(blocks: Blocks, articles: list[np.ndarray], marks: tuple[int, int]) -> np.ndarray:
    """Token ids (token,) of the blocks end to end: opening mark, word pieces, closing mark; never padding."""
    ends = np.cumsum(blocks.size + MARKS)
    tokens = np.empty(ends[-1], dtype=np.int32)
    tokens[ends - blocks.size - MARKS], tokens[ends - 1] = marks
    for article, start, size, end in zip(*blocks, ends, strict=True):
        tokens[end - 1 - size : end - 1] = articles[article][start : start + size]
    return tokens


def blocks_dataset(blocks: Blocks, tokens: np.ndarray, page_ids: np.ndarray, revision_ids: np.ndarray) -> xr.Dataset:
    """Blocks end to end along `token`; `block_of_token` and `position` say where each token stands."""
    sizes = blocks.size + MARKS
    block_of_token = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    first = np.cumsum(sizes) - sizes  # (block,)
    return xr.Dataset(
        {
            "token_id": ("token", tokens),
            "position": ("token", (np.arange(len(tokens)) - first[block_of_token]).astype(np.int16)),
            "block_of_token": ("token", block_of_token),
            "page_id": ("block", page_ids[blocks.article]),
            "revision_id": ("block", revision_ids[blocks.article]),
        }
    )
