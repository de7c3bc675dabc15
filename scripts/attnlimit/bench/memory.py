"""Peak memory of one contender, in a process of its own: run as a program, it measures its own."""

import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch

from attnlimit.attention.kernel import Heads
from attnlimit.bench.measure import Case, contenders, our_limit


def peak_megabytes(case: Case, contender: str, blocks: int | None = None) -> float:
    """Peak resident memory of a process that does just this, interpreter and torch (about 300) included.

    `blocks` stops a limit after that many blocks of queries.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "case.npz")
        arrays = {f"head_{name}": array for name, array in case.heads._asdict().items()}
        counts = {} if case.counts is None else {"counts": case.counts}
        np.savez(path, allow_pickle=False, tokens=case.tokens, rows=case.rows, sizes=case.sizes, **arrays, **counts)
        command = [sys.executable, "-m", "attnlimit.bench.memory", str(path), contender, json.dumps(blocks)]
        environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)  # noqa: S603  # ours
        return float(done.stdout)


def own_peak(path: str, contender: str, blocks: str) -> float:
    data = np.load(path)
    heads = Heads(*(data[f"head_{name}"] for name in Heads._fields))
    case = Case("", data["tokens"], heads, data["rows"], data["sizes"].tolist(), data.get("counts"))
    if json.loads(blocks) is not None:
        our_limit(case, json.loads(blocks))
    else:
        contenders(case)[contender]()
    return high_water_mark() / 1024


def high_water_mark() -> int:
    """Peak resident kilobytes of this process. Linux's ru_maxrss is that of the parent when it started this one."""
    status = Path("/proc/self/status")
    if status.exists():
        return int(next(line.split()[1] for line in status.read_text().splitlines() if line.startswith("VmHWM")))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024  # bytes on macOS


if __name__ == "__main__":
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    print(own_peak(*sys.argv[1:]))
