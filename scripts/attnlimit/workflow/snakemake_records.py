"""Snakemake's records of the job behind each file. The only module that knows their form."""

import ast
import json
import os
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(".snakemake/metadata")
LOCKS = Path(".snakemake/locks")
RESULTS = "results/"  # where jobs write, and nobody else
LOGS = "results/logs/"  # below it a folder a rule, in it a file a job
FORMAT = 6  # of the records of snakemake 9.27; with another number the keys may mean other things


class Job(NamedTuple):
    """A job that has run."""

    rule: str
    log: str  # unique: it names the job
    input: tuple[str, ...]
    output: tuple[str, ...]
    params: tuple[str, ...]  # as Snakemake records and compares them
    parameters: dict[str, str]  # the same by name, values as Python writes them
    start: float | None = None  # seconds since 1970
    end: float | None = None

    @property
    def name(self) -> str:
        """Such as measure_errors/layer_3_part_0; only the rule, if that has one job."""
        return self.log.removeprefix(LOGS).removesuffix(".txt").removesuffix("/log")


Rules = dict[str, dict[str, str | None]]  # parameters of each rule as it is now; None where they depend on wildcards


def trace(targets: Iterable[str], root: Path, rules: Rules, project: Path) -> tuple[list[Job], list[str]]:
    """All jobs behind the targets of the run in `root`, by name, and the files that no job made: those of the user.

    Those are named relative to the folder `project`, so that a run in a folder of its own and a default run, which a
    restored one is, name them alike.
    """
    records: dict[str, list[dict]] = {}  # of each output of a job, by its log
    outputs: dict[str, list[str]] = {}
    sources, queue, seen = [], list(targets), set()
    while queue:
        name = queue.pop()
        if name in seen:
            continue
        seen.add(name)
        record = read_record(name, root)
        if record is None:
            sources.append(from_project(name, root, project))
            continue
        log = record["log"][0]
        records.setdefault(log, []).append(record)
        outputs.setdefault(log, []).append(name)
        queue += record["input"]
    jobs = []
    for log, (record, *others) in records.items():
        files = tuple(from_project(name, root, project) for name in record["input"]), tuple(sorted(outputs[log]))
        values = parameters(record, rules[record["rule"]])
        starts, ends = ([each.get(key) for each in (record, *others)] for key in ("starttime", "endtime"))
        times = min(filter(None, starts), default=None), max(filter(None, ends), default=None)
        jobs.append(Job(record["rule"], log, *files, tuple(record["params"]), values, *times))
    return sorted(jobs, key=lambda job: job.name), sorted(sources)


def parameters(record: dict, expected: dict[str, str | None]) -> dict[str, str]:
    """Names and values of a job's parameters; raise unless they are those of its rule as it is now."""
    recorded = parameters_in(record["params"][0]) if record["params"] else None
    values = {name: repr(value) for name, value in (recorded or {}).items()}
    if values.keys() != expected.keys() or any(expected[name] not in (None, values[name]) for name in values):
        raise ValueError(
            f"{record['log'][0]}: that job ran with other parameters than these; run `make reproduce` again"
        )
    return values


def parameters_in(text: str) -> dict | None:
    """The dict that is the one param of a job; None if a job of an older version recorded something else."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return None
    return value if isinstance(value, dict) and "code" in value else None


def settings_behind(name: str, root: Path = Path()) -> dict | None:
    """The section of the config that a file was made with, by the record of its job; None without such a record."""
    path = record_path(name, root)
    params = json.loads(path.read_text(encoding="utf-8")).get("params") if path.is_file() else None
    return (parameters_in(params[0]) or {}).get("settings") if params else None


def from_project(name: str, root: Path, project: Path) -> str:
    """The name of a file of the user, given relative to `root`, relative to `project`."""
    if name.startswith(RESULTS) or Path(name).is_absolute():
        return name
    return os.path.relpath(root.resolve() / name, project.resolve())


def read_record(name: str, root: Path) -> dict | None:
    """The record of one file; None for a file that no job made: all that jobs make is in results/."""
    if not name.startswith(RESULTS):
        return None
    path = record_path(name, root)
    if not path.is_file():
        raise LookupError(f"{name}: Snakemake has no record of how it was made; run again with --forcerun {name}")
    record = json.loads(path.read_text(encoding="utf-8"))
    version = record.get("record_format_version")
    if version != FORMAT:
        raise ValueError(
            f"{path}: Snakemake's record of {name} has format {version}, this reads {FORMAT}; install the Snakemake of "
            f"requirements.lock and run again with --forcerun {name}"
        )
    return record


def record_path(name: str, root: Path) -> Path:
    return root / FOLDER / urlsafe_b64encode(name.encode()).decode()


def lock_date(root: Path) -> float | None:
    """When the lock that Snakemake keeps on a folder while it works was set; None without one."""
    return max((path.stat().st_mtime for path in (root / LOCKS).glob("*.lock")), default=None)


def forget_damaged_records(root: Path) -> list[str]:
    """Let Snakemake make again what a power cut left with a record cut short; it would take any date as right."""
    incomplete = (root / FOLDER).with_name("incomplete")
    names = []
    for path in [path for path in (root / FOLDER).glob("*") if path.is_file()]:
        try:
            json.loads(path.read_text(encoding="utf-8"))
        except ValueError:
            names.append(urlsafe_b64decode(path.name).decode())
            incomplete.mkdir(exist_ok=True)
            (incomplete / path.name).write_text('{"external_jobid": null}', encoding="utf-8")
            path.unlink()
    return sorted(names)


def write_records(jobs: Iterable[Job], root: Path) -> None:
    """Write what Snakemake would have recorded if these jobs had run here, so that it reruns what a change affects."""
    (root / FOLDER).mkdir(parents=True)
    (root / FOLDER).with_name("incomplete").mkdir()
    for job in jobs:
        record: dict[str, object] = {"rule": job.rule, "input": list(job.input), "log": [job.log]}
        record["params"] = list(job.params)
        record |= {"record_format_version": FORMAT, "incomplete": False}
        record |= {"starttime": job.start, "endtime": job.end}
        for name in job.output:
            record_path(name, root).write_text(json.dumps(record), encoding="utf-8")
