"""Snakemake watched while it runs: its bar on a terminal, else a line a finished job; and how it is stopped.

It runs in a session of its own behind a pseudo-terminal or a pipe. So Ctrl-C reaches it only through us, and what dying
jobs print then, tracebacks of many processes at once, is not shown.
"""

import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
import time
from collections import deque
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path

SILENCE = 50.0  # seconds without a line after which we say what runs
PIECE = 1 << 16
LAST_WORDS = re.compile(r"^[A-Za-z]+(Error|Exception): ")  # of a job, at the start of a line in its log
PREAMBLE = ("Using workflow specific profile", "Config file ", "Assuming unrestricted", "Building DAG")


def on_terminal() -> bool:
    return sys.stdout.isatty() and sys.stderr.isatty()


def watch(command: list[str], folder: Path) -> int:
    """Run Snakemake in the foreground; its exit code. KeyboardInterrupt if we were told to stop, once it has."""
    if on_terminal():
        return through(command + ["--logger", "rich"], folder, *pty.openpty(), copy)
    lines = Lines()
    code = through(command, folder, *os.pipe(), lines.take, lines.heartbeat)
    lines.end(code)
    return code


def through(
    command: list[str],
    folder: Path,
    ours: int,
    theirs: int,
    take: Callable[[bytes], None],
    heartbeat: Callable[[], None] = lambda: None,
) -> int:
    """Run a command with its output in `theirs` and hand on what comes out of `ours`."""
    if os.isatty(theirs):
        plain = termios.tcgetattr(theirs)
        plain[1] &= ~termios.OPOST  # the real terminal makes new lines, once
        termios.tcsetattr(theirs, termios.TCSANOW, plain)
    with stoppable():
        child = subprocess.Popen(command, stdout=theirs, stderr=theirs, start_new_session=True)  # noqa: S603  # ours
        os.close(theirs)
        try:
            follow(child, ours, take, heartbeat)
        except KeyboardInterrupt:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is stopping: more of them change nothing
            if os.isatty(ours):
                copy(b"\x1b[?25h\n")  # the bar had hidden the cursor
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


def follow(child: subprocess.Popen, ours: int, take: Callable[[bytes], None], heartbeat: Callable[[], None]) -> None:
    """Until the child has ended and nothing is left to read; a job that outlives it is not waited for."""
    while True:
        if select.select([ours], [], [], 0.5)[0]:
            try:
                piece = os.read(ours, PIECE)
            except OSError:  # how a pseudo-terminal says that its other end is closed
                return
            if not piece:
                return
            take(piece)
        elif child.poll() is not None:
            return
        heartbeat()


def copy(piece: bytes) -> None:
    sys.stdout.buffer.write(piece)
    sys.stdout.buffer.flush()


class Lines:
    """Snakemake's own lines, made into one a job."""

    def __init__(self) -> None:
        self.rest = b""
        self.tail: deque[str] = deque(maxlen=20)
        self.rule, self.said = "", time.monotonic()
        self.running: dict[str, tuple[str, float]] = {}  # by number of the job: its name, its start
        self.total, self.done, self.failed = 0, 0, 0

    def take(self, piece: bytes) -> None:
        *whole, self.rest = (self.rest + piece).split(b"\n")
        for line in whole:
            self.line(line.decode(errors="replace").rstrip("\r"))

    def line(self, line: str) -> None:
        self.tail.append(line)
        if found := re.fullmatch(r"(?:local)?(?:rule|checkpoint) (\w+):", line):
            self.rule = found[1]
        elif found := re.fullmatch(r"    jobid: (\d+)", line):
            self.running[found[1]] = self.rule, time.monotonic()
        elif (found := re.fullmatch(r"    wildcards: (.+)", line)) and self.running:
            number = next(reversed(self.running))
            self.running[number] = f"{self.rule} {found[1]}", self.running[number][1]
        elif found := re.fullmatch(r"total +(\d+)", line):
            self.total = int(found[1])
        elif found := re.match(r"Finished jobid: (\d+) ", line):
            name, start = self.running.pop(found[1], ("?", time.monotonic()))
            self.done += 1
            self.say(f"{self.done} of {self.total}  {name}  {time.monotonic() - start:.0f} s")
        elif found := re.match(r"Error in rule (\w+):", line):
            self.failed += 1
            self.say(f"failed: {found[1]}")

    def say(self, text: str) -> None:
        print(text, flush=True)
        self.said = time.monotonic()

    def heartbeat(self) -> None:
        if time.monotonic() - self.said > SILENCE:
            names = ", ".join(name for name, _ in self.running.values()) or "planning"
            self.say(f"{self.done} of {self.total or '?'}  at work: {names[:200]}")

    def end(self, code: int) -> None:
        """If no job failed but Snakemake did, what it said last."""
        self.take(b"\n")
        if code and not self.failed:
            said = [line for line in self.tail if line.strip() and not line.startswith(PREAMBLE)]
            self.say("\n".join(said))


def last_words(folder: Path, since: float) -> list[str]:
    """Of each log that a run wrote: the line that names its error, each once."""
    words = set()
    for log in (folder / "results/logs").rglob("*.txt"):
        if log.stat().st_mtime >= since:
            said = [line for line in log.read_text(errors="replace").splitlines() if LAST_WORDS.match(line)]
            words.update(said[-1:])
    return sorted(words)
