"""A run on the test cluster: its folder, its coordinator, its jobs."""

import csv
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import yaml

from support.slurm import DIES_WITH_US, Cluster, Job, wait
from support.workflow import SMOKE

CONFIG = "tests/cluster/config.yaml"
# The path of the model to its rates, one simulation, and a figure, which is a local rule.
TARGETS = ("results/rates/heads.zarr.zip", "results/rates/sphere.zarr.zip", "results/figures/first_order.png")
# The GPUs here are fake: jobs ask for them as with `device: cuda`, and compute on the CPU.
ON_GPU = ("compute_limits", "measure_errors", "simulate_sphere")
GPUS = ("--set-resources", *(f"{rule}:gpu=1" for rule in ON_GPU))
HERE = ("--slurm-init-seconds-before-status-checks", "1")  # jobs of seconds


class Folder:
    """A copy of the repo, with results."""

    def __init__(self, path: Path, cluster: Cluster):
        self.path, self.cluster = path, cluster
        self.coordinators: list[Coordinator] = []

    def configure(self, section: str, **keys: int) -> None:
        """Change the config of this folder."""
        config = yaml.safe_load((self.path / CONFIG).read_text())
        config[section] |= keys
        (self.path / CONFIG).write_text(yaml.safe_dump(config))

    def snakemake(self, *arguments: str) -> None:
        command = [sys.executable, "-m", "snakemake", *arguments, "--configfile", SMOKE, CONFIG]
        done = subprocess.run(command, cwd=self.path, env=self.cluster.environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr

    def unlock(self) -> tuple[int, str]:
        """As `make unlock` calls it."""
        command = [sys.executable, "-m", "attnlimit.cli.run", "unlock"]
        variables = self.cluster.environment | {"PYTHONPATH": "scripts", "PATH": os.environ["PATH"]}  # squeue at once
        done = subprocess.run(command, cwd=self.path, env=variables, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def submit(self, *arguments: str, status: str = "squeue") -> "Coordinator":
        """With `sacct` as by the profile, or with `squeue` as where there is no accounting."""
        command = [*arguments, "--profile", "profiles/slurm", *HERE, "--slurm-status-command", status]
        command += ["--configfile", SMOKE, CONFIG]
        self.coordinators.append(Coordinator(self, command))
        return self.coordinators[-1]

    def efficiency(self) -> list[dict[str, str]]:
        """The reports that the profile asks for: what each job used of what it requested, as Slurm counted it."""
        reports = (self.path / "results/logs/slurm").glob("efficiency_report_*.csv")
        return [row for path in reports for row in csv.DictReader(path.read_text().splitlines())]

    def clear(self) -> None:
        """After a failed test: no coordinator, no jobs, no lock."""
        for run in self.coordinators:
            run.process.kill()
            run.process.wait()
        self.cluster.run("scancel", "--partition=both")
        self.snakemake("--unlock")


class Coordinator:
    """A Snakemake that submits jobs, running."""

    def __init__(self, folder: Folder, arguments: list[str]):
        self.cluster = folder.cluster
        self.log = folder.path / "coordinator.log"
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [*DIES_WITH_US, sys.executable, "-m", "snakemake", *arguments],
                cwd=folder.path,
                env=self.cluster.environment,
                stdout=log,
                stderr=log,
            )

    def run_id(self) -> str:
        """The name that all its jobs have."""
        found = wait(lambda: re.search(r"SLURM run ID: (\S+)", self.log.read_text()), "run ID")
        return found.group(1)

    def jobs(self, rule: str | None = None) -> list[Job]:
        return [job for job in self.cluster.jobs(self.run_id()) if rule in (None, job.rule)]

    def hold(self, rule: str, count: int) -> dict[int, Job]:
        """Stop the scripts of so many jobs of a rule as soon as they run, to keep them mid-job: process -> job."""
        held = {}

        def enough() -> bool:
            assert self.process.poll() is None, self.log.read_text()
            for job in self.jobs(rule):
                script = self.cluster.script(job.number)
                if script and script not in held and len(held) < count:
                    os.kill(script, signal.SIGSTOP)
                    held[script] = job
            return len(held) == count

        wait(enough, f"running {rule}")
        return held

    def finish(self) -> list[Job]:
        """All its jobs, when it has ended well."""
        assert self.process.wait(1800) == 0, self.log.read_text()
        return self.jobs()


def release(held: dict[int, Job]) -> None:
    for script in held:
        os.kill(script, signal.SIGCONT)
