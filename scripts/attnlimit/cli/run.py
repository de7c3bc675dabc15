"""The Makefile's verbs on runs: `python -m attnlimit.cli.run VERB --folder runs/my --config my.yaml`."""

import argparse
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from attnlimit.cli.process import error_lines, run_with_progress
from attnlimit.cli.progress import ROOT
from attnlimit.workflow.amounts import duration, table
from attnlimit.workflow.folders import RUNS, end_run, list_runs, made_of, overlays_of, read_state
from attnlimit.workflow.holder import require_gone
from attnlimit.workflow.leftovers import summary, unused_layers
from attnlimit.workflow.overlays import read_overlay, resolve
from attnlimit.workflow.plain_words import meant
from attnlimit.workflow.snakemake_records import forget_damaged_records, lock_date
from attnlimit.workflow.study_files import known_runs, require_name

REPORT_SOURCES = ("answer.txt", "claims.json", "*.csv", "figures/*.png")
LISTED = 4  # products that a run ends with, of those that it has
PRODUCTS = (
    ("page", "index.html"),
    ("table", "studies.csv"),  # of a comparison, whose rates.csv has no rows
    ("table", "atlas.csv"),
    ("report", "report.html"),
    ("archive", "attnlimit.tar.zst"),
    ("table", "rates.csv"),
    ("figures", "figures/"),
)


class Request(argparse.Namespace):
    """A verb with its options."""

    verb: str
    folder: Path
    config: list[str]
    cores: int
    profile: Path | None = None  # of a cluster
    overlays: list[Path]


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="attnlimit.cli.run", description=__doc__)
    parser.add_argument("verb", choices=VERBS)
    parser.add_argument("--folder", type=Path, default=Path(), help="of the run; the project's own for the default run")
    parser.add_argument("--config", nargs="*", default=[], help="files laid over config.yaml")
    parser.add_argument("--cores", type=core_count, default=1)
    parser.add_argument("--profile", type=Path, help="of a cluster, to submit the jobs of reproduce to")
    request = parser.parse_args(arguments, Request())
    try:
        require_profile(request)
        request.config = request.config or study_config(request.folder)
        require_folder(request.folder, request.config)
        request.overlays = overlays_of(ROOT, request.folder, request.config)
        for path in (ROOT / "config.yaml", *request.overlays):
            read_overlay(path)
        VERBS[request.verb](request)
    except (ValueError, LookupError, OSError) as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        mark_stopped(request.folder)
        stopped(f"{results(request)}/", make_command(request))


def core_count(text: str) -> int:
    if not text.isdecimal() or not int(text):
        sys.exit(f"CORES: {text!r:.40} is not a number of cores; write, for example, CORES=4")
    return int(text)


def stopped(kept: str, command: str) -> NoReturn:
    """Exit as Ctrl-C does, with the way to resume."""
    print(f"stopped: finished jobs are kept in {kept}; resume with `{command}`", file=sys.stderr)
    sys.exit(130)


def mark_stopped(folder: Path) -> None:
    """To Snakemake, a run that was stopped has failed."""
    if read_state(folder).get("state") == "failed":
        end_run("unfinished", folder)


def study_config(folder: Path) -> list[str]:
    """The files of the study, or of the model of the atlas, that a new folder is named after; [] if there is none."""
    known = known_runs(ROOT)
    if folder.name not in known or made_of(folder) is not None:
        return []
    require_name(folder.name, known[folder.name].config[-1])
    return known[folder.name].config


def require_folder(folder: Path, config: list[str]) -> None:
    """Only the project's own folder and those right below runs/; without a config it must exist."""
    if folder != Path() and (folder.parent != Path(RUNS) or folder.name.startswith(".")):
        raise ValueError(f"RUN: {folder} is not the name of a run; give a plain one, such as RUN=my, for {RUNS}/my")
    if folder != Path() and not config and not folder.is_dir():
        known = [*known_runs(ROOT), *(Path(run.folder).name for run in list_runs(ROOT))]
        remedy = meant(folder.name, known) or "; start it with CONFIG=..., or see `make runs`"
        raise ValueError(f"RUN: there is no run {folder}{remedy}")


def require_profile(request: Request) -> None:
    if request.profile is None:
        return
    known = [f"profiles/{path.parent.name}" for path in sorted(ROOT.glob("profiles/*/config.yaml"))]
    if not (request.profile / "config.yaml").is_file():
        remedy = meant(str(request.profile), known) or f"; there are {', '.join(known)}"
        raise ValueError(f"PROFILE: no config.yaml in {request.profile}{remedy}")
    if request.verb != "reproduce":
        raise ValueError(f"PROFILE: {request.verb} submits no jobs; leave it out")


def results(request: Request) -> Path:
    return request.folder / "results"


def make_command(request: Request) -> str:
    """The command that the user gave."""
    parts = ["make", request.verb, *given_cores(request.cores)]
    if request.config:
        parts.append(f"CONFIG={shlex.quote(' '.join(request.config))}")
    if request.folder != Path() and request.folder.name != Path((request.config or [""])[-1]).stem:
        parts.append(f"RUN={request.folder.name}")
    return " ".join(parts + ([f"PROFILE={shlex.quote(str(request.profile))}"] if request.profile else []))


def given_cores(cores: int) -> list[str]:
    """The variable of make, unless it is all cores: make's default."""
    return [] if cores == os.cpu_count() else [f"CORES={cores}"]


