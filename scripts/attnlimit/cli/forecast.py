"""What a run would do now, why, and for how long: `make plan`.

Which jobs, and that they must run, is Snakemake's answer. It says that parameters changed; which keys of the config
those are is found here, by comparing its record of the last time with the parameters of now.
"""

import ast
import contextlib
import io
import os
import shutil
from collections import Counter
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import yaml
from snakemake.api import SnakemakeApi
from snakemake.settings.enums import ChangeType, Quietness, RerunTrigger
from snakemake.settings.types import ConfigSettings, DAGSettings, OutputSettings, ResourceSettings


from attnlimit.cli.time_left import TARGET, TimeLeft
from attnlimit.workflow.amounts import counted, duration
from attnlimit.workflow.costs import expected_seconds
from attnlimit.workflow.leftovers import told, unused_layers

PROFILE = "profiles/default/config.yaml"
FILES = "the workflow's files"
UNNAMED = {  # parameters that are no keys of the config
    "code": "code: its script, a library module behind it, or its env file",
    "rules": "the parameters of other rules",
    "commit": FILES,
    "source": FILES,
}
SHOWN = 3  # reasons of a rule, and files of a reason
SHOWN_VALUES = 14  # of a list, before it is told by its ends


class Planned(NamedTuple):
    """A job that would run."""

    rule: str
    reasons: tuple[str, ...]


def plan(root: Path, folder: Path, overlays: list[Path], cores: int) -> str:
    """The text of `make plan`."""
    config, jobs = planned_jobs(root, folder, overlays)
    lines = report(config, jobs, cores) if jobs else [f"{shown(folder)}: finished; nothing would run"]
    if stores := unused_layers(folder, config["layers"]):
        lines += [f"not needed: {told(stores)}; `make tidy` removes them", *(f"  {path}" for path in stores)]
    return "\n".join(lines)


def shown(folder: Path) -> str:
    """A run as its user knows it."""
    return "results" if folder.resolve() == Path.cwd() else str(folder)


def planned_jobs(root: Path, folder: Path, overlays: list[Path]) -> tuple[dict, list[Planned]]:
    """The resolved config, and the jobs that Snakemake would run in a folder; one that is not there stays away."""
    made = next((path for path in (*reversed(folder.parents), folder) if not path.exists()), None)
    triggers = yaml.safe_load((root / PROFILE).read_text(encoding="utf-8"))["rerun-triggers"]
    before, environment = Path.cwd(), dict(os.environ)
    try:
        with SnakemakeApi(OutputSettings(quiet={Quietness.ALL})) as snakemake:
            workflow = snakemake.workflow(
                resource_settings=ResourceSettings(cores=1),
                config_settings=ConfigSettings(configfiles=overlays),
                snakefile=root / "Snakefile",
                workdir=folder,
            )
            triggers = {RerunTrigger.parse_choice(name) for name in triggers}
            dag = workflow.dag(DAGSettings(rerun_triggers=triggers, force_incomplete=True))
            with contextlib.redirect_stdout(io.StringIO()):
                dag.list_changes(ChangeType.PARAMS)  # of what it offers, the least that builds the graph
            inner = workflow._workflow
            config = inner.config
            jobs = [
                Planned(job.rule.name, tuple(reasons(job, inner.dag.reason(job), config)))
                for job in inner.dag.needrun_jobs()
            ]
    finally:
        os.chdir(before)
        os.environ.clear()  # the Snakefile sets some for its jobs, by the config of this run
        os.environ.update(environment)
        if made is not None and made.is_dir():
            shutil.rmtree(made)
    return config, sorted(jobs)


def reasons(job, reason, config: dict) -> Iterable[str]:
    """Why a job would run, in words of the config and of files."""
    if reason.forced:
        yield "forced"
    if reason.params_changed:
        now = {name: value for name, value in job.params.items() if repr(value) in reason.params_changed.only_new}
        yield from changes(job.rule.name, now, map(parsed, reason.params_changed.only_old), config)
    if reason.updated_input - reason.updated_input_run:
        yield f"changed: {listed(reason.updated_input - reason.updated_input_run)}"
    if reason.input_changed:
        yield "another set of input files"
    if reason.incomplete_output:
        yield "was interrupted"
    if reason.missing_output:
        yield "not there yet"
    if reason.updated_input_run:
        yield "an input is made again"


