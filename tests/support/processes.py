"""Processes below a process, and their end all at once."""

import os
import signal
import subprocess
import time
from contextlib import suppress


def children(pid: int) -> list[int]:
    """All processes below one."""
    listed = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    parents = [tuple(map(int, line.split())) for line in listed.splitlines()]
    found = [pid]
    for above in found:
        found += [child for child, parent in parents if parent == above]
    return found[1:]


def cut_power(process: subprocess.Popen) -> None:
    """End a process and all below it, so that none sees another one's end: first all stand still."""
    stopped: list[int] = []
    while new := [pid for pid in (process.pid, *children(process.pid)) if pid not in stopped]:
        for pid in new:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)
        stopped += new
    for pid in stopped:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    process.wait()
    while any(is_running(pid) for pid in stopped):
        time.sleep(0.01)


def is_running(pid: int) -> bool:
    """Not if only its exit code is left."""
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True).stdout
    return state != "" and not state.startswith("Z")
