"""What a job says while it works: its log file, its progress bar, its last words."""

import atexit
import itertools
import logging
import re
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

logger = logging.getLogger("attnlimit")
SECONDS_BETWEEN_LOG_LINES = 5.0
RESULT = re.compile(r"[\d-]+ [\d:,]+ found: (.+)")  # the line of a log with its result
NOTE = re.compile(r"[\d-]+ [\d:,]+ note: (.+)")  # one that the user must see
SPENT = re.compile(r"^[\d-]+ [\d:,]+ spent: ([\d.]+) core-seconds, ([\d.]+) MB$", re.M)  # its last one
BYTES_OF_MAXRSS = 1 if sys.platform == "darwin" else 1024  # units differ between systems


class Spent(NamedTuple):
    """What a finished job took."""

    seconds: float  # of all its threads, its start and imports included
    bytes: float  # held at most, by it or, before its start, by the process that it was forked from


def open_log(path: str) -> None:
    """Send messages to the job's log, and an uncaught error's traceback too; the terminal gets its last line."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    logging.basicConfig(
        filename=path, filemode="w", encoding="utf-8", level=logging.INFO, format="%(asctime)s %(message)s", force=True
    )

    def last_words(kind, error, trace):
        logger.error("%s", "".join(traceback.format_exception(kind, error, trace)))
        print(f"{kind.__name__}: {error}", file=sys.stderr, flush=True)

    sys.excepthook = last_words
    atexit.register(log_spent)


def log_spent() -> None:
    """The job's whole processor time and memory: Snakemake's benchmarks are samples, up to 30 s before the end."""
    import resource  # here, since Windows has none: the installed library does without

    used = resource.getrusage(resource.RUSAGE_SELF)
    held = used.ru_maxrss * BYTES_OF_MAXRSS / 1e6
    logger.info("spent: %.2f core-seconds, %.0f MB", used.ru_utime + used.ru_stime, held)


def spent_by(results: Path) -> dict[str, list[Spent]]:
    """What the jobs of a run took, by rule, from their logs; those that ran on another machine included."""
    found: dict[str, list[Spent]] = {}
    logs = results / "logs"
    for path in sorted(logs.rglob("*.txt")):
        if lines := SPENT.findall(path.read_text(encoding="utf-8")):
            seconds, megabytes = map(float, lines[-1])
            found.setdefault(path.relative_to(logs).parts[0], []).append(Spent(seconds, megabytes * 1e6))
    return found


def counted(count: int, noun: str) -> str:
    """1 job, 2 jobs."""
    return f"{count:,} {noun}{'' if count == 1 else 'es' if noun.endswith('s') else 's'}"


def report_finding(text: str) -> None:
    """What a job found, in one short line for the log; `make reproduce` shows it after the layer or the rule."""
    logger.info("found: %s", text)


def tell(text: str) -> None:
    """A note for the user from a job that succeeded, in one line: `make reproduce` shows it."""
    logger.warning("note: %s", text)


@contextmanager
def one_line_errors() -> Iterator[None]:
    """For a command: an error of its input is one line without a traceback, with exit code 1."""
    try:
        yield
    except (ValueError, LookupError, OSError, MemoryError) as error:
        sys.exit(f"{type(error).__name__}: {error}")
    except KeyboardInterrupt:
        sys.exit("stopped; run again")


def bar(items: Iterable, total: int, unit: str, name: str, done: Callable[[], int] | None = None) -> Iterator:
    """Go through items with a live bar on a terminal and, every few seconds, a line in the log.

    `done` tells how far the work is, such as the place in a file; without it items are counted. Total 0: unknown.
    """
    from tqdm import tqdm  # here, since only a job needs it: the installed library does without

    count = itertools.count()
    done = done or count.__next__
    first, start = done(), time.monotonic()
    said, last = start, first
    scaled = {"unit": unit, "unit_scale": unit == "B", "desc": name}
    with tqdm(total=total or None, initial=first, leave=False, disable=not sys.stderr.isatty(), **scaled) as progress:
        for item in items:
            yield item
            now, last, before = time.monotonic(), done(), last
            progress.update(last - before)
            if now - said > SECONDS_BETWEEN_LOG_LINES or last == total != before:
                rate = (last - first) / max(now - start, 1e-9)
                left = f", {(total - last) / rate:.0f} s left" if total and rate else ""
                logger.info("%s: %d of %s, %.3g %s/s%s", name, last, total or "?", rate, unit, left)
                said = now
