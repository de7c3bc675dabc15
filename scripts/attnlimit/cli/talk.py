"""What Snakemake prints while it runs, line by line, as events: jobs planned, finished, failed."""

import re
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

PREAMBLE = ("Using workflow specific profile", "Config file ", "Assuming unrestricted", "Building DAG")
TARGET = "all"  # a rule without work


@dataclass
class Job:
    """One that was started, with what Snakemake lists of it: input, output, log, wildcards."""

    rule: str
    start: float
    facts: dict[str, str] = field(default_factory=dict)

    def files(self, kind: str) -> list[str]:
        return self.facts[kind].split(", ") if kind in self.facts else []

    def wildcards(self) -> dict[str, str]:
        return dict(each.split("=", 1) for each in self.files("wildcards"))

    def __str__(self) -> str:
        return " ".join([self.rule, *(f"{name.replace('_', ' ')} {value}" for name, value in self.wildcards().items())])


class Planned(NamedTuple):
    """Jobs of each rule that will run."""

    counts: dict[str, int]


class Finished(NamedTuple):
    """A job that ended well."""

    job: Job
    seconds: float


class Failed(NamedTuple):
    """A job that did not."""

    rule: str


class Talk:
    """Follows it, in pieces that may end anywhere."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock, self.rest = clock, b""
        self.tail: deque[str] = deque(maxlen=20)
        self.counts: dict[str, int] | None = None  # while they are listed
        self.job: Job | None = None  # the one that is listed now
        self.running: dict[str, Job] = {}  # by number

    def take(self, piece: bytes) -> Iterator[Planned | Finished | Failed]:
        *whole, self.rest = (self.rest + piece).split(b"\n")
        for line in whole:
            text = line.decode(errors="replace").rstrip("\r")
            self.tail.append(text)
            if event := self.event(text):
                yield event

    def event(self, line: str) -> Planned | Finished | Failed | None:
        if line == "Job stats:":
            self.counts = {}
        elif self.counts is not None and (row := re.fullmatch(r"(\w+) +(\d+)", line)):
            if row[1] == "total":
                planned, self.counts = Planned(self.counts), None
                return planned
            if row[1] != TARGET:
                self.counts[row[1]] = int(row[2])
        elif head := re.fullmatch(r"(?:local)?(?:rule|checkpoint) (\w+):", line):
            self.job = Job(head[1], self.clock())
        elif fact := re.fullmatch(r"    (\w+): (.+)", line):
            self.note(*fact.groups())
        elif end := re.match(r"Finished jobid: (\d+) ", line):
            job = self.running.pop(end[1], None)
            if job and job.rule != TARGET:
                return Finished(job, self.clock() - job.start)
        elif error := re.match(r"Error in rule (\w+):", line):
            self.job = None
            return Failed(error[1])
        return None

    def note(self, kind: str, value: str) -> None:
        """A line of a job's list; in that of an error, its number says that the job is no longer at work."""
        if self.job:
            self.job.facts[kind] = value
        if kind == "jobid" and self.job:
            self.running[value] = self.job
        elif kind == "jobid":
            self.running.pop(value, None)

    def at_work(self) -> list[Job]:
        return [job for job in self.running.values() if job.rule != TARGET]

    def last_lines(self) -> list[str]:
        """What it said last, but for what it says always."""
        return [
            line
            for line in [*self.tail, self.rest.decode(errors="replace")]
            if line.strip() and not line.startswith(PREAMBLE)
        ]
