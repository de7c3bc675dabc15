"""The whole workflow, run by a test in a folder of its own."""

import hashlib
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import yaml

from attnlimit.workflow.workflow_files import files_in_place
from support import fresh_snakemake

ROOT = Path(__file__).parents[2]
SMOKE = "tests/smoke/config.yaml"


def clone(folder: Path) -> Path:
    """The files of the repo as they are now, without results."""
    for name in files_in_place(ROOT):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, folder / name)
    return folder


def snakemake(folder: Path, *arguments: str, config: str = SMOKE) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "snakemake", *arguments, "--cores", "2", "--configfile", config]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def planned(folder: Path, config: str = SMOKE) -> dict[str, int]:
    """Rule -> number of jobs that `snakemake -n` lists."""
    run = fresh_snakemake.run(folder, "-n", "--cores", "2", "--configfile", config)
    assert run.returncode == 0, run.stderr
    if "Nothing to be done" in run.stdout + run.stderr:
        return {}
    table = (run.stdout + run.stderr).split("Job stats:")[1].split("\n\n")[0]
    return {name: int(count) for name, count in re.findall(r"^(\w+) +(\d+)$", table, re.M) if name != "total"}


def dependents(folder: Path, *starts: str, config: str = SMOKE) -> dict[str, int]:
    """Rule -> number of jobs that must run with those at the starts: these, and all that read what they make.

    A start is a pattern: the name of a rule, or also of what a job makes, as in `measure_tails results/tails/.*`.
    """
    run = fresh_snakemake.run(folder, "-n", "--forceall", "--cores", "2", "--configfile", config)
    blocks = re.split(r"^(?:local)?rule (\w+):$", run.stdout + run.stderr, flags=re.M)[1:]
    left = []  # of each job: its rule, what it reads, what it makes
    for rule, text in zip(blocks[::2], blocks[1::2], strict=True):
        read, made = (re.search(rf"^    {name}: (.*)$", text, re.M) for name in ("input", "output"))
        left.append((rule, set(read[1].split(", ")) if read else set(), made[1].split(", ") if made else []))
    reached: set[str] = set()
    counts: Counter[str] = Counter()
    while chosen := [
        job
        for job in left
        if job[1] & reached
        or any(re.fullmatch(start, name) for start in starts for name in (job[0], *(f"{job[0]} {x}" for x in job[2])))
    ]:
        left = [job for job in left if job not in chosen]
        reached.update(file for job in chosen for file in job[2])
        counts.update(job[0] for job in chosen)
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
    lock = hashlib.sha256((folder / "requirements.lock").read_bytes()).hexdigest()
    (folder / ".venv/ready").write_text(f"{lock} {sys.version_info.major}.{sys.version_info.minor}\n")


def make(folder: Path, *arguments: str, **options) -> tuple[int, list[str]]:
    """The return code of a verb, and the lines that it printed."""
    command = ["make", *arguments]
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    return done.returncode, done.stdout.splitlines()
