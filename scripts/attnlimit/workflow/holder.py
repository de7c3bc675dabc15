"""Who is at work in the folder of a run: recorded when it begins, asked by the next one that finds Snakemake's lock.

A power cut leaves the lock, and no process to remove it. It may be removed once its holder and all its jobs are known
to be gone: another Snakemake beside them would write the same files. Standard library only.
"""

import json
import os
import platform
import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from attnlimit.workflow.snakemake_records import lock_date

RECORD = Path(".snakemake/holder.json")
SCRIPT = re.compile(r"/\.snakemake/scripts/[^/\s]+?\.(\w+)\.py")  # a copy of the script of a rule, which its job runs
SLURM = re.compile(r"SLURM run ID: (\S+)")
PROC = Path("/proc")  # of Linux; elsewhere `ps` knows


class Holder(NamedTuple):
    """A Snakemake that works on a run."""

    host: str
    machine: str  # two hosts of one name are told apart
    boot: str  # another one: nothing that ran before is alive
    namespace: str  # of process numbers: a container has its own, and sees no others
    process: int
    start: str  # of the process: numbers are used again
    since: str  # for readers

    def __str__(self) -> str:
        return f"process {self.process} on {self.host}, since {self.since}"


def holder(process: int) -> Holder:
    """A process of this machine, as it is recorded."""
    machine = first_line(Path("/etc/machine-id"))
    boot = first_line(PROC / "sys/kernel/random/boot_id") or told("sysctl", "-n", "kern.boottime").strip()
    namespace = str((PROC / "self/ns/pid").readlink()) if (PROC / "self/ns/pid").exists() else ""
    since = time.strftime("%Y-%m-%d %H:%M")
    return Holder(platform.node(), machine, boot, namespace, process, started(process), since)


def hold(folder: Path, process: int) -> None:
    """Record that a process works on the run in a folder."""
    path = folder / RECORD
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(f".{os.getpid()}")
    temporary.write_text(json.dumps(holder(process)._asdict()), encoding="utf-8")
    temporary.replace(path)


def recorded(folder: Path) -> Holder | None:
    try:
        return Holder(**json.loads((folder / RECORD).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):  # never written, cut short by a power cut, or of another version
        return None


def require_gone(folder: Path, unlock: str, sure: bool = False) -> str:
    """The run that left the lock on a folder; raise, with a remedy, if it or one of its jobs may still be alive.

    unlock: the command that removes the lock.  sure: the user gave it; then only processes visible from here count.
    """
    name, held, here = str(folder) if folder.name else "results", recorded(folder), holder(os.getpid())
    rebooted = held and held[:2] == here[:2] and held.boot != here.boot
    visible = held and held[:4] == here[:4]
    if held and visible and is_alive(held):
        raise ValueError(f"{name}: a run is at work there: {held}; wait, or stop it with `{interrupt(held.process)}`")
    if line := queued(folder, sure):  # before what is seen here: Slurm ends its own jobs, on this node too
        raise ValueError(f"{name}: {line}")
    if alive := at_work(folder):
        who = ", ".join(f"{what} (process {number})" for number, what in alive.items())
        stop = f"kill {' '.join(map(str, alive))}"
        raise ValueError(f"{name}: left by a run that was killed, and still at work: {who}; wait, or `{stop}`")
    if sure or visible or rebooted:
        return str(held or "a run of which nothing is known")
    if held is None:
        raise ValueError(f"{name}: locked, and nothing says by whom; if no run is at work there, `{unlock}`")
    raise ValueError(f"{name}: locked by a run that cannot be seen from here: {held}; if it is surely gone, `{unlock}`")


def is_alive(held: Holder) -> bool:
    return bool(held.start) and started(held.process) == held.start


def started(process: int) -> str:
    """When a process began, in the system's own count; "" if there is none, or only its exit code is left."""
    if (PROC / "self/stat").exists():
        state, *others = first_line(PROC / str(process) / "stat").rpartition(")")[2].split() or [""]
        return "" if state in ("", "Z", "X") else others[18]
    state, _, date = told("ps", "-o", "stat=,lstart=", "-p", str(process)).strip().partition(" ")
    return "" if state.startswith("Z") else date.strip()


def interrupt(process: int) -> str:
    """The command that does what Ctrl-C does: to the whole group, if the process leads one."""
    leads = os.getpgid(process) == process
    return f"kill -INT -- -{process}" if leads else f"kill -INT {process}"


def at_work(folder: Path) -> dict[int, str]:
    """Processes of this machine that work on a run: the rule of a job, or Snakemake where its folder can be told."""
    folder, found = folder.resolve(), {}
    for process, command in commands():
        script = SCRIPT.search(" ".join(command))
        if script and f"{folder}/.snakemake/scripts/" in " ".join(command):
            found[process] = script[1]
        elif any(Path(part).name == "snakemake" for part in command[:3]) and directory(process) == folder:
            found[process] = "snakemake"
    return dict(sorted(found.items()))


def commands() -> Iterator[tuple[int, list[str]]]:
    """Number and command line of every process but this one."""
    if (PROC / "self/cmdline").exists():
        numbers = [int(path.name) for path in PROC.iterdir() if path.name.isdecimal()]
        listed = [(number, first_line(PROC / str(number) / "cmdline").split("\0")) for number in numbers]
    else:
        lines = [line.split() for line in told("ps", "-A", "-ww", "-o", "pid=,args=").splitlines()]
        listed = [(int(number), command) for number, *command in lines]
    return ((number, command) for number, command in listed if number != os.getpid())


def directory(process: int) -> Path | None:
    """The current folder of a process; None where the system does not tell."""
    try:
        return (PROC / str(process) / "cwd").readlink()
    except OSError:
        return None


def queued(folder: Path, sure: bool) -> str:
    """What to say of jobs that a killed run left with Slurm; "" if there are none."""
    locked = lock_date(folder) or 0.0
    logs = [path for path in (folder / ".snakemake/log").glob("*.log") if path.stat().st_mtime >= locked]
    for run in {match[1] for path in logs if (match := SLURM.search(path.read_text(errors="replace")))}:
        squeue = ["squeue", "--noheader", f"--name={run}", "--format=%i %k"]
        try:
            listed = subprocess.run(squeue, capture_output=True, text=True, check=True)  # noqa: S603  # of Slurm
        except (OSError, subprocess.CalledProcessError) as error:
            if sure:
                continue
            return f"its jobs may be in Slurm's queue, and squeue failed ({error}); `squeue --name={run}`"
        if jobs := listed.stdout.split("\n")[:-1]:
            names = ", ".join(" ".join(job.split()) for job in jobs)
            return f"left by a run that was killed, and in Slurm's queue: {names}; wait, or `scancel --name={run}`"
    return ""


def first_line(path: Path) -> str:
    """Of a small file of the system; "" if it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip("\n")
    except OSError:
        return ""


def told(*command: str) -> str:
    """What a program of the system says; "" if there is no such program."""
    try:
        return subprocess.run(command, capture_output=True, text=True).stdout  # noqa: S603  # of the system
    except OSError:
        return ""
