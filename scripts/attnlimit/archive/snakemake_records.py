"""What Snakemake noted of the job behind each file. The only module that knows how it keeps its records."""

import json
import re
from base64 import urlsafe_b64encode
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(".snakemake/metadata")
FORMAT = 6  # of the records of snakemake 9.27; with another number the keys may mean other things


class Job(NamedTuple):
    """A job that has run: its rule, its files, its parameters."""

    rule: str
    log: str  # unique: it names the job
    input: tuple[str, ...]
    output: tuple[str, ...]
    params: tuple[str, ...]  # values without names, which is what Snakemake compares
    parameters: dict[str, str]  # the same with their names

    @property
    def name(self) -> str:
        """Such as measure_errors/layer_3_part_0; only the rule, if that has one job."""
        return f"{self.rule}/{Path(self.log).stem}".removesuffix("/log")


class Params(NamedTuple):
    """The params of a rule as it is now: those that all its jobs share, and the names of those that vary."""

    fixed: dict[str, str]
    varying: list[str]


def trace(targets: Iterable[str], root: Path, rules: dict[str, Params]) -> tuple[list[Job], list[str]]:
    """All jobs behind the targets, by name, and the files that no job made: what the user brought."""
    records: dict[str, dict] = {}
    outputs: dict[str, list[str]] = {}
    brought, queue, seen = [], list(targets), set()
    while queue:
        name = queue.pop()
        if name in seen:
            continue
        seen.add(name)
        record = read_record(name, root)
        if record is None:
            brought.append(name)
            continue
        log = record["log"][0]
        records[log] = record
        outputs.setdefault(log, []).append(name)
        queue += record["input"]
    jobs = []
    for log, record in records.items():
        files = tuple(record["input"]), tuple(sorted(outputs[log]))
        named = parameters(record, rules[record["rule"]])
        jobs.append(Job(record["rule"], log, *files, tuple(record["params"]), named))
    return sorted(jobs, key=lambda job: job.name), sorted(brought)


def parameters(record: dict, params: Params) -> dict[str, str]:
    """Names and values of a job's params; raise unless they are those of its rule as it is now.

    Those that vary follow from the wildcards, which stand in the name of the log (layer_3); at most one of them is not
    a wildcard itself.
    """
    log, rest = record["log"][0], list(record["params"])
    wildcards = dict(re.findall(r"([a-z]+)_(\d+)", Path(log).stem))
    named = params.fixed | {name: wildcards[name] for name in params.varying if name in wildcards}
    changed = ValueError(f"{log}: that job ran with other parameters than these; run `make reproduce` again")
    for value in named.values():
        if value not in rest:
            raise changed
        rest.remove(value)
    other = [name for name in params.varying if name not in named]
    if len(rest) != len(other):
        raise changed
    return named | dict(zip(other, rest, strict=True))


def read_record(name: str, root: Path) -> dict | None:
    """The record of one file; None for a file that no job made: all that jobs make is in results/."""
    if not name.startswith("results/"):
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


def write_records(jobs: Iterable[Job], root: Path, time: float) -> None:
    """Let Snakemake know of these jobs as if they had run here, so that it can tell what a change reaches."""
    (root / FOLDER).mkdir(parents=True)
    (root / FOLDER).with_name("incomplete").mkdir()
    for job in jobs:
        record: dict[str, object] = {"rule": job.rule, "input": list(job.input), "log": [job.log]}
        record["params"] = list(job.params)
        record |= {"record_format_version": FORMAT, "incomplete": False, "starttime": time, "endtime": time}
        for name in job.output:
            record_path(name, root).write_text(json.dumps(record), encoding="utf-8")
