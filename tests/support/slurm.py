"""A real Slurm of two nodes and its accounting on this machine, in one scratch folder: daemons, jobs, faults."""

import os
import re
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

CONF = Path(__file__).with_name("slurm.conf")
ACCOUNTING = CONF.with_name("slurmdbd.conf")
DATABASE = Path("/usr/share/mysql/mysql_system_tables.sql")  # what an empty database begins with
NODES = ("n1", "n2")
PACKAGES = ("slurm-wlm", "munge", "slurmdbd", "mariadb-server-core")  # the last without a service
PROGRAMS = ("munged", "slurmctld", "slurmd", "slurmdbd", "mariadbd", "srun", "squeue", "sacct")
DIES_WITH_US = ("setpriv", "--pdeathsig", "KILL")  # before a command: the kernel ends it if this process dies
ENDED = ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY")

# The plugin's job step forgets where the configuration is before it calls srun.
SRUN = """#!/bin/sh
SLURM_CONF={scratch}/slurm.conf exec {real} "$@"
"""
# The plugin asks ten seconds later each time that nothing has ended. Here the answer comes when something has.
STATUS = """#!/bin/sh
case "$*" in *" --noheader "*" --name "*) ;; *) exec {real} "$@" ;; esac
for name; do :; done
told={scratch}/told.$name
for tick in $(seq 60); do
    answer=$({real} "$@") || exit 1
    ended=$(echo "$answer" | grep -Ec '({ended})')
    [ "$ended" = "$(cat $told 2>/dev/null || echo 0)" ] || break
    sleep 0.5
done
echo $ended > $told
echo "$answer"
"""


class Job(NamedTuple):
    """What Slurm knows of a job."""

    number: int
    rule: str
    state: str
    node: str
    restarts: int
    megabytes: int
    gpus: int


def missing() -> str | None:
    """What this machine lacks to run the cluster, in a line; None if nothing."""
    if os.geteuid() != 0:
        return "needs root: Slurm's daemons start jobs as their owner"
    if not installed() and not shutil.which("apt-get"):
        return "needs Slurm and munge, which it can install only on Debian"
    return None


def installed() -> bool:
    return all(shutil.which(program) for program in PROGRAMS)


