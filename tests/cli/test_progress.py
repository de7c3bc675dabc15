"""Lines of a run, from records as Snakemake's logger emits them: results, rules, the time left, failures."""

import fcntl
import io
import logging
import os
import pty
import re
import select
import struct
import termios
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

import yaml
from snakemake_interface_logger_plugins.common import LogEvent

from attnlimit.cli.progress import INTERVAL, REFRESH, Progress, Screen, cost_model
from attnlimit.workflow.amounts import duration
from attnlimit.workflow.costs import expected_seconds
from support.workflow import ROOT

START = 100.0
CONFIG = yaml.safe_load((ROOT / "config.yaml").read_text())


class Run:
    """Events of a run at times that the test sets, and the lines that they give."""

    def __init__(self, out: TextIO | None = None, cores: int = 2, **counts: int) -> None:
        self.out, self.now, self.numbers = out or io.StringIO(), START, 0
        self.progress = Progress(Screen(self.out, self.now))
        self.emit(LogEvent.WORKFLOW_STARTED, basedir=str(ROOT), configfiles=[str(ROOT / "config.yaml")])
        if counts:
            self.plan(cores, **counts)

    def emit(self, event: LogEvent | None, level: int = logging.INFO, **fields: object) -> None:
        record = logging.makeLogRecord({"levelno": level, "created": self.now, "event": event, **fields})
        self.progress.take(record)

    def plan(self, cores: int = 2, **counts: int) -> None:
        self.emit(LogEvent.RESOURCES_INFO, cores=cores)
        self.emit(LogEvent.RESOURCES_INFO)
        self.emit(LogEvent.RUN_INFO, stats=counts | {"all": 1, "total": sum(counts.values()) + 1})

    def start(self, rule: str, number: int | None = None, **fields: object) -> int:
        self.numbers += 1
        files: dict[str, object] = {"input": [], "output": [], "log": [], "wildcards": {}}
        self.emit(LogEvent.JOB_INFO, rule_name=rule, jobid=number or self.numbers, **files | fields)
        return number or self.numbers

    def finish(self, number: int) -> None:
        self.emit(LogEvent.JOB_FINISHED, job_id=number)

    def job(self, rule: str, seconds: float = 0.0, **fields: object) -> None:
        number = self.start(rule, **fields)
        self.now += seconds
        self.finish(number)

    def fail(self, number: int, rule: str) -> None:
        self.emit(LogEvent.ERROR, logging.ERROR, msg="RuleException: exit status 1")
        self.emit(LogEvent.JOB_ERROR, logging.ERROR, jobid=number, rule_name=rule, log=["a.txt"])

    def wait(self, seconds: float) -> None:
        self.now += seconds
        self.progress.refresh(self.now)

    def lines(self) -> list[str]:
        """Those since the last call."""
        text = self.out.getvalue()
        self.out.seek(0)
        self.out.truncate()
        return text.splitlines()


def write_log(path: Path, *messages: str) -> list[str]:
    path.write_text("".join(f"2026-11-17 09:29:45,001 {line}\n" for line in messages))
    return [str(path)]


def test_the_plan_has_the_time_that_the_cost_model_expects():
    work = 4 * expected_seconds(CONFIG, "compute_limits")
    assert Run(compute_limits=4).lines() == [f"4 jobs to do, about {duration(work / 2)} on 2 cores"]
    run = Run()
    run.emit(LogEvent.RESOURCES_INFO, nodes=200)
    run.emit(LogEvent.RUN_INFO, stats={"compute_limits": 4, "total": 4})
    assert run.lines()[0].endswith("with at most 200 jobs at a time")


def test_costs_are_those_of_the_overlays_and_of_this_workflow_alone(tmp_path):
    overlay = tmp_path / "more.yaml"
    overlay.write_text("tokenize_corpus: {population: 1000000}\n")
    files = [overlay, ROOT / "config.yaml"]  # in the order of Snakemake's record
    assert cost_model(ROOT, files)("compute_limits") > 2 * cost_model(ROOT, files[1:])("compute_limits")
    assert cost_model(tmp_path, files) is None


