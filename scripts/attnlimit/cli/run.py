"""The verbs of the Makefile that know runs: `python -m attnlimit.cli.run VERB --folder runs/my --config my.yaml`."""

import argparse
import shlex
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from attnlimit.cli.progress import last_words, watch
from attnlimit.workflow.amounts import duration
from attnlimit.workflow.costs import expected_seconds
from attnlimit.workflow.folders import RUNS, end_run, list_runs, made_of, overlays_of, read_state
from attnlimit.workflow.leftovers import told, unused_layers
from attnlimit.workflow.overlays import read_overlay, resolve
from attnlimit.workflow.plain_words import meant
from attnlimit.workflow.study_files import known_studies, study_of

ROOT = Path(__file__).parents[3]
REPORTED = ("answer.txt", "claims.json", "*.csv", "figures/*.png")
OPENED = 4  # paths that a run ends with
TO_OPEN = (  # the page shows the figures
    ("page", "index.html"),
    ("table", "studies.csv"),  # of a comparison, whose rates.csv has no rows
    ("report", "report.html"),
    ("archive", "attnlimit.tar.zst"),
    ("table", "rates.csv"),
    ("figures", "figures/"),
)


class Asked(argparse.Namespace):
    """What the Makefile hands on."""

    verb: str
    folder: Path
    config: list[str]
    cores: int
    overlays: list[Path]


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="attnlimit.cli.run", description=__doc__)
    parser.add_argument("verb", choices=VERBS)
    parser.add_argument("--folder", type=Path, default=Path(), help="of the run; the default run is in the project's")
    parser.add_argument("--config", nargs="*", default=[], help="files laid over config.yaml")
    parser.add_argument("--cores", type=int, default=1)
    asked = parser.parse_args(arguments, Asked())
    try:
        asked.config = asked.config or study_config(asked.folder)
        require_folder(asked.folder, asked.config)
        asked.overlays = overlays_of(ROOT, asked.folder, asked.config)
        for path in (ROOT / "config.yaml", *asked.overlays):
            read_overlay(path)
        VERBS[asked.verb](asked)
    except (ValueError, LookupError, OSError) as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        note_stop(asked.folder)
        print(f"stopped: what is finished is kept in {results(asked)}/; go on with `{again(asked)}`", file=sys.stderr)
        sys.exit(130)


def note_stop(folder: Path) -> None:
    """Snakemake says of a run that was stopped that it failed."""
    if read_state(folder).get("state") == "failed":
        end_run("unfinished", folder)


def study_config(folder: Path) -> list[str]:
    """The files of the study with the name of a folder that no run has begun in; [] if there is none."""
    known = known_studies(ROOT)
    return study_of(folder.name, known).config if folder.name in known and made_of(folder) is None else []


def require_folder(folder: Path, config: list[str]) -> None:
    """Only the project's own folder, and those right below runs/; one without a config must be there."""
    if folder != Path() and (folder.parent != Path(RUNS) or folder.name.startswith(".")):
        raise ValueError(f"RUN: {folder} is no name of a run; give a plain one, such as RUN=my, for {RUNS}/my")
    if folder != Path() and not config and not folder.is_dir():
        known = [*known_studies(ROOT), *(Path(run.folder).name for run in list_runs(ROOT))]
        remedy = meant(folder.name, known) or "; begin it with CONFIG=..., or see `make runs`"
        raise ValueError(f"RUN: there is no run {folder}{remedy}")


def results(asked: Asked) -> Path:
    return asked.folder / "results"


def again(asked: Asked) -> str:
    """The command that was given."""
    parts = ["make", asked.verb]
    if asked.config:
        parts.append(f"CONFIG={shlex.quote(' '.join(asked.config))}")
    if asked.folder != Path() and asked.folder.name != Path((asked.config or [""])[-1]).stem:
        parts.append(f"RUN={asked.folder.name}")
    return " ".join(parts)


