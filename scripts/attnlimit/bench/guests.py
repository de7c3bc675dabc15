"""Other software for attention over many keys, beside the published loop: FlexAttention and KeOps, a round each.

Both compile with g++ at their first call, which is not timed. Neither returns a log-sum-exp beside its output on a CPU,
by which sizes merge: each size is a pass of its own. One that is not available gets a line instead of a record.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import torch
from torch.nn.attention.flex_attention import AuxRequest, flex_attention

from attnlimit.attention.kernel import Projected, output_moments
from attnlimit.bench.contenders import prepare, published
from attnlimit.bench.measure import Case, records_of
from attnlimit.bench.rounds import Elsewhere, run_rounds

KEOPS = "pykeops==2.3"
CANNOT = (
    "published: a pass for each size and head; accumulators of float16",
    "fused: a pass for each size, as torch's public function returns no log-sum-exp, by which sizes merge",
    "flex: a pass for each size; compiles; asked for the log-sum-exp it says: {refusal}",
    "keops: a pass for each size and head, scores without matrix products; compiles",
)


def guest_records(case: Case, environment: Path, generator: np.random.Generator) -> tuple[list[dict], list[str]]:
    """A record of each guest that is here; lines on what each contender cannot do, and which guests are not here."""
    pool, shift = prepare(case.tokens, case.heads)
    sample = pool.take(torch.as_tensor(case.rows))
    methods: dict[str, Callable] = {"published": partial(published, case.tokens, case.heads, case.rows, case.sizes)}
    remarks = [line.format(refusal=flex_refusal() or "nothing, it has it") for line in CANNOT]
    guests: dict[str, Callable] = {"flex": flex, "keops": partial(keops, environment)}
    for name, guest in guests.items():
        try:
            guest(sample, shift, case.sizes[:2])  # compiles
        except (RuntimeError, OSError, subprocess.CalledProcessError) as fault:
            remarks.append(f"{name}: left out, not available here: {reason(fault)}")
        else:
            methods[name] = partial(guest, sample, shift, case.sizes)
    laps, results = run_rounds(methods, 1, generator)
    return [record for record in records_of(case, laps, results) if record["contender"] != "published"], remarks


def reason(fault: Exception) -> str:
    """The last line of what a program or a compiler said."""
    said = getattr(fault, "stderr", None) or str(fault)
    return said.strip().splitlines()[-1] if said.strip() else type(fault).__name__


def flex(sample: Projected, shift: np.ndarray, sizes: list[int]) -> list:
    compiled = torch.compile(flex_attention, dynamic=True)
    results = []
    for size in sizes:
        queries, keys, values = (part[None, :, :size].contiguous() for part in sample)
        with torch.no_grad():
            moments = output_moments(compiled(queries, keys, values, scale=1.0)[0])
        results.append((moments.mean + shift, moments.covariance))
    return results


def flex_refusal() -> str:
    """What FlexAttention says when asked for its log-sum-exp, by the public API; empty where it returns it."""
    tokens = torch.zeros(1, 1, 128, 16)
    try:
        with torch.no_grad():
            compiled = torch.compile(flex_attention)
            compiled(tokens, tokens, tokens, return_aux=AuxRequest(lse=True))  # type: ignore[arg-type]  # torch's overloads
    except RuntimeError as fault:
        lines = str(fault).splitlines()
        return next((line for line in lines if "NotImplemented" in line), lines[0])
    return ""


def keops(environment: Path, sample: Projected, shift: np.ndarray, sizes: list[int]) -> Elsewhere:
    """In a process of its own, in an environment of its own, which is built once."""
    with tempfile.TemporaryDirectory() as folder:
        given, found = Path(folder, "sample.npz"), Path(folder, "moments.npz")
        np.savez(given, sizes=sizes, **{name: part.numpy() for name, part in sample._asdict().items()})
        program = Path(__file__).with_name("keops_program.py")
        told = run([str(keops_python(environment)), str(program), str(given), str(found)])
        with np.load(found) as moments:
            results = list(zip(moments["mean"] + shift, moments["covariance"], strict=True))
    return Elsewhere(json.loads(told.splitlines()[-1]), results)


def keops_python(environment: Path) -> Path:
    python, ready = environment / "bin/python", environment / "ready"
    if not ready.is_file():
        run([sys.executable, "-m", "venv", "--clear", str(environment)])
        run([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", KEOPS])
        ready.touch()
    return python


def run(command: list[str]) -> str:
    environment = os.environ | {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
    environment.pop("PYTHONPATH", None)
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout  # noqa: S603  # ours
