"""Snakemake's lines become one a job; a stop reaches every process and hides what they say then."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from attnlimit.plan import progress
from attnlimit.plan.progress import Lines, last_words
from support.workflow import ROOT

TALK = b"""Building DAG of jobs...
Job stats:
job                 count
----------------  -------
simulate_hardmax        1
total                   2

[Mon Nov 16 18:31:38 2026]
localrule simulate_hardmax:
    output: results/synthetic/hardmax.zarr.zip
    jobid: 1
[Mon Nov 16 18:31:38 2026]
rule measure_errors:
    output: results/errors/parts/layer_0_part_1.zarr.zip
    jobid: 4
    wildcards: layer=0, part=1
    resources: tmpdir=/tmp
Finished jobid: 1 (Rule: simulate_hardmax)
1 of 2 steps (50%) done
"""


def test_a_line_a_finished_job(capsys):
    lines = Lines()
    for start in range(0, len(TALK), 7):  # pieces end anywhere
        lines.take(TALK[start : start + 7])
    assert capsys.readouterr().out == "1 of 2  simulate_hardmax  0 s\n"
    lines.take(b"Finished jobid: 4 (Rule: measure_errors)\n")
    assert capsys.readouterr().out == "2 of 2  measure_errors layer=0, part=1  0 s\n"


def test_a_long_silence_is_broken_with_what_is_at_work(capsys, monkeypatch):
    lines = Lines()
    lines.take(TALK)
    capsys.readouterr()
    lines.heartbeat()
    assert capsys.readouterr().out == ""
    monkeypatch.setattr(progress, "SILENCE", -1.0)
    lines.heartbeat()
    assert capsys.readouterr().out == "1 of 2  at work: measure_errors layer=0, part=1\n"


def test_a_failed_job_is_named_and_a_failure_without_jobs_is_told_whole(capsys):
    lines = Lines()
    lines.take(TALK + b"Error in rule measure_errors:\n    jobid: 4\n")
    lines.end(1)
    assert capsys.readouterr().out.splitlines()[1:] == ["failed: measure_errors"]
    lines = Lines()
    lines.take(b"Using workflow specific profile x\nLockException:\nDirectory cannot be locked.")
    lines.end(1)
    assert capsys.readouterr().out == "LockException:\nDirectory cannot be locked.\n"


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
from attnlimit.plan.progress import through, copy
import os
try:
    through([sys.executable, "-c", sys.argv[1]], Path(), *os.pipe(), copy)
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
