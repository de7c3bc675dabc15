"""Snakemake in the foreground: what it says becomes lines for a person, and how it is stopped.

It runs in a session of its own behind a pipe. So Ctrl-C reaches it only through us, and what dying jobs print then,
tracebacks of many processes at once, is not shown.
"""

import os
import re
import select
import signal
import subprocess
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path

from attnlimit.cli.lines import Lines, on_terminal

PIECE = 1 << 16
LAST_WORDS = re.compile(r"^[A-Za-z]+(Error|Exception): ")  # of a job, at the start of a line in its log


def watch(command: list[str], folder: Path, seconds: Callable[[str], float], cores: int) -> int:
    """Run Snakemake in the foreground; its exit code. KeyboardInterrupt if we were told to stop, once it has.

    seconds: expected of one job of a rule.
    """
    lines = Lines(folder, seconds, cores, on_terminal())
    code = through(command, lines)
    lines.end(code)
    return code


def through(command: list[str], lines: Lines) -> int:
    """Run a command and hand on what it says."""
    ours, theirs = os.pipe()
    with stoppable():
        child = subprocess.Popen(command, stdout=theirs, stderr=theirs, start_new_session=True)  # noqa: S603  # ours
        os.close(theirs)
        try:
            follow(child, ours, lines.take, lines.tick)
        except KeyboardInterrupt:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is stopping: more of them change nothing
            lines.screen.clear()
            os.killpg(child.pid, signal.SIGINT)
            follow(child, ours, lambda piece: None, lambda: None)
            raise
        finally:
            os.close(ours)
            child.wait()
    return child.returncode


@contextmanager
def stoppable():
    """Let the end of the terminal and `kill` stop us as Ctrl-C does, unless they are ignored, as under nohup."""

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


def follow(child: subprocess.Popen, ours: int, take: Callable[[bytes], None], tick: Callable[[], None]) -> None:
    """Until the child has ended and nothing is left to read; a job that outlives it is not waited for."""
    while True:
        if select.select([ours], [], [], 0.5)[0]:
            if not (piece := os.read(ours, PIECE)):
                return
            take(piece)
        elif child.poll() is not None:
            return
        tick()


def last_words(folder: Path, since: float) -> list[str]:
    """Of each log that a run wrote: the line that names its error, each once."""
    words = set()
    for log in (folder / "results/logs").rglob("*.txt"):
        if log.stat().st_mtime >= since:
            said = [line for line in log.read_text(errors="replace").splitlines() if LAST_WORDS.match(line)]
            words.update(said[-1:])
    return sorted(words)
