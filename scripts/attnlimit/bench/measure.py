"""Time, error and memory of the contenders, side by side. Run as a program, it measures one peak of memory."""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch.nn import functional

from attnlimit.attention.kernel import Heads, output_moments, output_shift
from attnlimit.attention.streaming import Atoms, Pass, limit_blocks
from attnlimit.bench.contenders import dense, exact, fused, ours, prepare, published
from attnlimit.parts import cuts
from attnlimit.rates.power_law import fit
from attnlimit.theory.moments import merge_all


class Case(NamedTuple):
    """Samples of a pool at nested sizes, or (one size) the limit over a whole population of counted atoms."""

    name: str
    tokens: np.ndarray  # (token, feature)
    heads: Heads
    rows: np.ndarray  # sample: rows drawn;  limit: rows that stand for the population
    sizes: list[int]  # sample: n;  limit: block size
    counts: np.ndarray | None = None  # limit: tokens that each row stands for
    affordable: bool = True  # whether the formula in float64 is


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
    """Counted atoms, as compute_limits goes through them; `blocks` stops after so many blocks of queries."""
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


def run_case(case: Case, repeats: int, generator: np.random.Generator) -> list[dict]:
    """One record a contender: best of several, in shuffled order, so that a slow moment of the machine hits all."""
    methods = limit_contenders(case) if is_limit(case) else sample_contenders(case)
    turns = generator.permutation(np.repeat(list(methods), repeats))
    seconds, results = dict.fromkeys(methods, np.inf), {}
    for name in map(str, turns):
        start = time.perf_counter()
        results[name] = methods[name]()
        seconds[name] = min(seconds[name], time.perf_counter() - start)
    exact_moments = truth(case) if case.affordable else None
    errors = {name: worst_errors(moments, exact_moments) for name, moments in results.items()}
    return [
        {
            "case": case.name,
            "contender": name,
            "seconds": seconds[name],
            "speedup_over_published": seconds["published"] / seconds[name] if "published" in seconds else None,
            "speedup_over_fused": seconds["fused"] / seconds[name],
            "error_mean": errors[name][0],
            "error_cov": errors[name][1],
            "peak_mb": peak_megabytes(case, name),
            "exponent": None,
        }
        for name in methods
    ]


def truth(case: Case) -> list:
    """Moments at each size by the dense formula in float64."""
    if is_limit(case):
        return [exact(case.tokens, case.heads, np.arange(len(case.tokens)), len(case.tokens))]
    return [exact(case.tokens, case.heads, case.rows, size) for size in case.sizes]


def worst_errors(results: list, exact_moments: list | None) -> tuple[float | None, float | None]:
    """Largest relative error of mean and covariance over the sizes."""
    if exact_moments is None:
        return None, None
    errors = [
        [np.linalg.norm(ours - theirs) / np.linalg.norm(theirs) for ours, theirs in zip(moments, expected, strict=True)]
        for moments, expected in zip(results, exact_moments, strict=True)
    ]
    return tuple(np.max(errors, axis=0).tolist())


def peak_megabytes(case: Case, contender: str, blocks: int | None = None) -> float:
    """Peak resident memory of a process of its own that does just this, interpreter and torch (about 300) included."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "case.npz")
        arrays = {f"head_{name}": array for name, array in case.heads._asdict().items()}
        counts = {} if case.counts is None else {"counts": case.counts}
        np.savez(path, allow_pickle=False, tokens=case.tokens, rows=case.rows, sizes=case.sizes, **arrays, **counts)
        command = [sys.executable, "-m", "attnlimit.bench.measure", str(path), contender, json.dumps(blocks)]
        environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)  # noqa: S603  # ours
        return float(done.stdout)


def measure_peak(path: str, contender: str, blocks: str) -> float:
    data = np.load(path)
    heads = Heads(*(data[f"head_{name}"] for name in Heads._fields))
    counts = data.get("counts")
    case = Case("", data["tokens"], heads, data["rows"], data["sizes"].tolist(), counts)
    if json.loads(blocks) is not None:
        our_limit(case, json.loads(blocks))
    else:
        (limit_contenders(case) if is_limit(case) else sample_contenders(case))[contender]()
    return high_water_mark() / 1024


def high_water_mark() -> int:
    """Peak resident kilobytes of this process. Linux's ru_maxrss is that of the parent when it started this one."""
    status = Path("/proc/self/status")
    if status.exists():
        return int(next(line.split()[1] for line in status.read_text().splitlines() if line.startswith("VmHWM")))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024  # bytes on macOS


def roofline(repeats: int) -> tuple[float, float]:
    """Fastest float32 matrix product (flops a second) and exponential (elements a second) that torch shows here."""
    matrix, vector = torch.randn(2048, 2048), torch.randn(2**16)
    product = min(clock(lambda: matrix @ matrix) for _ in range(repeats))
    exponential = min(clock(lambda: [vector.exp() for _ in range(200)]) for _ in range(repeats))
    return 2 * 2048**3 / product, 200 * 2**16 / exponential


def clock(work: Callable) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def ideal_seconds(case: Case, contender: str, flops: float, exponentials: float) -> float:
    """Least time for one pass over all pairs: 4 n^2 D flops or n^2 h exponentials, whichever takes longer.

    n is the largest size; for a limit the number of tokens, or of the atoms that stand for them.
    """
    heads, width = case.heads.query_weight.shape[:2]
    n = (len(case.rows) if contender == "ours" else len(case.tokens)) if is_limit(case) else case.sizes[-1]
    return n**2 * heads * max(4 * width / flops, 1 / exponentials)


def growth(name: str, numbers: list[int], work: Callable[[int], Callable], repeats: int) -> dict:
    """Seconds of `work` fitted as a power of its size."""
    seconds = []
    for number in numbers:
        task = work(number)
        seconds.append(min(clock(task) for _ in range(repeats)))
    exponent = -float(fit(np.array(numbers), np.array(seconds), np.ones(len(numbers)))["beta"])
    empty = dict.fromkeys(("speedup_over_published", "speedup_over_fused", "error_mean", "error_cov", "peak_mb"))
    record = {"case": name, "contender": "ours", "seconds": seconds[-1], **empty}
    return record | {"fraction_of_roofline": None, "exponent": exponent}


if __name__ == "__main__":
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    print(measure_peak(*sys.argv[1:]))
