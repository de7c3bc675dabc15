"""Time and error of the contenders, side by side: cases in, records out."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from torch.nn import functional

from attnlimit.attention.kernel import Heads, output_moments, output_shift
from attnlimit.attention.streaming import BLOCKS_AT_ONCE, Atoms, Pass, limit_blocks
from attnlimit.base.parts import cuts
from attnlimit.bench.contenders import dense, exact, fused, ours, prepare, published
from attnlimit.bench.rounds import Lap, Roof, ratios, run_rounds, spread
from attnlimit.stats.power_law import fit
from attnlimit.theory.moments import merge_all


class Case(NamedTuple):
    """Samples of a pool at nested sizes, or (one size) the limit over a whole population of counted atoms."""

    name: str
    tokens: np.ndarray  # (token, feature)
    heads: Heads
    rows: np.ndarray  # sample: rows drawn;  limit: rows that stand for the population
    sizes: list[int]  # sample: n;  limit: block size
    counts: np.ndarray | None = None  # limit: tokens that each row stands for


def record(case: str, contender: str, seconds: list[float], **known: Any) -> dict:
    """One line of the results, every entry there: a number, or the median of several and their quartiles."""
    several = ("speedup_over_published", "speedup_over_fused", "fraction_of_roofline", "exponent")
    entries = {"case": case, "contender": contender, **spread("seconds", seconds)}
    for name in several:
        entries |= spread(name, known.pop(name, None))
    return entries | dict.fromkeys(("error_mean", "error_cov", "peak_mb")) | known


def contenders(case: Case) -> dict[str, Callable]:
    return limit_contenders(case) if is_limit(case) else sample_contenders(case)


def sample_contenders(case: Case) -> dict[str, Callable]:
    """The pool is projected once for all replicates and sizes, outside the clock; the published loop projects anew."""
    pool, shift = prepare(case.tokens, case.heads)
    one_head = len(case.heads.query_weight) == 1
    plain = dense if one_head else published
    return {
        "published": partial(plain, case.tokens, case.heads, case.rows, case.sizes),
        "fused": partial(fused, pool, shift, case.rows, case.sizes),
        "ours": partial(ours, pool, shift, case.rows, case.sizes),
    }


def limit_contenders(case: Case) -> dict[str, Callable]:
    return {"fused": partial(fused_limit, case), "ours": partial(our_limit, case)}


def fused_limit(case: Case) -> list:
    """All tokens as queries and keys in one call."""
    pool, shift = prepare(case.tokens, case.heads)
    queries, keys, values = (part[None] for part in pool)
    output = functional.scaled_dot_product_attention(queries, keys, values, scale=1.0)[0]
    moments = output_moments(output)
    return [(moments.mean + shift, moments.covariance)]


def our_limit(case: Case, blocks: int | None = None) -> list:
    """Counted atoms, as compute_limits goes through them; `blocks` stops after that many blocks of queries."""
    if case.counts is None:
        raise ValueError(f"{case.name}: no counts, which a limit needs")
    (block,) = case.sizes
    atoms = Atoms(lambda cut: case.tokens[case.rows[cut]], case.counts)
    centre = atoms.read(slice(0, block)).mean(0, dtype=np.float64)
    how = Pass(case.heads, centre, block, "cpu", "float32")
    mine = cuts(len(case.rows), block)[:blocks]
    moments = merge_all(part for part, _ in limit_blocks(atoms, atoms, mine, how))
    return [(moments.mean + output_shift(case.heads, centre), moments.covariance)]


def is_limit(case: Case) -> bool:
    return case.counts is not None


def run_case(case: Case, rounds: int, generator: np.random.Generator) -> list[dict]:
    """One record a contender."""
    return records_of(case, *run_rounds(contenders(case), rounds, generator))


def records_of(case: Case, laps: dict[str, list[Lap]], results: dict) -> list[dict]:
    known = truth(case)
    records = []
    for name, own in laps.items():
        mean, cov = worst_errors([results[name][place] for place in known], list(known.values()))
        records.append(
            record(
                case.name,
                name,
                seconds_of(own),
                speedup_over_published=ratios(own, laps["published"]) if "published" in laps else None,
                speedup_over_fused=ratios(own, laps["fused"]) if "fused" in laps else None,
                fraction_of_roofline=[ideal_seconds(case, name, lap.roof) / lap.seconds for lap in own],
                error_mean=mean,
                error_cov=cov,
            )
        )
    return records


def truth(case: Case) -> dict[int, tuple[np.ndarray, np.ndarray]]:
    """Moments by the dense formula in float64, at the first and the last of the sizes, by their places."""
    if is_limit(case):
        return {0: exact(case.tokens, case.heads, np.arange(len(case.tokens)), len(case.tokens))}
    places = 0, len(case.sizes) - 1
    return {place: exact(case.tokens, case.heads, case.rows, case.sizes[place]) for place in places}


def worst_errors(results: list, exact_moments: list) -> tuple[float, float]:
    """Largest relative error of mean and covariance over the sizes."""
    errors = [
        [np.linalg.norm(ours - theirs) / np.linalg.norm(theirs) for ours, theirs in zip(moments, expected, strict=True)]
        for moments, expected in zip(results, exact_moments, strict=True)
    ]
    mean, cov = np.max(errors, axis=0).tolist()
    return mean, cov


def ideal_seconds(case: Case, contender: str, roof: Roof) -> float:
    """Least time for one pass over all pairs: 4 n^2 D flops or n^2 h exponentials, whichever takes longer.

    n is the largest size; for a limit the number of tokens, or of the atoms that stand for them.
    """
    heads, width = case.heads.query_weight.shape[:2]
    n = (len(case.rows) if contender == "ours" else len(case.tokens)) if is_limit(case) else case.sizes[-1]
    return n**2 * heads * max(4 * width / roof.flops, 1 / roof.exponentials)


def large_limit(case: Case, generator: np.random.Generator) -> list[dict]:
    """A population too large to wait for: one group of blocks of queries is timed, the others take as long."""
    (block,) = case.sizes
    laps, _ = run_rounds({"ours": partial(our_limit, case, BLOCKS_AT_ONCE)}, 1, generator)
    groups = len(case.rows) / min(len(case.rows), block * BLOCKS_AT_ONCE)
    return [record(case.name, "ours", [lap.seconds * groups for lap in laps["ours"]])]


def growth(name: str, tasks: dict[int, Callable], rounds: int, generator: np.random.Generator) -> dict:
    """Seconds of tasks, named by their size, fitted as a power of the size, round by round."""
    laps, _ = run_rounds({str(number): task for number, task in tasks.items()}, rounds, generator)
    numbers, ones = np.array(list(tasks)), np.ones(len(tasks))
    each = [np.array([lap.seconds * lap.roof.flops for lap in turn]) for turn in zip(*laps.values(), strict=True)]
    exponents = [-float(fit(numbers, work, ones)["beta"]) for work in each]
    return record(name, "ours", seconds_of(laps[str(max(tasks))]), exponent=exponents)


def seconds_of(laps: list[Lap]) -> list[float]:
    return [lap.seconds for lap in laps]
