"""Samples of neighbouring tokens: runs of consecutive tokens, so placed that every token is equally likely.

Theory draws tokens one by one. A model reads neighbours: here a sample of n tokens is made of n / g runs of g tokens
each, at random places of the population; g = 1 is the plain draw. `document`: all runs of a sample from one article.
"""

from typing import NamedTuple

import numpy as np
import xarray as xr

from attnlimit.base.seeds import generator

DOCUMENT = "document"
MOST_REPEATED = 0.5  # share of the tokens in blocks shorter than a run, above which runs are mostly repetitions


class Text(NamedTuple):
    """Where the tokens of the population stand."""

    block: np.ndarray  # (token,): the block of each
    first: np.ndarray  # (block,): number of its first token
    size: np.ndarray  # (block,): its tokens, marks among them
    article: np.ndarray  # (block,)

    @classmethod
    def of(cls, blocks: xr.Dataset) -> "Text":
        """From the store that tokenize_corpus writes."""
        block = blocks["block_of_token"].values
        size = np.bincount(block)
        return cls(block, np.cumsum(size) - size, size, blocks["page_id"].values)


class Run(NamedTuple):
    """How the tokens of a sample neighbour each other."""

    name: str  # the length in digits, or DOCUMENT
    length: int  # g
    one_article: bool

    @classmethod
    def of(cls, name: int | str, document_run: int) -> "Run":
        """As the config has it: a length, or `document` with runs of document_run tokens."""
        return cls(str(name), document_run, True) if name == DOCUMENT else cls(str(name), int(name), False)

    def sizes(self, sizes: list[int]) -> list[int]:
        """Those of at least one whole run: at smaller n there is no such sample, and a store has NaN."""
        return [size for size in sizes if size >= self.length]


def runs_at(tokens: np.ndarray, length: int, text: Text) -> np.ndarray:
    """The runs (run, length) that tokens (run,) pick: token numbers, each run within one block.

    In a block of L tokens, runs of g start at the multiples of d = gcd(g, L); one that passes the block's end
    continues at its beginning.  So each token lies in g / d of the L / d runs, counted as often as it occurs.  A token
    x picks the run that starts at x or next before it: d tokens pick each run, so that with x uniform over N tokens

        E[occurrences of any token] = (g / d) (d / N) = g / N,

    the same for all, and attention over the population stays the exact limit.  Uniform starts without the circle would
    make tokens near the edges of a block rarer.  Where g divides L, as powers of two do in full blocks, no run wraps;
    in a block shorter than g, tokens occur more than once in a run.
    """
    block = text.block[tokens]
    first, size = text.first[block], text.size[block]  # (run,)
    step = np.gcd(length, size)
    start = (tokens - first) // step * step
    return first[:, None] + (start[:, None] + np.arange(length)) % size[:, None]


def sample(run: Run, tokens: int, text: Text, seed: int, layer: int, replicate: int) -> np.ndarray:
    """Numbers of so many tokens, run after run: the first n, for n a multiple of the run, are the sample of size n.

    The article of `document` is that of a uniform token, so that articles count by their tokens and every token
    remains equally likely.  Each run length has a stream of its own: its samples are independent of the others'.
    """
    stream = generator(seed, f"measure_contexts {run.name}", layer, replicate)
    places = np.arange(len(text.block))
    if run.one_article:
        chosen = text.article[text.block[stream.integers(len(places))]]
        places = np.flatnonzero((text.article == chosen)[text.block])
    picked = places[stream.integers(len(places), size=tokens // run.length)]
    return runs_at(picked, run.length, text).ravel()


def repeated_share(run: Run, text: Text) -> float:
    """Share of the tokens that stand in blocks shorter than the run, where it repeats them."""
    return float(text.size[text.size < run.length].sum() / text.size.sum())


def require_runs(runs: list[Run], text: Text) -> None:
    """Refuse runs that this text does not have."""
    for run in runs:
        if repeated_share(run, text) > MOST_REPEATED:
            raise ValueError(
                f"config: measure_contexts.runs: {run.length} tokens, but most of the text stands in shorter blocks, "
                f"the longest of {text.size.max()}; take shorter runs, or leave contexts out of chapters"
            )
        if run.one_article and len(np.unique(text.article)) == 1:
            raise ValueError("config: measure_contexts.runs: document, but the text is one article; leave it out")


def join_runs(runs: list[Run], errors: list[xr.Dataset], text: Text) -> xr.Dataset:
    """The errors of one layer along `run`; NaN at sizes below a run. What does not depend on it is kept once."""
    changing = [str(name) for name, array in errors[0].data_vars.items() if {"replicate", "group"} & set(array.dims)]
    joined = xr.concat([each[changing] for each in errors], "run", join="outer")
    facts = {"run_length": [run.length for run in runs], "repeated_share": [repeated_share(run, text) for run in runs]}
    return (
        joined.assign_coords(run=[run.name for run in runs])
        .assign({name: ("run", values) for name, values in facts.items()})
        .assign(errors[0].drop_vars(changing).drop_dims(["n", "feature"], errors="ignore"))
    )
