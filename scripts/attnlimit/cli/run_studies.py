"""Many studies with one command, then their comparison: `python -m attnlimit.cli.run_studies code legal --cores 2`.

Each is an ordinary run, one after the other. One that fails does not stop the others; the comparison says what is
missing.
"""

import argparse
import os
import shlex
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from attnlimit.cli.run import ROOT, Asked, is_old, note_stop, reproduce, require_folder
from attnlimit.cli.time_left import TimeLeft
from attnlimit.workflow.amounts import about, duration
from attnlimit.workflow.folders import RUNS, described, list_runs, overlays_of
from attnlimit.workflow.overlays import read_overlay
from attnlimit.workflow.plain_words import meant
from attnlimit.workflow.studies import NEEDED, is_finished, settings_of
from attnlimit.workflow.study_files import (
    COMPARISON,
    DEFAULT,
    DOWNLOADS,
    FEWEST,
    Study,
    chosen_studies,
    folder_of,
    write_comparison,
)

BESIDE = 20.0  # seconds of a run beside its jobs: Snakemake's start, its report
UNTOLD = "Snakemake ended with an error, which it told above"


class Outlook(NamedTuple):
    """What is known of a study before it runs."""

    seconds: float  # that it is expected to take; 0 if nothing would run
    label: str = ""  # its model and text
    refusal: str = ""  # why it cannot run; "" if it can


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="attnlimit.cli.run_studies", description=__doc__)
    parser.add_argument(
        "studies", nargs="*", help="names in configs/studies, or config files; all of the former if none"
    )
    parser.add_argument("--cores", type=int, default=1)
    given = parser.parse_args(arguments)
    words = f" STUDIES={shlex.quote(' '.join(given.studies))}" if given.studies else ""
    try:
        failed = run_and_compare(chosen_studies(ROOT, given.studies), given.cores)
    except (ValueError, LookupError, OSError) as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        print(f"stopped: what is finished is kept in {RUNS}/; go on with `make studies{words}`", file=sys.stderr)
        sys.exit(130)
    if failed:
        lines = [f"failed: {name}: {why}" for name, why in failed.items()]
        sys.exit("\n".join([*lines, f"go on with `make studies{words}`: what is finished does not run again"]))


def run_and_compare(studies: list[Study], cores: int) -> dict[str, str]:
    """Run all, compare those that finished; of what failed, the comparison among it, why."""
    os.environ.setdefault("ATTNLIMIT_DOWNLOADS", str(ROOT / RUNS / DOWNLOADS))
    failed = run_all(studies, cores)
    failed |= unfit([study.name for study in studies if study.name not in failed])
    names = [study.name for study in studies if study.name not in failed]
    if len(names) < FEWEST:
        print(
            f"not compared: {len(names)} of the studies asked for can be, {FEWEST} are needed; "
            'any others that are finished are compared by `make compare RUNS="…"`'
        )
        return failed
    print(f"comparison of {', '.join(names)}", flush=True)
    if why := outcome(comparison(names, failed, cores)):
        return failed | {f"the comparison in {RUNS}/{COMPARISON}": why}
    return failed


def run_all(studies: list[Study], cores: int) -> dict[str, str]:
    """Run one study after the other, with what is left for all in view; of those that failed, why."""
    print(f"planning {', '.join(study.name for study in studies)}", flush=True)
    expected = {study.name: outlook(study, cores) for study in studies}
    failed = {name: each.refusal for name, each in expected.items() if each.refusal}
    seconds = {name: each.seconds for name, each in expected.items() if name not in failed}
    taken: dict[str, float] = {}
    for number, study in enumerate(studies, 1):
        head = f"study {number} of {len(studies)}: {study.name}"
        if study.name in failed:
            print(f"{head} cannot run: {failed[study.name]}", flush=True)
            continue
        if not seconds[study.name] and is_whole(study.folder):
            print(f"{head} is finished", flush=True)
            continue
        print(f"{head}, {expected[study.name].label}; {told_left(seconds, taken)}", flush=True)
        start = time.monotonic()
        why = outcome(asked_of(study, cores))
        if why:
            failed[study.name] = why
            del seconds[study.name]
            print(f"{head} failed: {why}; {told_left(seconds, taken)}", flush=True)
            continue
        taken[study.name] = time.monotonic() - start
        print(f"{head} took {duration(taken[study.name])}; {told_left(seconds, taken)}", flush=True)
    return failed


