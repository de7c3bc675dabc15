"""One layer's limit from all queries, from some, and from some and a surrogate: processor time, and how far off."""

from functools import partial

import numpy as np
import torch

from attnlimit.attention.kernel import fourth_moment, output_moments, output_shift
from attnlimit.attention.streaming import BLOCKS_AT_ONCE, Atoms, Pass, limit_blocks
from attnlimit.base.parts import cuts
from attnlimit.base.seeds import generator
from attnlimit.bench.measure import Case
from attnlimit.bench.rounds import clock
from attnlimit.sampling.errors import sampling_error, units_of
from attnlimit.sampling.limits import centre_of
from attnlimit.sampling.merging import merge_surrogate
from attnlimit.sampling.surrogate_limits import (
    Drawn,
    draw,
    fitted_surrogate,
    joined_outputs,
    output_part,
    stored_surrogate,
    surrogate_part,
)
from attnlimit.theory.moments import Moments, merge_all

KINDS = ("mean", "cov")
EMPTY = dict.fromkeys(f"{what}_{kind}" for kind in KINDS for what in ("stated", "off"))
HEAD = ("N", "queries", "core-seconds", "mean: stated", "off", "covariance: stated", "off")
NOTE = "errors of a limit: medians over heads (worst), over the spread of the outputs and the norm of their covariance"


def limits_of(
    case: Case, is_mark: np.ndarray, drawn: list[int], in_full: bool, stream: np.random.Generator
) -> list[dict]:
    """One record a way: all queries, and for each number of drawn ones without and with a surrogate.

    in_full: all queries are gone through, so that the others can be compared with the exact limit; else only one group
    of blocks is timed, and the others take as long.
    """
    tokens, heads, (block,) = case.tokens, case.heads, case.sizes
    keys = Atoms(lambda cut: tokens[cut], np.ones(len(tokens)))
    how = Pass(heads, centre_of(keys, block), block, "cpu", "float32")
    blocks = cuts(len(tokens), block)
    some = blocks if in_full else blocks[:BLOCKS_AT_ONCE]
    seconds, exact = clock(lambda: merge_all(part for part, _ in limit_blocks(keys, keys, some, how)))
    records = [entry(case, "all", len(tokens), seconds * len(blocks) / len(some))]
    for queries in drawn:
        records += drawn_limits(case, is_mark, queries, how, exact if in_full else None, stream)
    return records


def drawn_limits(
    case: Case, is_mark: np.ndarray, queries: int, how: Pass, exact: Moments | None, stream: np.random.Generator
) -> list[dict]:
    """From the same drawn queries: their own moments, and with a surrogate for the others."""
    tokens, count = case.tokens, len(case.heads.query_weight)
    keys = Atoms(lambda cut: tokens[cut], np.ones(len(tokens)))
    asked = draw(is_mark, queries, stream)
    seconds, part = clock(partial(output_part, keys, asked, tokens.__getitem__, 0, 1, how))
    outputs, drawn = joined_outputs([part])
    rows = torch.as_tensor(outputs["output"].values[in_proportion(drawn)])
    by_head = rows.unflatten(1, (count, -1)).transpose(0, 1)  # (head, query, width)
    plain = output_moments(by_head)
    stated = sampling_error(plain, fourth_moment(by_head, torch.ones(len(rows)), plain.mean), len(rows), len(tokens))

    def with_surrogate():
        fitted = fitted_surrogate(outputs["output"].values, drawn, keys, tokens.__getitem__, how)
        return merge_surrogate(
            [surrogate_part(keys, stored_surrogate(fitted, how), 0, 1, how, lambda _: stream)], fitted
        )

    further, limit = clock(with_surrogate)
    whole = Moments(
        1.0, limit["limit_mean"].values - output_shift(how.heads, how.centre), limit["limit_covariance"].values
    )
    stated_too = (limit["limit_mean_se"].values, limit["limit_covariance_se"].values)
    ways = (("drawn alone", seconds, plain, stated), ("surrogate", seconds + further, whole, stated_too))
    return [
        entry(case, name, queries, spent) | errors(found, said, exact or whole, exact is not None, count)
        for name, spent, found, said in ways
    ]


def in_proportion(drawn: Drawn) -> np.ndarray:
    """Which of the queries are a fair sample: strata that were drawn more often than others lose the rest."""
    counts = np.bincount(drawn.stratum)
    kept = np.floor(drawn.sizes * (counts / drawn.sizes).min() + 1e-9)  # of each stratum
    rank = np.zeros(len(drawn.number))
    for stratum, count in enumerate(counts):
        rank[drawn.stratum == stratum] = generator(0, "bench", stratum).permutation(count)
    return np.flatnonzero(rank < kept[drawn.stratum])


def errors(found: Moments, stated: tuple, limit: Moments, is_exact: bool, heads: int) -> dict:
    """Median and largest over heads, of what is stated and, beside an exact limit, of how far off it is."""
    units = units_of(len(limit.mean), heads)[:-1]
    blocks = [limit.covariance[unit, unit] for unit in units]
    scales = np.sqrt([np.trace(block) for block in blocks]), np.array([np.linalg.norm(block) for block in blocks])
    ways = {"stated": tuple(each[:heads] for each in stated)}
    if is_exact:
        ways["off"] = (
            np.array([np.linalg.norm(found.mean[unit] - limit.mean[unit]) for unit in units]),
            np.array([np.linalg.norm((found.covariance - limit.covariance)[unit, unit]) for unit in units]),
        )
    return {
        f"{what}_{kind}": both(distance / scale)
        for what, distances in ways.items()
        for kind, distance, scale in zip(KINDS, distances, scales, strict=True)
    }


def both(values: np.ndarray) -> list[float]:
    return [float(np.median(values)), float(values.max())]


def entry(case: Case, way: str, queries: int, seconds: float) -> dict:
    return {"tokens": len(case.tokens), "way": way, "queries": queries, "seconds": seconds} | EMPTY


def table_rows(records: list[dict]) -> list[list[str]]:
    """Rows of a table for people, under HEAD."""
    return [
        [
            f"{record['tokens']:,}",
            "all" if record["way"] == "all" else f"{record['queries']:,}, {record['way']}",
            f"{record['seconds']:.0f}",
            *(cell(record[f"{what}_{kind}"]) for kind in KINDS for what in ("stated", "off")),
        ]
        for record in records
    ]


def cell(numbers: list[float] | None) -> str:
    return "–" if numbers is None else f"{numbers[0]:.2g} ({numbers[1]:.2g})"