def install() -> None:
    """Debian's packages, if they are not there. Their services are not wanted: the cluster has daemons of its own."""
    if installed():
        return
    quiet = os.environ | {"DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
    for command in (["update"], ["install", "--yes", "--no-install-recommends", *PACKAGES]):
        subprocess.run(["apt-get", "--quiet", *command], env=quiet, check=True, stdout=subprocess.DEVNULL)
    if Path("/run/systemd/system").exists():
        subprocess.run(["systemctl", "stop", "slurmd", "slurmctld", "slurmdbd", "munge"], check=True)


def wait(condition: Callable, what: str, seconds: float = 600):
    """The first true value of condition(); a busy machine may take long."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.5)
    raise TimeoutError(f"no {what} within {seconds} s")


def free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


class Cluster:
    """Daemons are children of this process and die with it, however it ends."""

    def __init__(self, scratch: Path):
        self.scratch = scratch
        self.daemons: dict[str, subprocess.Popen] = {}
        self.environment = os.environ | {
            "SLURM_CONF": f"{scratch}/slurm.conf",
            "PATH": f"{scratch}/bin:{os.environ['PATH']}",
            "MYSQL_UNIX_PORT": f"{scratch}/database.socket",
        }

    def configure(self) -> None:
        """Everything that the daemons read."""
        real = {name: shutil.which(name) for name in ("srun", "squeue", "sacct")}
        for folder in ("bin", "state", *(f"spool.{node}" for node in NODES)):
            (self.scratch / folder).mkdir()
        names = {"scratch": self.scratch, "host": socket.gethostname().split(".")[0]}
        names |= dict(zip(("port", "port_n1", "port_n2", "port_accounting"), free_ports(4), strict=True))
        for conf in (CONF, ACCOUNTING):
            (self.scratch / conf.name).write_text(conf.read_text().format(**names))
            (self.scratch / conf.name).chmod(0o600)
        (self.scratch / "cgroup.conf").write_text("CgroupAutomount=no\n")
        for name, script in (("srun", SRUN), ("squeue", STATUS), ("sacct", STATUS)):
            path = self.scratch / "bin" / name
            path.write_text(script.format(scratch=self.scratch, real=real[name], ended="|".join(ENDED)))
            path.chmod(0o755)
        lines = ["AutoDetect=off"]
        for node in NODES:
            for number in range(2):
                device = self.scratch / f"gpu.{node}.{number}"
                os.mknod(device, 0o600 | 0o020000, os.makedev(1, 3))  # a null device that stands for a GPU
                lines.append(f"NodeName={node} Name=gpu File={device}")
        (self.scratch / "gres.conf").write_text("\n".join(lines) + "\n")
        key = self.scratch / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)

    def daemon(self, name: str, *command: str) -> None:
        """Start a daemon in the foreground."""
        with (self.scratch / f"{name}.log").open("ab") as log:
            self.daemons[name] = subprocess.Popen(
                [*DIES_WITH_US, *command],
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                env=self.environment,
                start_new_session=True,  # Ctrl-C ends the tests, which then end the daemons in order
            )

    def start(self) -> None:
        self.configure()
        here = self.scratch
        munge = [f"--key-file={here}/munge.key", f"--socket={here}/munge.socket", f"--pid-file={here}/munged.pid"]
        munge += [f"--log-file={here}/munged.txt", f"--seed-file={here}/munge.seed"]
        self.daemon("munged", "munged", "--foreground", "--force", *munge)
        wait((here / "munge.socket").exists, "socket of munged", 30)
        self.start_accounting()
        self.daemon("slurmctld", "slurmctld", "-D", "-c")
        for node in NODES:
            self.start_node(node)
        wait(lambda: self.node_states() == {node: "idle" for node in NODES}, f"two idle nodes; see {here}/*.log", 60)

    def start_accounting(self) -> None:
        """A database that only its socket leads to, and the daemon that keeps what jobs used in it."""
        (self.scratch / "database").mkdir()
        server = ["mariadbd", "--no-defaults", "--user=root", f"--datadir={self.scratch}/database"]
        tables = f"create database mysql;\nuse mysql;\n{DATABASE.read_text()}"
        subprocess.run([*server, "--bootstrap"], input=tables, text=True, check=True, capture_output=True)
        server += [f"--socket={self.environment['MYSQL_UNIX_PORT']}", f"--pid-file={self.scratch}/mariadbd.pid"]
        self.daemon("mariadbd", *server, "--skip-networking", "--skip-grant-tables")
        wait(Path(self.environment["MYSQL_UNIX_PORT"]).exists, "socket of mariadbd", 60)
        self.daemon("slurmdbd", "slurmdbd", "-D")
        add = ["sacctmgr", "--immediate", "--quiet", "add", "cluster", "attnlimit"]
        known = partial(subprocess.run, add, env=self.environment, capture_output=True)
        wait(lambda: known().returncode == 0, f"accounting; see {self.scratch}/*.log", 60)

    def start_node(self, node: str) -> None:
        self.daemon(node, "slurmd", "-D", "-N", node)

    def stop(self) -> None:
        """End all jobs, then the daemons, then whatever of theirs is left."""
        if "slurmctld" in self.daemons and self.daemons["slurmctld"].poll() is None:
            subprocess.run(["scancel", "--partition=both"], env=self.environment)
            end = time.monotonic() + 30
            while self.processes() and time.monotonic() < end:
                time.sleep(0.2)
        for process in reversed(self.daemons.values()):
            process.terminate()
        for process in self.daemons.values():
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for number in self.processes():
            kill(number)

    def run(self, *command: str) -> str:
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout

    def node_states(self) -> dict[str, str]:
        listed = subprocess.run(
            ["sinfo", "--noheader", "--Node", "--format=%N %T"], env=self.environment, capture_output=True, text=True
        )
        return dict(line.split() for line in listed.stdout.splitlines())

    def jobs(self, run_id: str | None = None) -> list[Job]:
        """All jobs since the start, in the order of submission, or those of one coordinator."""
        found = []
        for line in self.run("scontrol", "show", "jobs", "--details", "--oneliner").splitlines():
            fields = dict(re.findall(r"(?:^| )(\w+)=(\S*)", line))
            if "JobId" in fields and run_id in (None, fields["JobName"]):
                found.append(
                    Job(
                        int(fields["JobId"]),
                        fields["Comment"].removeprefix("rule_").split("_wildcards_")[0],
                        fields["JobState"],
                        fields["NodeList"],
                        int(fields["Restarts"]),
                        int(fields["MinMemoryNode"].removesuffix("M")),
                        int(re.sub(r"\D", "", fields.get("JOB_GRES", "")) or 0),  # gpu:1, or (null)
                    )
                )
        return sorted(found)

    def processes(self, job: int | None = None, text: str = "") -> list[int]:
        """Of one job or of all, with this text in the command; their environment names the scratch folder."""
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                variables = (folder / "environ").read_text(errors="replace").split("\0")
                command = (folder / "cmdline").read_text(errors="replace")
            except (FileNotFoundError, ProcessLookupError, PermissionError):  # it has ended, or is not ours
                continue
            ours = f"SLURM_CONF={self.scratch}/slurm.conf" in variables
            jobs = [variable for variable in variables if variable.startswith("SLURM_JOB_ID=")]
            if ours and jobs and job in (None, int(jobs[0].split("=")[1])) and text in command:
                found.append(int(folder.name))
        return found

    def script(self, job: int) -> int | None:
        """The process that runs the script of a job, once it has started."""
        return next(iter(self.processes(job, "/.snakemake/scripts/")), None)

    def crash(self, node: str) -> None:
        """Kill a node as a power cut does: its daemon, its jobs, and Slurm's processes that watch over them."""
        self.daemons[node].kill()
        self.daemons[node].wait()
        for job in [job.number for job in self.jobs() if job.state == "RUNNING" and job.node == node]:
            processes = self.processes(job)
            for number in {watcher for each in processes if (watcher := watcher_of(each))}:
                kill(number)
            for number in processes:
                kill(number)


def kill(number: int) -> None:
    with suppress(ProcessLookupError):  # it has ended
        os.kill(number, signal.SIGKILL)


def watcher_of(process: int) -> int | None:
    """The slurmstepd that started a process of a job, if the process has not ended."""
    try:
        parent = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1]
        return int(parent) if Path(f"/proc/{parent}/comm").read_text().strip() == "slurmstepd" else None
    except (FileNotFoundError, ProcessLookupError):
        return None
