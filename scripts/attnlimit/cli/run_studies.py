"""Many studies with one command, then their comparison: `python -m attnlimit.cli.run_studies code legal --cores 2`.

Each is an ordinary run, one after the other. A failed one does not stop the others; the comparison names it.
"""

import argparse
import os
import shlex
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from attnlimit.cli.run import (
    ROOT,
    Request,
    core_count,
    given_cores,
    is_outdated,
    mark_stopped,
    reproduce,
    require_folder,
    stopped,
)
from attnlimit.cli.time_left import TimeLeft
from attnlimit.workflow.amounts import about, duration
from attnlimit.workflow.folders import RUNS, described, list_runs, overlays_of
from attnlimit.workflow.overlays import read_overlay
from attnlimit.workflow.plain_words import meant
from attnlimit.workflow.studies import is_finished, settings_of
from attnlimit.workflow.study_files import (
    COMPARISON,
    DEFAULT,
    DOWNLOADS,
    STUDY,
    Kind,
    Study,
    chosen_studies,
    folder_of,
    write_comparison,
)

OVERHEAD = 20.0  # seconds of a run outside its jobs: Snakemake's start, its report
SEE_OUTPUT = "Snakemake failed, see its output above"


class Forecast(NamedTuple):
    """What is known of a study before it runs."""

    seconds: float  # expected; 0 if nothing would run
    label: str = ""  # model and text
    refusal: str = ""  # why it cannot run; "" if it can


def main(arguments: list[str] | None = None) -> None:
    command(arguments, STUDY, run_and_compare, __doc__)


def command(
    arguments: list[str] | None, kind: Kind, run: Callable[[list[Study], int], dict[str, str]], words: str | None
) -> None:
    """A verb of the Makefile: run the studies that are named, or the default set; exit with one line for each failure.

    run: takes studies and cores, returns reasons of failures by name.
    """
    parser = argparse.ArgumentParser(prog=f"attnlimit.cli.run_{kind.chapter}", description=words)
    what = f"names in or below {kind.folder}, or config files; none: all files directly in that folder"
    parser.add_argument("names", nargs="*", help=what)
    parser.add_argument("--cores", type=core_count, default=1)
    given = parser.parse_args(arguments)
    named = [f"{kind.word}={shlex.quote(' '.join(given.names))}"] if given.names else []
    again = " ".join(["make", kind.chapter, *given_cores(given.cores), *named])
    os.environ.setdefault("ATTNLIMIT_DOWNLOADS", str(ROOT / RUNS / DOWNLOADS))
    try:
        failed = run(chosen_studies(ROOT, given.names, kind), given.cores)
    except (ValueError, LookupError, OSError) as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        stopped(f"{RUNS}/", again)
    if failed:
        lines = [f"failed: {name}: {why}" for name, why in failed.items()]
        sys.exit("\n".join([*lines, f"resume with `{again}`: finished jobs do not run again"]))


def run_and_compare(studies: list[Study], cores: int) -> dict[str, str]:
    """Run all, compare those that finished; reasons of failures, the comparison's included."""
    failed = run_all(studies, cores)
    failed |= not_comparable([study.name for study in studies if study.name not in failed])
    names = [study.name for study in studies if study.name not in failed]
    if len(names) < STUDY.fewest:
        print(
            f"not compared: {len(names)} of these studies can be compared, at least {STUDY.fewest} are needed; "
            '`make compare RUNS="…"` compares other finished runs'
        )
        return failed
    print(f"comparison of {', '.join(names)}", flush=True)
    if why := outcome(comparison(names, failed, cores)):
        return failed | {f"the comparison in {RUNS}/{COMPARISON}": why}
    return failed


def run_all(studies: list[Study], cores: int, kind: Kind = STUDY) -> dict[str, str]:
    """Run one study after the other, with the time left for all; reasons of failures."""
    print(f"planning {', '.join(study.name for study in studies)}", flush=True)
    expected = {study.name: forecast(study, cores) for study in studies}
    failed = {name: each.refusal for name, each in expected.items() if each.refusal}
    seconds = {name: each.seconds for name, each in expected.items() if name not in failed}
    measured: dict[str, float] = {}
    for number, study in enumerate(studies, 1):
        head = f"{kind.one} {number} of {len(studies)}: {study.name}"
        if study.name in failed:
            print(f"{head} cannot run: {failed[study.name]}", flush=True)
            continue
        if not seconds[study.name] and is_complete(study.folder):
            print(f"{head} is finished", flush=True)
            continue
        print(f"{head}, {expected[study.name].label}; {time_left(seconds, measured)}", flush=True)
        start = time.monotonic()
        why = outcome(request_of(study, cores))
        if why:
            failed[study.name] = why
            del seconds[study.name]
            print(f"{head} failed: {why}; {time_left(seconds, measured)}", flush=True)
            continue
        measured[study.name] = time.monotonic() - start
        print(f"{head} took {duration(measured[study.name])}; {time_left(seconds, measured)}", flush=True)
    return failed


