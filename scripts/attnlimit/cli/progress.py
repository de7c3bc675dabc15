"""What a user sees of a run: a line for each result, the time left, failures; the rest is in the logs.

Events are the records of Snakemake's logger, typed by their attribute `event`; the plugin in
scripts/snakemake_logger_plugin_attnlimit passes them on.
"""

import logging
import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any, TextIO

from snakemake_interface_logger_plugins.common import LogEvent

from attnlimit.base.log import NOTE, RESULT, counted
from attnlimit.cli.time_left import TARGET, TimeLeft
from attnlimit.workflow.amounts import about, duration
from attnlimit.workflow.costs import expected_seconds
from attnlimit.workflow.overlays import resolve

ROOT = Path(__file__).parents[3]
OUTPUT = "ATTNLIMIT_OUTPUT"  # environment variable: file descriptor to write to in place of standard output
INTERVAL = 60.0  # seconds between two status lines in a file
REFRESH = 0.5  # seconds between two on a terminal, where the second replaces the first
PART = re.compile(r"/(parts|outputs|surrogate|applied)/")  # folders of stores that a later job joins
FIGURE = "plot_"  # prefix of the rules of figures, which count as one


def from_project(log: str) -> str:
    """The path of a log from the project's folder, where commands are given; Snakemake works in that of the run."""
    folder = Path.cwd()
    return str(folder.relative_to(ROOT) / log) if folder.is_relative_to(ROOT) else log


class Screen:
    """Lines to a file, without control characters, or to a terminal, which has a status line below them."""

    def __init__(self, out: TextIO, now: float) -> None:
        self.out, self.updated = out, now
        self.live = out.isatty() and os.environ.get("TERM") != "dumb"

    def print(self, text: str) -> None:
        self.clear()
        plain = "\n".join("".join(filter(str.isprintable, line)) for line in text.splitlines())
        print(plain, file=self.out, flush=True)

    def status(self, text: str, now: float) -> None:
        """Replace the status line, unless the last one is too recent."""
        if now - self.updated < (REFRESH if self.live else INTERVAL):
            return
        self.updated = now
        if self.live:
            width = os.get_terminal_size(self.out.fileno()).columns or 80
            print(f"\r{text[: width - 1]}\x1b[K", end="", file=self.out, flush=True)
        else:
            self.print(text)

    def clear(self) -> None:
        if self.live:
            print("\r\x1b[K", end="", file=self.out, flush=True)
            self.updated -= REFRESH  # the status line returns at once


