"""What a person sees of a run: findings, rules, the time left; plain in a file, one line that moves on a terminal."""

import fcntl
import os
import pty
import re
import select
import struct
import termios
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path

from attnlimit.cli.lines import BETWEEN, REFRESH, Lines
from support.talk import RECORDED


class Clock:
    """Time that passes when it is told to."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def lines_of(folder: Path, clock=None, live: bool = False, cores: int = 2) -> Lines:
    return Lines(folder, lambda rule: 10.0, cores, live, clock or Clock())


def write_log(folder: Path, name: str, *said: str) -> None:
    path = folder / "results/logs" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"2026-11-17 09:29:45,001 {line}\n" for line in said))


def job(number: int, rule: str, *facts: str) -> bytes:
    """As Snakemake lists it, and its end."""
    listed = "\n".join(f"    {fact}" for fact in (f"jobid: {number}", *facts))
    return f"localrule {rule}:\n{listed}\nFinished jobid: {number} (Rule: {rule})\n".encode()


def planned(**counts: int) -> bytes:
    rows = "\n".join(f"{rule} {count}" for rule, count in counts.items())
    return f"Job stats:\njob count\n--- ---\n{rows}\ntotal {sum(counts.values())}\n".encode()


def test_a_recorded_run_with_what_its_jobs_wrote(tmp_path, capsys):
    write_log(tmp_path, "fetch_corpus/log.txt", "page not found: 3", "found: 106 articles, 2.83 M characters")
    write_log(tmp_path, "merge_limits/layer_5.txt", "found: 12 heads, limit exact")
    clock = Clock()
    lines = lines_of(tmp_path, clock)
    for line in RECORDED.splitlines(keepends=True):
        lines.take(line)
        clock.now += 0.5 * line.startswith(b"Select jobs")
    assert capsys.readouterr().out.splitlines() == [
        "10 jobs to do, about 50 s on 2 cores",
        "fetch_corpus: 106 articles, 2.83 M characters, 0 s",
        "layer 5: 12 heads, limit exact, 1 s",  # of the job that computed it and of the one that joined it
    ]


def test_time_of_the_parts_is_told_with_what_joins_them(tmp_path, capsys):
    write_log(tmp_path, "merge.txt", "found: joined")
    clock = Clock()
    lines = lines_of(tmp_path, clock)
    for part in range(3):
        file = f"results/limits/parts/layer_1_part_{part}.zarr.zip"
        first, last = job(part, "compute_limits", f"output: {file}", f"wildcards: layer=1, part={part}").split(b"Fin")
        lines.take(first)
        clock.now += 20
        lines.take(b"Fin" + last)
    inputs = ", ".join(f"results/limits/parts/layer_1_part_{part}.zarr.zip" for part in range(3))
    lines.take(job(9, "merge_limits", f"input: {inputs}", "log: results/logs/merge.txt", "wildcards: layer=1"))
    assert capsys.readouterr().out == "layer 1: joined, 60 s\n"


def test_a_rule_without_words_has_a_line_at_its_end_and_figures_have_one(tmp_path, capsys):
    lines = lines_of(tmp_path)
    lines.take(planned(measure_tails=2, simulate_hardmax=1, plot_tails=1, plot_claims=1))
    capsys.readouterr()
    lines.take(job(1, "measure_tails", "wildcards: layer=0") + job(2, "plot_tails"))
    assert capsys.readouterr().out == ""
    lines.take(job(3, "measure_tails", "wildcards: layer=5") + job(4, "simulate_hardmax"))
    assert capsys.readouterr().out == "measure_tails: 2 jobs, 0 s\nsimulate_hardmax: 0 s\n"
    lines.take(job(5, "plot_claims"))
    assert capsys.readouterr().out == "2 figures, 0 s\n"


def test_how_far_it_is_is_told_from_time_to_time(tmp_path, capsys):
    clock = Clock()
    lines = lines_of(tmp_path, clock)
    lines.tick()
    assert capsys.readouterr().out == "", "not at once"
    lines.take(RECORDED)
    capsys.readouterr()
    lines.tick()
    assert capsys.readouterr().out == ""
    clock.now += BETWEEN
    lines.tick()
    lines.tick()
    (line,) = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"3 of 10 jobs, about \d+ s left; at work: measure_errors layer 5 part 1", line)


def test_before_the_plan_a_long_silence_is_broken(tmp_path, capsys):
    clock = Clock()
    lines = lines_of(tmp_path, clock)
    clock.now += BETWEEN
    lines.tick()
    assert capsys.readouterr().out == "planning\n"


def test_a_failed_job_is_named_and_no_time_is_promised(tmp_path, capsys):
    clock = Clock()
    lines = lines_of(tmp_path, clock)
    lines.take(RECORDED + b"Error in rule measure_errors:\n    jobid: 20\n")
    clock.now += BETWEEN
    lines.tick()
    lines.end(1)
    assert capsys.readouterr().out.splitlines()[-2:] == ["failed: measure_errors", "3 of 10 jobs"]


def test_a_failure_without_jobs_is_told_whole(tmp_path, capsys):
    lines = lines_of(tmp_path)
    lines.take(b"Using workflow specific profile x\nLockException:\nDirectory cannot be locked.")
    lines.end(1)
    assert capsys.readouterr().out == "LockException:\nDirectory cannot be locked.\n"


def test_no_control_characters_in_a_file(tmp_path, capsys):
    write_log(tmp_path, "fetch_corpus/log.txt", "found: a \x1b[31mred\x07 title of β\x9b")
    clock = Clock()
    lines = lines_of(tmp_path, clock)
    lines.take(RECORDED)
    clock.now += BETWEEN
    lines.tick()
    lines.end(0)
    shown = capsys.readouterr().out
    assert "a [31mred title of β, 0 s" in shown
    assert all(character.isprintable() or character == "\n" for character in shown)


@contextmanager
def terminal(columns: int = 40) -> Iterator[Callable[[], str]]:
    """A real one as standard output; what it was sent since the last time."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with os.fdopen(theirs, "w") as out, redirect_stdout(out):

        def sent() -> str:
            pieces = []
            while select.select([ours], [], [], 0.2)[0]:  # it may come in pieces
                pieces.append(os.read(ours, 1 << 16))
            return b"".join(pieces).decode()

        yield sent
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


def test_on_a_terminal_the_last_line_is_written_over(tmp_path):
    clock = Clock()
    write_log(tmp_path, "fetch_corpus/log.txt", "found: 106 articles")
    first, rest = RECORDED.split(b"Finished", 1)
    with terminal() as sent:
        lines = lines_of(tmp_path, clock, live=True)
        clock.now += REFRESH
        lines.tick()
        shown = sent()
        assert screen_of(shown) == ["planning"]
        lines.take(first)
        clock.now += REFRESH
        lines.tick()
        shown += sent()
        assert screen_of(shown) == [
            "10 jobs to do, about 50 s on 2 cores",
            "0 of 10 jobs, about 50 s left; at work: fetch_corpus"[:39],
        ]
        lines.take(b"Finished" + rest)
        clock.now += REFRESH
        lines.tick()
        shown += sent()
        *stay, status = screen_of(shown)
        assert stay == ["10 jobs to do, about 50 s on 2 cores", "fetch_corpus: 106 articles, 0 s"]
        assert status.startswith("3 of 10 jobs, about ")
        lines.end(0)
        assert screen_of(shown + sent())[-1] == "", "nothing of it stays"
