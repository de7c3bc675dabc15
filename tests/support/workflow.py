"""The whole workflow, run by a test in a folder of its own."""

import hashlib
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import yaml

from attnlimit.cli.envs import LOCKS
from attnlimit.workflow.workflow_files import files_in_place
from support import fresh_snakemake

ROOT = Path(__file__).parents[2]
SMOKE = "tests/smoke/config.yaml"


def clone(folder: Path) -> Path:
    """The files of the repo as they are now, without results; only those that differ are written, which is slow."""
    for name in files_in_place(ROOT):
        source, target = ROOT / name, folder / name
        if not (target.is_file() and date_and_size(target) == date_and_size(source)):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
    return folder


def date_and_size(path: Path) -> tuple[int, int]:
    return path.stat().st_mtime_ns, path.stat().st_size


def snakemake(folder: Path, *arguments: str, config: str = SMOKE) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "snakemake", *arguments, "--cores", "2", "--configfile", config]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def planned(folder: Path, config: str = SMOKE) -> dict[str, int]:
    """Rule -> number of jobs that `snakemake -n` lists."""
    run = fresh_snakemake.run(folder, "-n", "--cores", "2", "--configfile", config)
    assert run.returncode == 0, run.stderr
    if "Nothing to be done" in run.stderr:
        return {}
    table = run.stderr.split("Job stats:")[1].split("\n\n")[0]
    return {name: int(count) for name, count in re.findall(r"^(\w+) +(\d+)$", table, re.M) if name != "total"}


class Job(NamedTuple):
    """What `snakemake -n` says of a job."""

    rule: str
    input: list[str]
    output: list[str]
    text: str  # all of it

    @property
    def names(self) -> list[str]:
        """The rule alone, and with each file that it makes."""
        return [self.rule, *(f"{self.rule} {file}" for file in self.output)]


def all_jobs(folder: Path, *options: str) -> list[Job]:
    """Those of the smoke config, whatever is there; with other options than --forceall, those that would run."""
    run = fresh_snakemake.run(folder, "-n", *(options or ["--forceall"]), "--cores", "2", "--configfile", SMOKE)
    blocks = re.split(r"^(?:local)?rule (\w+):$", run.stderr, flags=re.M)[1:]
    files = [re.findall(rf"^    {name}: (.*)$", text, re.M) for text in blocks[1::2] for name in ("input", "output")]
    lists = [line[0].split(", ") if line else [] for line in files]
    return [Job(*parts) for parts in zip(blocks[::2], lists[::2], lists[1::2], blocks[1::2], strict=True)]


def dependents(jobs: list[Job], *starts: str) -> dict[str, int]:
    """Rule -> number of jobs that must run with those at the starts: these, and all that read what they make.

    A start is a pattern: the name of a rule, or also of what a job makes, as in `measure_tails results/tails/.*`.
    """
    reached: set[str] = set()
    counts: Counter[str] = Counter()
    while chosen := [
        job
        for job in jobs
        if reached & {*job.input}
        or any(
            re.fullmatch(start, name)
            for start in starts
            for name in (job.rule, *(f"{job.rule} {x}" for x in job.output))
        )
    ]:
        jobs = [job for job in jobs if job not in chosen]
        reached.update(file for job in chosen for file in job.output)
        counts.update(job.rule for job in chosen)
    return dict(counts)


def overlay(folder: Path, **changes: dict) -> None:
    """Change keys of the smoke config in this folder."""
    config = yaml.safe_load((folder / SMOKE).read_text())
    for section, keys in changes.items():
        config[section] = config.get(section, {}) | keys if isinstance(keys, dict) else keys
    (folder / SMOKE).write_text(yaml.safe_dump(config))


def hashes(folder: Path) -> dict[str, str]:
    """sha256 of every result, but not of logs, timings, and the parts that jobs were cut into."""
    files = [path for path in (folder / "results").rglob("*") if path.is_file()]
    left_out = {"logs", "benchmarks", "parts", "report.html"}
    kept = [path for path in files if not left_out & set(path.parts)]
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in kept}


def environment(folder: Path) -> None:
    """A .venv that is ready, as `make setup` leaves it: the one that runs the tests, under a `ready` of its own."""
    (folder / ".venv").mkdir()
    for path in Path(sys.prefix).iterdir():
        if path.name != "ready":
            (folder / ".venv" / path.name).symlink_to(path)
    locks = hashlib.sha256(b"".join((folder / name).read_bytes() for name in LOCKS)).hexdigest()
    (folder / ".venv/ready").write_text(f"{locks} {sys.version_info.major}.{sys.version_info.minor}\n")


def make(folder: Path, *arguments: str, **options) -> tuple[int, list[str]]:
    """The return code of a verb, and the lines that it printed."""
    command = ["make", *arguments]
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    return done.returncode, done.stdout.splitlines()