def listed(names: Iterable[object]) -> str:
    names = sorted(map(str, names))
    return ", ".join(names[:SHOWN]) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")


def changes(rule: str, now: dict[str, object], before: Iterable[object], config: dict) -> list[str]:
    """The keys that changed: `section.key: before -> now`, of the parameters of now that are new, by name.

    Snakemake keeps old values without names: a new one is compared with the old one that is most like it.
    """
    old, lines = list(before), []
    for name, value in now.items():
        alike = [each for each in old if type(each) is type(value) and is_hash(each) == is_hash(value)]
        if name in UNNAMED:
            lines.append(UNNAMED[name])
        elif isinstance(value, dict):
            lines += keys_changed(rule, value, most_alike(value, old), config)
        elif alike:
            lines.append(f"{key_of(rule, name, value, config)}: {brief(alike[0])} -> {brief(value)}")
        else:
            lines.append(f"{key_of(rule, name, value, config)}: now {brief(value)}")
    return list(dict.fromkeys(lines)) or ["fewer parameters"]


def parsed(text: str) -> object:
    """The value that Snakemake wrote down; its text, if it is none that can be read back."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def is_hash(value: object) -> bool:
    return isinstance(value, str) and len(value) == 16 and set(value) <= set("0123456789abcdef")


def most_alike(value: dict, old: list) -> dict:
    """The dictionary among old values with most keys in common; {} if none has any."""
    dictionaries = [each for each in old if isinstance(each, dict) and each.keys() & value.keys()]
    return max(dictionaries, key=lambda each: len(each.keys() & value.keys()), default={})


def keys_changed(rule: str, value: dict, before: dict, config: dict, prefix: str = "") -> list[str]:
    """Lines for the keys of a section, or of a whole config, that differ from before."""
    lines = []
    for key in [*value, *(key for key in before if key not in value)]:
        if key in value and key in before and value[key] == before[key]:
            continue
        name = f"{prefix}{key}" if prefix or value == config else key_of(rule, key, value.get(key), config)
        if isinstance(value.get(key), dict) and isinstance(before.get(key), dict):
            lines += keys_changed(rule, value[key], before[key], config, f"{name}.")
        elif before:
            lines.append(f"{name}: {brief(before.get(key, '(none)'))} -> {brief(value.get(key, '(none)'))}")
    return lines


def key_of(rule: str, key: str, value: object, config: dict) -> str:
    """The name of a parameter in the config: at its top, in the rule's own section, else in one with this value."""
    if key in config:
        return key
    sections = [name for name, section in config.items() if isinstance(section, dict) and key in section]
    own = [rule] if rule in sections else [name for name in sections if config[name][key] == value]
    return f"{own[0]}.{key}" if own else key


def brief(value: object) -> str:
    if isinstance(value, list) and len(value) > SHOWN_VALUES:
        return f"{value[0]} ... {value[-1]} ({len(value)} values)"
    text = str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def report(config: dict, jobs: list[Planned], cores: int) -> list[str]:
    """A line a rule: jobs, time on one core, why; then the whole."""
    counts = Counter(job.rule for job in jobs if job.rule != TARGET)
    seconds = partial(expected_seconds, config)
    width = max(map(len, counts), default=0)
    lines = [f"{'rule':{width}}  jobs   time  why"]
    for rule, count in counts.items():
        why = Counter(reason for job in jobs if job.rule == rule for reason in job.reasons)
        told_first = [reason for reason, _ in why.most_common() if reason not in ("an input is made again",)]
        words = "; ".join(told_first[:SHOWN] or why) + ("; ..." if len(told_first) > SHOWN else "")
        lines.append(f"{rule:{width}}  {count:4}  {duration(count * seconds(rule)):>5}  {words}")
    whole = f"{counted(sum(counts.values()), 'job')}, about {duration(whole_seconds(config, jobs, cores))}"
    lines.append(f"{whole} on {counted(cores, 'core')} (an estimate, good to a factor of two)")
    return lines


def whole_seconds(config: dict, jobs: list[Planned], cores: int) -> float:
    """Of all these jobs on so many cores."""
    counts = Counter(job.rule for job in jobs if job.rule != TARGET)
    return TimeLeft(counts, partial(expected_seconds, config), cores).seconds()
