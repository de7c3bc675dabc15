"""A stop reaches every process and hides what they say then; last words are those of this run."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from attnlimit.cli.progress import last_words
from support.workflow import ROOT


def test_last_words_are_those_of_this_run_each_once(tmp_path):
    logs = tmp_path / "results/logs"
    for name, text in {"a/1.txt": "ValueError: x", "a/2.txt": "ValueError: x", "b/old.txt": "ValueError: y"}.items():
        (logs / name).parent.mkdir(parents=True, exist_ok=True)
        (logs / name).write_text(f"Traceback\nOSError: before\n{text}\n")
    os.utime(logs / "b/old.txt", (1, 1))
    assert last_words(tmp_path, time.time() - 60) == ["ValueError: x"]


CHILD = """
import subprocess, sys, time
job = subprocess.Popen([sys.executable, "-c", "import time; print('up', flush=True); time.sleep(600)"])
try:
    job.wait()
except KeyboardInterrupt:
    print("Traceback of a dying process", flush=True)
    sys.exit(1)
"""
WATCHER = """
import sys
from pathlib import Path
from attnlimit.cli.lines import Lines
from attnlimit.cli.progress import through

class Copied(Lines):
    def take(self, piece):
        print(piece.decode(), end="", flush=True)

try:
    through([sys.executable, "-c", sys.argv[1]], Copied(Path(), lambda rule: 1.0, 1))
except KeyboardInterrupt:
    print("stopped")
    sys.exit(130)
"""


def test_a_stop_reaches_the_jobs_and_their_tracebacks_are_not_shown():
    for number in (signal.SIGINT, signal.SIGTERM):
        watcher = subprocess.Popen(
            [sys.executable, "-c", WATCHER, CHILD],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=os.environ | {"PYTHONPATH": str(ROOT / "scripts")},
            start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509  ignored in the background
        )
        assert watcher.stdout.readline() == "up\n"
        started = children(watcher.pid)
        assert len(started) == 2
        watcher.send_signal(number)
        assert watcher.communicate()[0] == "stopped\n"
        assert watcher.returncode == 130
        assert not [pid for pid in started if Path(f"/proc/{pid}").exists()]


def children(pid: int) -> list[int]:
    """All processes below one."""
    listed = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    below = [int(line.split()[0]) for line in listed.splitlines() if int(line.split()[1]) == pid]
    return below + [each for child in below for each in children(child)]
