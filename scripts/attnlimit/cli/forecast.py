"""What a run would do now, why, and for how long: `make plan`.

Snakemake decides which jobs must run, and says that parameters changed; which keys of the config those are follows
from its record of the last time.
"""

import contextlib
import io
import os
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import yaml
from snakemake.api import SnakemakeApi, WorkflowApi
from snakemake.exceptions import RuleException, WorkflowError
from snakemake.settings.enums import ChangeType, Quietness, RerunTrigger
from snakemake.settings.types import ConfigSettings, DAGSettings, OutputSettings, ResourceSettings

from attnlimit.base.log import counted
from attnlimit.cli.time_left import TARGET, TimeLeft
from attnlimit.sources.corpus.survey import remarks_on
from attnlimit.workflow.amounts import duration
from attnlimit.workflow.config import require_readable
from attnlimit.workflow.costs import assumption, expected_seconds
from attnlimit.workflow.holder import RECORD
from attnlimit.workflow.leftovers import summary, unused_layers
from attnlimit.workflow.snakemake_records import parameters_in

PROFILE = "profiles/default/config.yaml"
FILES = "the workflow's files"
UNNAMED = {  # parameters that are no keys of the config
    "code": "code: its script, library code that it uses, or its env file",
    "rules": "the parameters of other rules",
    "commit": FILES,
    "source": FILES,
}
ABSENT = "(none)"  # in place of a value
LISTED = 3  # reasons of a rule, and files of a reason
VALUES = 14  # of a list that is written out
INPUTS_RERUN = "its inputs are rebuilt"


class Planned(NamedTuple):
    """A job that would run."""

    rule: str
    reasons: tuple[str, ...]
    seconds: float  # expected


def plan(root: Path, folder: Path, overlays: list[Path], cores: int) -> str:
    """The text of `make plan`."""
    config, jobs = planned_jobs(root, folder, overlays)
    name = "results" if folder.resolve() == Path.cwd() else folder
    lines = report(jobs, cores) if jobs else [f"{name}: finished; nothing would run"]
    if jobs and (note := assumption(config, folder)):
        lines.append(note)
    if any(job.rule == "fetch_corpus" for job in jobs):
        location = config["fetch_corpus"]["location"]
        lines += [f"note: {location}: {remark}" for remark in remarks_on(require_readable(config, root))]
    if stores := unused_layers(folder, config["layers"]):
        lines += [f"not needed: {summary(stores)}; `make tidy` removes them", *(f"  {path}" for path in stores)]
    return "\n".join(lines)


@contextlib.contextmanager
def loaded_workflow(root: Path, folder: Path, overlays: Sequence[Path] = ()) -> Iterator[WorkflowApi]:
    """The workflow as Snakemake reads it for a run in a folder; the Snakefile sets variables by the run's config."""
    before, environment = Path.cwd(), dict(os.environ)
    try:
        with SnakemakeApi(OutputSettings(quiet={Quietness.ALL})) as snakemake:
            yield snakemake.workflow(
                resource_settings=ResourceSettings(cores=1),
                config_settings=ConfigSettings(configfiles=overlays),
                snakefile=root / "Snakefile",
                workdir=folder,
            )
    finally:
        os.chdir(before)
        os.environ.clear()
        os.environ.update(environment)


def planned_jobs(root: Path, folder: Path, overlays: list[Path]) -> tuple[dict, list[Planned]]:
    """The resolved config, and the jobs that Snakemake would run in a folder, which is not left behind if it is new."""
    made = next((path for path in (*reversed(folder.parents), folder) if not path.exists()), None)
    names = yaml.safe_load((root / PROFILE).read_text(encoding="utf-8"))["rerun-triggers"]
    triggers = {RerunTrigger.parse_choice(name) for name in names}
    try:
        with loaded_workflow(root, folder, overlays) as workflow:
            dag = workflow.dag(DAGSettings(rerun_triggers=triggers, force_incomplete=True))
            with contextlib.redirect_stdout(io.StringIO()):
                dag.list_changes(ChangeType.PARAMS)  # the cheapest call that builds the graph
            inner = workflow._workflow
            config = inner.config
            seconds = cache(partial(expected_seconds, config))  # here: the shape of a fetched model is in this folder
            jobs = [
                Planned(job.rule.name, tuple(reasons(job, inner.dag.reason(job), config)), seconds(job.rule.name))
                for job in inner.dag.needrun_jobs()
            ]
    except (WorkflowError, RuleException) as error:  # such as a file that is missing
        raise ValueError(f"{folder}: cannot be planned: {' '.join(str(error).split())}") from error
    finally:
        if made is not None:
            remove_new(folder, made)
    return config, sorted(jobs)