def test_another_workflow_has_lines_without_times():
    run = Run()
    run.emit(LogEvent.WORKFLOW_STARTED, basedir="/elsewhere", configfiles=[])
    run.plan(a=2)
    run.wait(INTERVAL)
    assert run.lines() == ["2 jobs to do", "0 of 2 jobs"]


def test_a_job_is_shown_with_its_last_result(tmp_path):
    run = Run(fetch_corpus=1, merge_limits=1, fit_rates=1)
    run.lines()
    found = write_log(tmp_path / "a.txt", "page not found: 3", "found: 1 article", "found: 106 articles", "done")
    run.job("fetch_corpus", 7, log=found)
    run.job("merge_limits", 1, log=found, wildcards={"layer": "5"})
    run.job("fit_rates", 2, log=[*found, str(tmp_path / "none.txt")], wildcards={"source": "heads"})
    assert run.lines() == [
        "fetch_corpus: 106 articles, 7 s",
        "layer 5: 106 articles, 1 s",
        "fit_rates heads: 106 articles, 2 s",
    ]


def test_time_of_parts_counts_for_the_job_that_joins_them(tmp_path):
    run = Run()
    files = [f"results/limits/parts/layer_1_part_{part}.zarr.zip" for part in range(3)]
    for part, file in enumerate(files):
        run.job("compute_limits", 20, output=[file], wildcards={"layer": "1", "part": str(part)})
    run.job("merge_limits", 1, input=files, log=write_log(tmp_path / "a.txt", "found: joined"))
    assert run.lines() == ["merge_limits: joined, 61 s"]


def test_a_rule_without_results_has_a_line_at_its_end_and_figures_have_one():
    run = Run(measure_tails=2, simulate_hardmax=1, plot_tails=1, plot_claims=1)
    run.lines()
    run.job("measure_tails", 3, wildcards={"layer": "0"})
    run.job("plot_tails", 1)
    assert run.lines() == []
    run.job("measure_tails", 4, wildcards={"layer": "5"})
    run.job("simulate_hardmax", 5)
    assert run.lines() == ["measure_tails: 2 jobs, 7 s", "simulate_hardmax: 5 s"]
    run.job("plot_claims", 1)
    assert run.lines() == ["figures: 2 jobs, 2 s"]


def test_in_a_file_there_is_a_status_line_a_minute():
    run = Run()
    run.wait(INTERVAL - 1)
    assert run.lines() == []
    run.wait(1)
    assert run.lines() == ["planning"]
    run.now += INTERVAL - 1
    run.plan(measure_errors=3)
    run.wait(1)
    assert len(run.lines()) == 1, "the plan has just been shown"
    run.job("measure_errors", 10, wildcards={"layer": "5", "part": "0"})
    run.start("measure_errors", wildcards={"layer": "5", "part": "1"})
    run.lines()
    run.wait(INTERVAL)
    run.wait(1)
    (line,) = run.lines()
    assert re.fullmatch(r"1 of 3 jobs, a(bout \d+| few) \w+ left; running: measure_errors layer 5 part 1", line)


def test_a_failed_job_is_named_once_and_no_time_is_promised():
    run = Run(measure_errors=2)
    run.fail(run.start("measure_errors", wildcards={"layer": "5"}), "measure_errors")
    run.wait(INTERVAL)
    run.emit(LogEvent.ERROR, logging.ERROR, msg="At least one job did not complete successfully.")
    run.progress.close()
    assert run.lines()[1:] == ["failed: measure_errors layer 5, see a.txt", "0 of 2 jobs"]


def test_a_further_attempt_of_a_failed_job_may_succeed():
    run = Run(measure_errors=1)
    run.fail(run.start("measure_errors"), "measure_errors")
    run.start("measure_errors", number=1)
    run.wait(INTERVAL)
    run.finish(1)
    *_, status, end = run.lines()
    assert "left; running: measure_errors" in status and end == "measure_errors: 60 s"