def command(request: Request, *arguments: str) -> list[str]:
    """Snakemake in the run's folder."""
    parts = [sys.executable, "-m", "snakemake", *arguments, "--snakefile", str(ROOT / "Snakefile")]
    if "--profile" not in arguments:  # it would limit the whole cluster
        parts += ["--cores", str(request.cores)]
    if request.folder != Path():
        parts += ["--directory", str(request.folder)]
    return parts + (["--configfile", *map(str, request.overlays)] if request.overlays else [])


def snakemake(request: Request, *arguments: str) -> None:
    """Run it; if it fails, exit with the errors of its jobs, else with its own last lines."""
    free_folder(request)
    start = time.time()
    code, tail = run_with_progress(command(request, *arguments), request.folder)
    if code:
        sys.exit("\n".join(error_lines(request.folder, start) or tail) or 1)


def free_folder(request: Request, sure: bool = False) -> None:
    """Remove the lock of a run that was killed, and say so; raise if that run may still be active."""
    if lock_date(request.folder) is None:
        return
    name = f" RUN={request.folder.name}" if request.folder != Path() else ""
    left = require_gone(request.folder, f"make unlock{name}", sure)
    quietly(command(request, "--unlock"))
    print(f"{results(request)}: unlocked, {left} was killed; finished jobs are kept", flush=True)
    if damaged := forget_damaged_records(request.folder):
        print(f"rebuilt, because their records were lost: {', '.join(damaged)}", flush=True)


def cluster(request: Request) -> list[str]:
    """Arguments that submit jobs to the cluster of the profile."""
    if request.profile is None:
        return []
    partitions = request.profile.resolve() / "partitions.yaml"
    if partitions.is_file():  # not in the profile, where a path is relative to the run's folder
        os.environ.setdefault("SNAKEMAKE_SLURM_PARTITIONS", str(partitions))
    return ["--profile", str(request.profile.resolve())]


def reproduce(request: Request) -> None:
    start = time.monotonic()
    snakemake(request, *cluster(request))
    if read_state(request.folder).get("state", "finished") != "finished":  # nothing was to do: Snakemake ran no hook
        end_run("finished", request.folder)
    if is_outdated(request.folder / "results/report.html", request.folder):
        begin = time.monotonic()
        write_report(request)
        print(f"report: {duration(time.monotonic() - begin)}", flush=True)
    answer = results(request) / "answer.txt"
    print(f"\n{answer.read_text(encoding='utf-8')}" if answer.is_file() else "", end="")
    print(f"time taken: {duration(time.monotonic() - start)}\n")
    products = [(name, path) for name, path in PRODUCTS if (results(request) / path).exists()]
    for name, path in products[:LISTED]:
        print(f"{name:8} {results(request)}/{path}")


def is_outdated(report: Path, folder: Path) -> bool:
    sources = [path for name in REPORT_SOURCES for path in (folder / "results").glob(name)]
    sources += (ROOT / "rules/report").glob("*.rst")
    return not report.is_file() or any(path.stat().st_mtime > report.stat().st_mtime for path in sources)


def write_report(request: Request) -> None:
    """Write report.html; output is shown only if that fails."""
    if not (results(request) / "claims.json").is_file():
        remedy = "`make reproduce`, with the CONFIG or RUN of that run, finishes it"
        raise ValueError(f"{results(request)}: nothing to report yet; {remedy}")
    quietly(command(request, "--report", "results/report.html", "--quiet", "all"))


def quietly(parts: list[str]) -> None:
    """Run a command; its output is shown if it fails, and ends this process."""
    done = subprocess.run(parts, stdout=-1, stderr=subprocess.STDOUT, text=True)  # noqa: S603  # ours
    if done.returncode:
        sys.exit(done.stdout.strip())


def page(request: Request) -> None:
    """From existing results alone; the page says what is missing."""
    snakemake(request, "results/index.html", "--allowed-rules", "compose_page")
    print(f"page     {results(request)}/index.html")


def archive(request: Request) -> None:
    snakemake(request, "results/attnlimit.tar.zst")


def bench(request: Request) -> None:
    snakemake(request, "results/bench/attention.json", "--forcerun", "bench_attention")
    print((results(request) / "bench/attention.txt").read_text(encoding="utf-8"), end="")


def plan(request: Request) -> None:
    from attnlimit.cli.forecast import plan  # imported late: Snakemake takes a second to load

    print(plan(ROOT, request.folder, request.overlays, request.cores))


def tidy(request: Request) -> None:
    """Remove the stores of layers that the config does not ask for, after naming them."""
    layers = resolve([ROOT / "config.yaml", *request.overlays])["layers"]
    stores = unused_layers(request.folder, layers)
    if not stores:
        print(f"{results(request)}: no stores of other layers than {', '.join(map(str, layers))}")
        return
    print(*stores, sep="\n")
    print(f"removed: {summary(stores)}")
    for path in stores:
        path.unlink()


def unlock(request: Request) -> None:
    """Remove a lock whose holder is unknown or was on another machine."""
    if lock_date(request.folder) is None:
        print(f"{results(request)}: not locked")
    free_folder(request, sure=True)


def runs(request: Request) -> None:
    listed = list_runs(ROOT)
    head = ("run", "state", "date", "model", "text", "population")
    print(table(head, *listed) if listed else "no runs yet; `make reproduce` starts one")


VERBS: dict[str, Callable[[Request], None]] = {
    "reproduce": reproduce,
    "archive": archive,
    "report": write_report,
    "page": page,
    "bench": bench,
    "plan": plan,
    "tidy": tidy,
    "unlock": unlock,
    "runs": runs,
}


if __name__ == "__main__":
    main()