class Progress:
    """Turns Snakemake's events, and the results in the logs of its jobs, into lines."""

    def __init__(self, screen: Screen) -> None:
        self.screen, self.stopped = screen, False
        self.seconds: Callable[[str], float] | None = None  # expected of one job of a rule
        self.slots, self.where = 1, "one core"  # jobs at a time
        self.total, self.done = 0, 0
        self.left = TimeLeft({}, lambda rule: 0.0, 1)
        self.running: dict[int, Any] = {}  # job_info records by number of the job
        self.failed: set[int] = set()
        self.errors: list[str] = []
        self.unreported: defaultdict[str, list[float]] = defaultdict(list)  # seconds of jobs without a result line
        self.carried: dict[str, float] = {}  # by file: seconds of the jobs behind it, for the job that joins it

    def take(self, record: Any) -> None:
        match getattr(record, "event", None):
            case LogEvent.WORKFLOW_STARTED:
                self.seconds = cost_model(Path(record.basedir), map(Path, record.configfiles))
            case LogEvent.RESOURCES_INFO:
                self.resources(record)
            case LogEvent.RUN_INFO:
                self.plan({rule: count for rule, count in record.stats.items() if rule not in (TARGET, "total")})
                self.screen.updated = record.created
            case LogEvent.JOB_INFO if record.rule_name != TARGET:
                self.running[record.jobid] = record
                self.failed.discard(record.jobid)  # a further attempt
            case LogEvent.JOB_FINISHED if job := self.running.pop(record.job_id, None):
                self.finish(job, record.created - job.created)
            case LogEvent.JOB_ERROR if not self.stopped:
                self.failed.add(record.jobid)
                job = self.running.pop(record.jobid, None)
                logs = f", see {', '.join(map(from_project, record.log))}" if record.log else ""
                self.screen.print(f"failed: {label(job) if job else record.rule_name}{logs}")
            case None | LogEvent.ERROR if record.levelno >= logging.ERROR:
                self.errors.append(record.getMessage())

    def resources(self, record: Any) -> None:
        if hasattr(record, "cores"):
            self.slots, self.where = record.cores, f"on {counted(record.cores, 'core')}"
        elif hasattr(record, "nodes"):
            self.slots, self.where = record.nodes, f"with at most {counted(record.nodes, 'job')} at a time"

    def plan(self, counts: dict[str, int]) -> None:
        self.total, self.left = sum(counts.values()), TimeLeft(counts, self.seconds or (lambda rule: 0.0), self.slots)
        if self.total:
            time = f", about {duration(self.left.seconds())} {self.where}" if self.seconds else ""
            self.screen.print(f"{counted(self.total, 'job')} to do{time}")

    def finish(self, job: Any, seconds: float) -> None:
        """Print a line if the job has a result, or is the last of its rule; figures count as one rule."""
        self.done += 1
        self.left.finished(job.rule_name, seconds)
        for note in lines_of(job, NOTE):
            self.screen.print(f"note: {note}")
        spent = seconds + sum(self.carried.pop(file, 0.0) for file in job.input)
        if result := result_of(job):
            self.screen.print(f"{subject(job)}: {result}, {duration(spent)}")
        elif job.output and PART.search(job.output[0]):
            self.carried[job.output[0]] = spent
        else:
            self.finish_rule(group(job.rule_name), spent)

    def finish_rule(self, name: str, spent: float) -> None:
        self.unreported[name].append(spent)
        if any(count for rule, count in self.left.to_do.items() if group(rule) == name):
            return
        times = self.unreported.pop(name)
        jobs = f"{counted(len(times), 'job')}, " if len(times) > 1 else ""
        self.screen.print(f"{name}: {jobs}{duration(sum(times))}")

    def refresh(self, now: float) -> None:
        """Update the status line."""
        if self.stopped:
            self.screen.clear()
        elif not self.total:
            self.screen.status("planning", now)
        else:
            parts = [f"{self.done} of {counted(self.total, 'job')}"]
            if self.seconds and not self.failed:  # jobs behind a failed one never run
                running = [(job.rule_name, now - job.created) for job in self.running.values()]
                parts.append(about(self.left.smoothed(now, running)))
            names = ", ".join(map(label, self.running.values()))
            self.screen.status(", ".join(parts) + (f"; running: {names[:200]}" if names else ""), now)

    def close(self) -> None:
        """At the end: Snakemake's errors, unless they only follow from a failed job or a stop."""
        self.screen.clear()
        if self.errors and not self.failed and not self.stopped:
            self.screen.print("\n".join(self.errors))


def cost_model(folder: Path, files: Iterable[Path]) -> Callable[[str], float] | None:
    """Expected seconds of one job of a rule, by the config files of a run; None for a workflow that is not this one."""
    if folder.resolve() != ROOT:
        return None
    defaults = ROOT / "config.yaml"
    return partial(expected_seconds, resolve([defaults, *(path for path in files if path.resolve() != defaults)]))


def group(rule: str) -> str:
    return "figures" if rule.startswith(FIGURE) else rule


def label(job: Any) -> str:
    return " ".join([job.rule_name, *(f"{name.replace('_', ' ')} {value}" for name, value in job.wildcards.items())])


def subject(job: Any) -> str:
    """What a result is about: a layer, else a rule and its wildcards."""
    layer = job.wildcards.get("layer")
    return " ".join([job.rule_name, *job.wildcards.values()]) if layer is None else f"layer {layer}"


def result_of(job: Any) -> str:
    """The last result in the logs of a job; "" if there is none."""
    return next(reversed(lines_of(job, RESULT)), "")


def lines_of(job: Any, kind: re.Pattern) -> list[str]:
    """What the lines of a kind in the logs of a job say."""
    logs = [Path(name) for name in job.log if Path(name).is_file()]
    lines = [line for path in logs for line in path.read_text(encoding="utf-8", errors="replace").splitlines()]
    return [match[1] for line in lines if (match := kind.fullmatch(line))]