def test_an_error_without_a_failed_job_is_shown_at_the_end():
    run = Run()
    run.emit(None, msg="Building DAG of jobs...")
    run.emit(LogEvent.ERROR, logging.ERROR, msg="LockException:\nDirectory cannot be locked.")
    run.progress.close()
    assert run.lines() == ["LockException:", "Directory cannot be locked."]


def test_after_a_stop_nothing_is_reported():
    run = Run(measure_errors=2)
    number = run.start("measure_errors")
    run.lines()
    run.progress.stopped = True
    run.fail(number, "measure_errors")
    run.wait(INTERVAL)
    run.progress.close()
    assert run.lines() == []


def test_the_target_rule_and_unknown_jobs_are_no_jobs():
    run = Run(measure_errors=1)
    run.lines()
    run.job("all", 1, input=["a"])
    run.finish(77)
    run.wait(INTERVAL)
    assert run.lines()[0].startswith("0 of 1 job, ")


def test_no_control_characters_in_a_file(tmp_path):
    run = Run(fetch_corpus=1)
    run.job("fetch_corpus", log=write_log(tmp_path / "a.txt", "found: a \x1b[31mred\x07 title of β\x9b"))
    assert run.lines()[-1] == "fetch_corpus: a [31mred title of β, 0 s"


@contextmanager
def terminal(columns: int = 40) -> Iterator[tuple[TextIO, Callable[[], str]]]:
    """A real one: a stream to write to, and what was written since the last call."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with os.fdopen(theirs, "w") as out:

        def sent() -> str:
            pieces = []
            while select.select([ours], [], [], 0.2)[0]:  # it may come in pieces
                pieces.append(os.read(ours, 1 << 16))
            return b"".join(pieces).decode()

        yield out, sent
    os.close(ours)


def screen_of(sent: str, width: int = 40) -> list[str]:
    """The lines that a terminal shows after all that: returns, ends of lines and erasures."""
    rows, place = [""], 0
    for token in re.findall(r"\x1b\[K|\r\n|\r|[^\x1b\r\n]", sent):
        match token:
            case "\x1b[K":
                rows[-1] = rows[-1][:place]
            case "\r\n":
                rows, place = [*rows, ""], 0
            case "\r":
                place = 0
            case _:
                rows[-1] = rows[-1][:place] + token + rows[-1][place + 1 :]
                place += 1
    assert all(len(row) < width for row in rows), "or it would wrap, and stay"
    return rows


def test_on_a_terminal_the_status_line_is_replaced(tmp_path, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    with terminal() as (out, sent):
        run = Run(out)
        run.wait(REFRESH)
        text = sent()
        assert screen_of(text) == ["planning"]
        run.plan(fetch_corpus=10)
        number = run.start("fetch_corpus", log=write_log(tmp_path / "a.txt", "found: 106 articles"))
        run.wait(REFRESH)
        text += sent()
        plan, status = screen_of(text)
        assert plan.startswith("10 jobs to do, ") and status.startswith("0 of 10 jobs, about ")
        assert len(status) == 39, "cut at the width of the terminal"
        run.finish(number)
        run.wait(REFRESH)
        text += sent()
        *lines, status = screen_of(text)
        assert lines == [plan, "fetch_corpus: 106 articles, 0 s"] and status.startswith("1 of 10 jobs, ")
        run.progress.close()
        assert screen_of(text + sent()) == [*lines, ""], "no status line is left"


def test_a_dumb_terminal_is_treated_as_a_file(monkeypatch):
    monkeypatch.setenv("TERM", "dumb")
    with terminal() as (out, sent):
        Run(out, a=1).wait(REFRESH)
        assert "\x1b" not in sent()


def test_what_a_job_tells_is_on_the_screen(tmp_path):
    run = Run(fetch_corpus=1)
    run.lines()
    run.job(
        "fetch_corpus", log=write_log(tmp_path / "log", "found: 3 articles", "note: my_texts: left out: 1 file: a.txt")
    )
    assert run.lines() == ["note: my_texts: left out: 1 file: a.txt", "fetch_corpus: 3 articles, 0 s"]