def is_complete(folder: Path) -> bool:
    return is_finished(folder) and not is_outdated(folder / "results/report.html", folder)


def forecast(study: Study, cores: int) -> Forecast:
    """By what Snakemake would run and the sizes in the config."""
    from attnlimit.cli.forecast import planned_jobs, whole_seconds  # imported late: Snakemake takes a second to load

    try:
        request = request_of(study, cores)
        config, jobs = planned_jobs(ROOT, request.folder, request.overlays)
    except (ValueError, LookupError, OSError, SystemExit) as error:  # the Snakefile exits with a line
        return Forecast(0.0, refusal=in_one_line(error))
    label = "{model} on {text}".format(**described(config))
    return Forecast(whole_seconds(jobs, cores) + OVERHEAD if jobs else 0.0, label)


def request_of(study: Study, cores: int) -> Request:
    """That of `make reproduce` with these files; refuse a folder of another run."""
    require_folder(study.folder, study.config)
    overlays = overlays_of(ROOT, study.folder, study.config)
    for path in overlays:
        read_overlay(path)
    return Request(verb="reproduce", folder=study.folder, config=study.config, cores=cores, overlays=overlays)


def outcome(request: Request) -> str:
    """Run it; "" if it finished, else the reason in one line."""
    try:
        reproduce(request)
    except (ValueError, LookupError, OSError, SystemExit) as error:
        return in_one_line(error)
    except KeyboardInterrupt:
        mark_stopped(request.folder)
        raise
    return ""


def in_one_line(error: BaseException) -> str:
    if isinstance(error, SystemExit) and not isinstance(error.code, str):
        return SEE_OUTPUT
    return "; ".join(line.strip() for line in str(error).splitlines() if line.strip())


def seconds_left(expected: dict[str, float], measured: dict[str, float]) -> float:
    """Of the studies to come, corrected by the measured time of finished ones."""
    left = TimeLeft(dict.fromkeys(expected, 1), expected.__getitem__, cores=1)  # one after the other
    for name, seconds in measured.items():
        left.finished(name, seconds)
    return left.seconds()


def time_left(expected: dict[str, float], measured: dict[str, float]) -> str:
    left = seconds_left(expected, measured)
    return f"{about(left)} for all" if left else "none left"


def comparison(
    names: Iterable[str], missing: dict[str, str], cores: int, name: str = "", kind: Kind = STUDY
) -> Request:
    """The comparison of finished runs as a run of its own, by default in runs/<chapter>; writes its config file."""
    names, name = list(dict.fromkeys(names)), name or kind.chapter
    if len(names) < kind.fewest:
        raise ValueError(f"RUNS: a comparison needs at least {kind.fewest} finished runs; name them, see `make runs`")
    for each in names:
        require_comparable(each, kind=kind)
    path = Path(RUNS) / f"{name}.yaml"
    write_comparison(path, names, missing, kind)
    return request_of(Study(name, [str(path)]), cores)


def not_comparable(names: list[str], root: Path = ROOT, kind: Kind = STUDY) -> dict[str, str]:
    """Of finished runs, those that cannot be compared, with the reason."""
    reasons = {}
    for name in names:
        try:
            require_comparable(name, root, kind)
        except ValueError as error:
            reasons[name] = str(error)
    return reasons


def require_comparable(name: str, root: Path = ROOT, kind: Kind = STUDY) -> None:
    """Raise unless a run exists, is finished, and has the chapters that are needed."""
    folder = folder_of(name)
    if not (root / folder / "results").is_dir():
        known = [DEFAULT if run.folder == "results" else Path(run.folder).name for run in list_runs(root)]
        raise ValueError(f"RUNS: no run {name!r:.100} here{meant(name, known) or '; see `make runs`'}")
    place, option = ("results", "") if name == DEFAULT else (str(folder), f" RUN={name}")
    settings = settings_of(root / folder)
    if settings is None or not is_finished(root / folder):
        raise ValueError(f"{place}: not finished, cannot be compared; resume it with `make reproduce{option}`")
    if lacking := [each for each in kind.needed if each not in settings["chapters"]]:
        remedy = f"add it to `chapters` of its config, then `make reproduce{option}`"
        raise ValueError(f"{place}: has no chapter {lacking[0]}, which a comparison needs; {remedy}")


if __name__ == "__main__":
    main()