def remove_new(folder: Path, made: Path) -> None:
    """Remove a folder that planning made, and those above it from `made` on, unless a run has begun there since."""
    if (folder / RECORD).exists():
        return
    shutil.rmtree((folder / RECORD).parent, ignore_errors=True)
    for path in (folder, *folder.parents):
        with contextlib.suppress(OSError):  # not empty: something else began in it
            path.rmdir()
        if path == made:
            return


def reasons(job, reason, config: dict) -> Iterable[str]:
    """Why a job would run, by keys of the config and files."""
    if reason.forced:
        yield "forced"
    if reason.params_changed:
        yield from changes(job.rule.name, job.params.job, reason.params_changed.only_old, config)
    if reason.updated_input - reason.updated_input_run:
        yield f"changed: {listed(reason.updated_input - reason.updated_input_run)}"
    if reason.input_changed:
        yield "another set of input files"
    if reason.incomplete_output:
        yield "was interrupted"
    if reason.missing_output:
        yield "not made yet"
    if reason.updated_input_run:
        yield INPUTS_RERUN


def listed(names: Iterable[object]) -> str:
    names = sorted(map(str, names))
    return ", ".join(names[:LISTED]) + (f" and {len(names) - LISTED} more" if len(names) > LISTED else "")


def changes(rule: str, now: dict, recorded: Iterable[str], config: dict) -> list[str]:
    """The keys that changed since the records were written, as `section.key: before -> now`."""
    lines = []
    for text in recorded:
        before = parameters_in(text)
        if before is None:
            return ["its record is of an older version of this workflow"]
        for name, new, old in differing(now, before):
            if name in UNNAMED:
                lines.append(UNNAMED[name])
            elif isinstance(new, dict) and isinstance(old, dict):  # a section, or the whole config
                lines += keys_changed(rule, new, old, config)
            else:
                lines.append(f"{key_of(rule, name, new, config)}: {brief(old)} -> {brief(new)}")
    return list(dict.fromkeys(lines))


def differing(now: dict, before: dict) -> Iterator[tuple[str, object, object]]:
    """Keys with another value than before, their value now and before."""
    for key in dict.fromkeys([*now, *before]):
        new, old = now.get(key, ABSENT), before.get(key, ABSENT)
        if new != old:
            yield key, new, old


def keys_changed(rule: str, now: dict, before: dict, config: dict, prefix: str = "") -> list[str]:
    lines = []
    for key, new, old in differing(now, before):
        name = f"{prefix}{key}" if prefix or now == config else key_of(rule, key, new, config)
        if isinstance(new, dict) and isinstance(old, dict):
            lines += keys_changed(rule, new, old, config, f"{name}.")
        else:
            lines.append(f"{name}: {brief(old)} -> {brief(new)}")
    return lines


def key_of(rule: str, key: str, value: object, config: dict) -> str:
    """A parameter as the config names it: at its top, in the rule's own section, else in one with this value."""
    if key in config:
        return key
    sections = [name for name, section in config.items() if isinstance(section, dict) and key in section]
    own = [rule] if rule in sections else [name for name in sections if config[name][key] == value]
    return f"{own[0]}.{key}" if own else key


def brief(value: object) -> str:
    if isinstance(value, list) and len(value) > VALUES:
        return f"{value[0]} ... {value[-1]} ({len(value)} values)"
    text = str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def report(jobs: list[Planned], cores: int) -> list[str]:
    """A line a rule: jobs, time on one core, why; then the whole."""
    counts = Counter(job.rule for job in jobs if job.rule != TARGET)
    width = max(map(len, counts), default=0)
    lines = [f"{'rule':{width}}  jobs   time  why"]
    for rule, count in counts.items():
        why = Counter(reason for job in jobs if job.rule == rule for reason in job.reasons)
        own = [reason for reason, _ in why.most_common() if reason != INPUTS_RERUN]
        words = "; ".join(own[:LISTED] or why) + ("; ..." if len(own) > LISTED else "")
        seconds = sum(job.seconds for job in jobs if job.rule == rule)
        lines.append(f"{rule:{width}}  {count:4}  {duration(seconds):>5}  {words}")
    whole = f"{counted(sum(counts.values()), 'job')}, about {duration(whole_seconds(jobs, cores))}"
    return [*lines, f"{whole} on {counted(cores, 'core')} (an estimate, good to a factor of two)"]


def whole_seconds(jobs: list[Planned], cores: int) -> float:
    expected = {job.rule: job.seconds for job in jobs if job.rule != TARGET}
    return TimeLeft(Counter(job.rule for job in jobs if job.rule != TARGET), expected.__getitem__, cores).seconds()
