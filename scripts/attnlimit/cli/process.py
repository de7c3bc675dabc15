"""Snakemake as a child process: only the lines of its logger plugin are shown, and one signal stops everything.

It has a session of its own, so that Ctrl-C reaches it through this process alone, and its other output, such as the
tracebacks of jobs that are stopped, goes to a temporary file.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from attnlimit.cli.progress import OUTPUT, ROOT
from attnlimit.workflow.holder import hold

PREAMBLE = "Using workflow specific profile"  # printed by every run, before there is a logger
TAIL = 20  # lines of output that are shown of a run that failed
ERROR = re.compile(
    r"^[\w.]*(Error|Exception)(: |$)"
)  # the last line of a traceback, such as numpy._x._ArrayMemoryError: …


def run_with_progress(command: list[str], folder: Path = Path()) -> tuple[int, list[str]]:
    """Exit code and last error of Snakemake, else its last lines; KeyboardInterrupt if a signal stopped it.

    It is recorded in the folder as the one at work there. If it is killed, so are the jobs that it leaves.
    """
    path = os.pathsep.join(filter(None, [str(ROOT / "scripts"), os.environ.get("PYTHONPATH")]))
    sys.stdout.flush()
    out = os.dup(sys.stdout.fileno())
    with tempfile.TemporaryFile("w+", errors="replace") as rest, stop_signals():
        child = subprocess.Popen(  # noqa: S603  # ours
            [*command, "--logger", "attnlimit"],
            stdout=rest,
            stderr=rest,
            env=os.environ | {"PYTHONPATH": path, OUTPUT: str(out)},
            pass_fds=[out],
            start_new_session=True,
            preexec_fn=heed_interrupts,  # noqa: PLW1509  # no threads here
        )
        try:
            with suppress(OSError):  # a folder that cannot be written: Snakemake says so
                hold(folder, child.pid)  # long before it has a lock
            code = child.wait()
        except KeyboardInterrupt:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is stopping: further ones change nothing
            print("stopping: waiting for running jobs to end", file=sys.stderr, flush=True)
            os.killpg(child.pid, signal.SIGINT)
            child.wait()
            raise
        finally:
            os.close(out)
        if code < 0:
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            return code, [f"Snakemake was killed (signal {-code}); finished jobs are kept: give the same command again"]
        rest.seek(0)
        lines = [line for line in rest.read().splitlines() if line.strip() and not line.startswith(PREAMBLE)]
        return code, [line for line in lines if ERROR.match(line)][-1:] or lines[-TAIL:]


def heed_interrupts() -> None:
    """A shell's background job ignores SIGINT, and so would its children, which are stopped by it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextmanager
def stop_signals() -> Iterator[None]:
    """Let `kill` and the end of the terminal stop this process as Ctrl-C does, unless ignored, as under nohup."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.getsignal(number) for number in numbers}
    for number in numbers:
        if before[number] is not signal.SIG_IGN:
            signal.signal(number, stop)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def error_lines(folder: Path, since: float) -> list[str]:
    """The last error in each log that a run wrote, without repeats."""
    lines = set()
    for log in (folder / "results/logs").rglob("*.txt"):
        if log.stat().st_mtime >= since:
            errors = [
                line for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if ERROR.match(line)
            ]
            lines.update(errors[-1:])
    return sorted(lines)
