"""Progress of a run as a Snakemake logger: `PYTHONPATH=scripts snakemake --logger attnlimit …`, without an install."""

import os
import signal
import sys
import threading
import time
from logging import LogRecord
from types import FrameType

from snakemake_interface_logger_plugins.base import LogHandlerBase

from attnlimit.cli.progress import OUTPUT, REFRESH, Progress, Screen


class LogHandler(LogHandlerBase):
    """Hands Snakemake's events to Progress, and lets it update the status line in between."""

    writes_to_stream = True  # in place of Snakemake's own output
    writes_to_file = False
    has_filter = True
    has_formatter = True
    needs_rulegraph = False

    def __post_init__(self) -> None:
        out = os.fdopen(int(os.environ[OUTPUT]), "w", errors="replace") if OUTPUT in os.environ else sys.stdout
        self.progress = Progress(Screen(out, time.time()))
        self.busy, self.closed = threading.Lock(), threading.Event()
        threading.Thread(target=self.refresh, daemon=True).start()
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self.stop)

    def emit(self, record: LogRecord) -> None:
        with self.busy:
            self.progress.take(record)

    def refresh(self) -> None:
        while not self.closed.wait(REFRESH):
            with self.busy:
                self.progress.refresh(time.time())

    def stop(self, number: int, frame: FrameType | None) -> None:
        """Ctrl-C: jobs die now, which is no failure to report."""
        self.progress.stopped = True
        signal.default_int_handler(number, frame)

    def close(self) -> None:
        with self.busy:
            if not self.closed.is_set():  # logging closes handlers once more at exit
                self.closed.set()
                self.progress.close()
        super().close()