def command(asked: Asked, *arguments: str) -> list[str]:
    """Snakemake in the run's folder."""
    parts = [sys.executable, "-m", "snakemake", *arguments, "--cores", str(asked.cores)]
    parts += ["--snakefile", str(ROOT / "Snakefile")]
    if asked.folder != Path():
        parts += ["--directory", str(asked.folder)]
    return parts + (["--configfile", *map(str, asked.overlays)] if asked.overlays else [])


def snakemake(asked: Asked, *arguments: str) -> None:
    """Run it under our eyes; if it fails, end with what its jobs said of it."""
    start = time.time()
    config = resolve([ROOT / "config.yaml", *asked.overlays])
    if watch(command(asked, *arguments), asked.folder, partial(expected_seconds, config), asked.cores):
        sys.exit("\n".join(last_words(asked.folder, start)) or 1)


def reproduce(asked: Asked) -> None:
    start = time.monotonic()
    snakemake(asked)
    if is_old(asked.folder / "results/report.html", asked.folder):
        begun = time.monotonic()
        write_report(asked)
        print(f"report: {duration(time.monotonic() - begun)}", flush=True)
    answer = results(asked) / "answer.txt"
    print(f"\n{answer.read_text()}" if answer.is_file() else "", end="")
    print(f"time taken: {duration(time.monotonic() - start)}\n")
    there = [(name, path) for name, path in TO_OPEN if (results(asked) / path).exists()]
    for name, path in there[:OPENED]:
        print(f"{name:8} {results(asked)}/{path}")


def is_old(report: Path, folder: Path) -> bool:
    """Whether the report is older than anything that it shows."""
    shown = [path for name in REPORTED for path in (folder / "results").glob(name)]
    shown += (ROOT / "rules/report").glob("*.rst")
    return not report.is_file() or any(path.stat().st_mtime > report.stat().st_mtime for path in shown)


def write_report(asked: Asked) -> None:
    """In silence; what went wrong is shown."""
    parts = command(asked, "--report", "results/report.html", "--quiet", "all")
    done = subprocess.run(parts, stdout=-1, stderr=subprocess.STDOUT, text=True)  # noqa: S603  # ours
    if done.returncode:
        sys.exit(done.stdout.strip())


def page(asked: Asked) -> None:
    """From the results that are there: nothing else is made, and the page says what is absent."""
    snakemake(asked, "results/index.html", "--allowed-rules", "compose_page")
    print(f"page     {results(asked)}/index.html")


def archive(asked: Asked) -> None:
    snakemake(asked, "results/attnlimit.tar.zst")


def bench(asked: Asked) -> None:
    snakemake(asked, "results/bench/attention.json", "--forcerun", "bench_attention")
    print((results(asked) / "bench/attention.txt").read_text(), end="")


def plan(asked: Asked) -> None:
    from attnlimit.cli.forecast import plan  # here, because Snakemake takes a second to load

    print(plan(ROOT, asked.folder, asked.overlays, asked.cores))


def tidy(asked: Asked) -> None:
    """Remove the stores of layers that the config does not ask for, after naming them."""
    layers = resolve([ROOT / "config.yaml", *asked.overlays])["layers"]
    stores = unused_layers(asked.folder, layers)
    if not stores:
        print(f"{results(asked)}: no stores of other layers than {', '.join(map(str, layers))}")
        return
    print(*stores, sep="\n")
    print(f"removed: {told(stores)}")
    for path in stores:
        path.unlink()


def runs(asked: Asked) -> None:
    rows = [("run", "state", "date", "model", "text", "population"), *list_runs(ROOT)]
    if len(rows) == 1:
        print("no runs yet; `make reproduce` begins one")
        return
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip())


VERBS: dict[str, Callable[[Asked], None]] = {
    "reproduce": reproduce,
    "archive": archive,
    "report": write_report,
    "page": page,
    "bench": bench,
    "plan": plan,
    "tidy": tidy,
    "runs": runs,
}


if __name__ == "__main__":
    main()
