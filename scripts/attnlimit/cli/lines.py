"""What a person sees of a run: a line for what was found, the time left, and nothing of the rest, which logs keep."""

import os
import re
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

from attnlimit.base.log import FOUND
from attnlimit.cli.talk import Failed, Finished, Job, Planned, Talk
from attnlimit.cli.time_left import TimeLeft
from attnlimit.workflow.amounts import about, counted, duration

BETWEEN = 60.0  # seconds between two lines on how far it is, where they cannot be written over
REFRESH = 0.5  # seconds, where they can
CUT = re.compile(r"/(parts|outputs|surrogate|applied)/")  # folders of what one job makes and another joins
FIGURE = "plot_"  # begins the rules of figures


def on_terminal() -> bool:
    return sys.stdout.isatty() and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


class Screen:
    """Where lines go. A terminal has besides a last line that is written over; a file has no control characters."""

    def __init__(self, live: bool, now: float) -> None:
        self.live, self.shown = live, now

    def say(self, text: str) -> None:
        """A line that stays."""
        plain = "\n".join("".join(filter(str.isprintable, line)) for line in text.splitlines())
        self.clear()
        print(plain, flush=True)

    def status(self, text: str, now: float) -> None:
        """How far it is, not too often."""
        if now - self.shown < (REFRESH if self.live else BETWEEN):
            return
        self.shown = now
        if self.live:
            width = os.get_terminal_size(sys.stdout.fileno()).columns or 80
            print(f"\r{text[: width - 1]}\x1b[K", end="", flush=True)
        else:
            self.say(text)

    def clear(self) -> None:
        if self.live:
            print("\r\x1b[K", end="", flush=True)
            self.shown -= REFRESH  # it is written again at once


class Lines:
    """Makes them of what Snakemake says and of what its jobs write into their logs."""

    def __init__(
        self,
        folder: Path,
        seconds: Callable[[str], float],
        cores: int,
        live: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.folder, self.seconds, self.cores, self.clock = folder, seconds, cores, clock
        self.talk, self.screen = Talk(clock), Screen(live, clock())
        self.left = TimeLeft({}, seconds, cores)
        self.total, self.done, self.failed = 0, 0, 0
        self.silent: defaultdict[str, list[float]] = defaultdict(list)  # by kind: seconds of jobs without a line yet
        self.carried: dict[str, float] = {}  # by file: seconds of the jobs that made it, for the one that joins it

    def take(self, piece: bytes) -> None:
        for event in self.talk.take(piece):
            match event:
                case Planned(counts):
                    self.plan(counts)
                case Finished(job, seconds):
                    self.finish(job, seconds)
                case Failed(rule):
                    self.failed += 1
                    self.screen.say(f"failed: {rule}")

    def plan(self, counts: dict[str, int]) -> None:
        self.total, self.left = sum(counts.values()), TimeLeft(counts, self.seconds, self.cores)
        if self.total:
            whole, cores = duration(self.left.seconds()), counted(self.cores, "core")
            self.screen.say(f"{counted(self.total, 'job')} to do, about {whole} on {cores}")
            self.screen.shown = self.clock()

    def finish(self, job: Job, seconds: float) -> None:
        """A line, if the job found something or is the last of its rule; figures are one rule here."""
        self.done += 1
        self.left.finished(job.rule, seconds)
        spent = seconds + sum(self.carried.pop(file, 0.0) for file in job.files("input"))
        if finding := finding_of(self.folder, job):
            self.screen.say(f"{subject(job)}: {finding}, {duration(spent)}")
        elif CUT.search(job.facts.get("output", "")):
            self.carried[job.files("output")[0]] = spent
        else:
            self.without_words(job, spent)

    def without_words(self, job: Job, spent: float) -> None:
        this = kind(job.rule)
        self.silent[this].append(spent)
        if not any(count for rule, count in self.left.to_do.items() if kind(rule) == this):
            took = self.silent.pop(this)
            jobs = f"{counted(len(took), 'job')}, " if len(took) > 1 else ""
            first = f"{counted(len(took), 'figure')}, " if this == FIGURE else f"{this}: {jobs}"
            self.screen.say(f"{first}{duration(sum(took))}")

    def tick(self) -> None:
        """How far it is: for the eye on a terminal, elsewhere from time to time."""
        now, at_work = self.clock(), self.talk.at_work()
        names = ", ".join(map(str, at_work))
        if not self.total:
            self.screen.status("planning", now)
            return
        parts = [f"{self.done} of {counted(self.total, 'job')}"]
        if not self.failed:  # else what depends on the failed job never runs
            parts.append(about(self.left.told(now, [(job.rule, now - job.start) for job in at_work])))
        self.screen.status(", ".join(parts) + (f"; at work: {names[:200]}" if names else ""), now)

    def end(self, code: int) -> None:
        """If no job failed but Snakemake did, what it said last."""
        self.screen.clear()
        if code and not self.failed:
            self.screen.say("\n".join(self.talk.last_lines()))


def kind(rule: str) -> str:
    """A rule, or figures: all together, as one."""
    return FIGURE if rule.startswith(FIGURE) else rule


def subject(job: Job) -> str:
    """What a finding is on: a layer, else a rule and what its jobs differ by."""
    wildcards = job.wildcards()
    return f"layer {wildcards['layer']}" if "layer" in wildcards else " ".join([job.rule, *wildcards.values()])


def finding_of(folder: Path, job: Job) -> str:
    """What a job said of its result, in its log."""
    for log in job.files("log"):
        path = folder / log
        lines = path.read_text(errors="replace").splitlines() if path.is_file() else []
        if said := [match[1] for line in lines if (match := FOUND.fullmatch(line))]:
            return said[-1]
    return ""