def is_whole(folder: Path) -> bool:
    return is_finished(folder) and not is_old(folder / "results/report.html", folder)


def outlook(study: Study, cores: int) -> Outlook:
    """What Snakemake would run, and how long that takes by the sizes in the config."""
    from snakemake.exceptions import WorkflowError  # here, because Snakemake takes a second to load

    from attnlimit.cli.forecast import planned_jobs, whole_seconds

    try:
        asked = asked_of(study, cores)
        config, jobs = planned_jobs(ROOT, asked.folder, asked.overlays)
    except (ValueError, LookupError, OSError, SystemExit, WorkflowError) as error:  # the Snakefile exits with a line
        return Outlook(0.0, refusal=in_one_line(error))
    label = "{model} on {text}".format(**described(config))
    return Outlook(whole_seconds(config, jobs, cores) + BESIDE if jobs else 0.0, label)


def asked_of(study: Study, cores: int) -> Asked:
    """What `make reproduce` with these files would be asked for; refuse a folder that belongs to another run."""
    require_folder(study.folder, study.config)
    overlays = overlays_of(ROOT, study.folder, study.config)
    for path in overlays:
        read_overlay(path)
    return Asked(verb="reproduce", folder=study.folder, config=study.config, cores=cores, overlays=overlays)


def outcome(asked: Asked) -> str:
    """Run it; "" if it finished, else why not, in one line."""
    try:
        reproduce(asked)
    except (ValueError, LookupError, OSError, SystemExit) as error:
        return in_one_line(error)
    except KeyboardInterrupt:
        note_stop(asked.folder)
        raise
    return ""


def in_one_line(error: BaseException) -> str:
    """What went wrong; an exit with a mere number has been told before."""
    if isinstance(error, SystemExit) and not isinstance(error.code, str):
        return UNTOLD
    return "; ".join(line.strip() for line in str(error).splitlines() if line.strip())


def seconds_left(expected: dict[str, float], taken: dict[str, float]) -> float:
    """Of the studies that are not done: as expected, corrected by how those that are done went."""
    left = TimeLeft(dict.fromkeys(expected, 1), expected.__getitem__, cores=1)  # one after the other
    for name, seconds in taken.items():
        left.finished(name, seconds)
    return left.seconds()


def told_left(expected: dict[str, float], taken: dict[str, float]) -> str:
    left = seconds_left(expected, taken)
    return f"{about(left)} for all" if left else "none is left"


def comparison(names: Iterable[str], missing: dict[str, str], cores: int, name: str = COMPARISON) -> Asked:
    """The comparison of finished runs as a run of its own: its config file is written here."""
    names = list(dict.fromkeys(names))
    if len(names) < FEWEST:
        raise ValueError(f"RUNS: a comparison needs {FEWEST} finished runs at least; name them, see `make runs`")
    for each in names:
        require_comparable(each)
    path = Path(RUNS) / f"{name}.yaml"
    write_comparison(path, names, missing)
    return asked_of(Study(name, [str(path)]), cores)


def unfit(names: list[str], root: Path = ROOT) -> dict[str, str]:
    """Of runs that finished, those that cannot be compared, and why."""
    reasons = {}
    for name in names:
        try:
            require_comparable(name, root)
        except ValueError as error:
            reasons[name] = str(error)
    return reasons


def require_comparable(name: str, root: Path = ROOT) -> None:
    """A run that is there, finished, and has the rates of heads."""
    folder = folder_of(name)
    if not (root / folder / "results").is_dir():
        there = [DEFAULT if run.folder == "results" else Path(run.folder).name for run in list_runs(root)]
        raise ValueError(f"RUNS: no run {name!r:.100} here{meant(name, there) or '; see `make runs`'}")
    shown, again = ("results", "") if name == DEFAULT else (str(folder), f" RUN={name}")
    settings = settings_of(root / folder)
    if settings is None or not is_finished(root / folder):
        raise ValueError(f"{shown}: not finished, so not to be compared; go on with it by `make reproduce{again}`")
    if lacking := [each for each in NEEDED if each not in settings["chapters"]]:
        remedy = f"add it to `chapters` of its config, then `make reproduce{again}`"
        raise ValueError(f"{shown}: has no chapter {lacking[0]}, which is compared; {remedy}")


if __name__ == "__main__":
    main()
