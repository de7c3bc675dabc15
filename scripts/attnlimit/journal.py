"""What a job says while it works: its log file, its progress bar, its last words."""

import logging
import sys
import time
import traceback
from collections.abc import Iterable, Iterator
from pathlib import Path

from tqdm import tqdm

logger = logging.getLogger("attnlimit")
SECONDS_BETWEEN_LOG_LINES = 5.0


def open_log(path: str) -> None:
    """Send messages to the job's log, and an uncaught error's traceback too; the terminal gets its last line."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    logging.basicConfig(filename=path, filemode="w", level=logging.INFO, format="%(asctime)s %(message)s", force=True)

    def last_words(kind, error, trace):
        logger.error("%s", "".join(traceback.format_exception(kind, error, trace)))
        print(f"{kind.__name__}: {error}", file=sys.stderr, flush=True)

    sys.excepthook = last_words


def bar(items: Iterable, total: int, unit: str, name: str) -> Iterator:
    """Go through items with a live bar on a terminal and, every few seconds, a line in the log."""
    shown = tqdm(items, total=total, unit=unit, desc=name, leave=False, disable=not sys.stderr.isatty())
    start = said = time.monotonic()
    for done, item in enumerate(shown, 1):
        yield item
        now = time.monotonic()
        if now - said > SECONDS_BETWEEN_LOG_LINES or done == total:
            rate = done / (now - start)
            logger.info("%s: %d of %d, %.3g %s/s, %.0f s left", name, done, total, rate, unit, (total - done) / rate)
            said = now
