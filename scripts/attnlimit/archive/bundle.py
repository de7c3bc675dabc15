"""The archive of a run: results, sources, settings and where each number comes from; written, checked, restored."""

import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import yaml

from attnlimit.archive.bag import AGAIN, PLAIN, files_below, pack, require_whole, unpack
from attnlimit.archive.crate import METADATA, describe, read_citation, require_crate
from attnlimit.base.store import read
from attnlimit.page.provenance import machine, versions
from attnlimit.workflow.folders import ARCHIVE
from attnlimit.workflow.snakemake_records import Job, Rules, trace, write_records
from attnlimit.workflow.workflow_files import ENVIRONMENT, source_files

FROM_USER = "a file of the user; what was read of it is in results/corpus and results/models"
STUDIED = "a store of another run, which has an archive of its own; what was read of it is in results/studies"
WEIGHTS = "results/models/model.safetensors"
OF_OTHERS = "belongs to others; its sha256 is in provenance/data.json"
EMBEDDINGS = ("results/embeddings/", "results/limits/outputs/")  # the outputs are as large
PART = re.compile(r"/(parts|applied)/")  # folders of stores that a job joined
MERGED = "a part of a store that is there whole"
TIMES = "provenance/times.json"  # start and end of each job, by its log
STAGE = ".archive-"


def write_archive(
    path: Path,
    targets: Iterable[str],
    config: dict,
    rules: Rules,
    commit: str,
    embeddings: bool,
    project: Path,
    engine: str,
    left_out: str = "",
) -> None:
    """Archive the targets of the run in the current folder, all that lies between them and the data, and the workflow.

    The workflow is in the folder `project`; `engine` is the version of the Snakemake that ran it. In the archive, as in
    a default run, both are in one folder.
    """
    targets = sorted(targets)
    jobs, sources = trace(targets, Path(), rules, project)
    absent = {name: STUDIED if name.endswith(".zarr.zip") else FROM_USER for name in sources}
    results = sorted(name for job in jobs for name in job.output)
    absent |= {name: OF_OTHERS for name in results if name == WEIGHTS}
    absent |= {name: MERGED for name in results if PART.search(name)}
    if not embeddings:
        absent |= {name: "archive_results.embeddings: false" for name in results if name.startswith(EMBEDDINGS)}
    kept = [name for name in results if name not in absent]
    citation = read_citation(project / "CITATION.cff")
    for left in path.parent.glob(f"{STAGE}*"):  # by a job that was killed
        shutil.rmtree(left)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=STAGE) as stage:
        payload = Path(stage)
        for name in source_files(project):
            place(project / name, payload / name, name)
        for name in kept:
            place(Path(name), payload / name, name)
        write_provenance(payload, jobs, config, kept, absent, commit, left_out)
        crate = describe(files_below(payload), jobs, targets, citation, absent, engine)
        (payload / METADATA).write_text(crate, encoding="utf-8")
        pack(payload, path, bag_info(citation, commit))


def place(source: Path, target: Path, name: str) -> None:
    """The same file under another name where the disk allows it, else a copy."""
    if not PLAIN.fullmatch(name):
        raise ValueError(f"{name}: an archive holds names of plain letters, digits and -_. only; rename the file")
    if not source.is_file():
        raise FileNotFoundError(f"{name}: no such file; run `make reproduce`")
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        target.hardlink_to(source.resolve())
    except OSError:  # another disk, another owner, or a file system without such links
        shutil.copy(source, target)


def bag_info(citation: dict, commit: str) -> dict[str, str]:
    """What bag-info.txt says; the date is that of the software's version, since two runs must give the same bytes."""
    return {
        "Bagging-Date": str(citation["date-released"]),
        "External-Description": citation["title"],
        "External-Identifier": f"attnlimit {citation['version']}, commit {commit}",
    }


def write_provenance(
    payload: Path, jobs: list[Job], config: dict, kept: list[str], absent: dict[str, str], commit: str, left_out: str
) -> None:
    """The resolved config, the jobs, the identity of data and model, versions and machine, one file each."""
    folder = payload / "provenance"
    folder.mkdir()
    attrs = [read(name).attrs for name in kept if name.endswith(".zarr.zip")]  # whole: nothing damaged is archived
    data = {name: each[name] for each in attrs for name in ("corpus", "model") if name in each}
    computed = sorted({str(each["device"]) for each in attrs if "device" in each})
    environment = {"commit": commit, "versions": dict(versions(attrs)), "computed on": computed}
    environment |= {"archived on": dict(machine())}
    (folder / "config.yaml").write_text(yaml.safe_dump(config, sort_keys=False, allow_unicode=True), encoding="utf-8")
    write_json(folder / "jobs.json", [untimed(job) for job in jobs])
    write_json(payload / TIMES, {job.log: (job.start, job.end) for job in jobs})
    write_json(folder / "data.json", data | {"not in the archive": absent, "chapters": left_out})
    write_json(payload / ENVIRONMENT, environment)


def untimed(job: Job) -> dict:
    """A job without its times, by which alone two runs differ."""
    return {name: value for name, value in job._asdict().items() if name not in ("start", "end")}


def write_json(path: Path, content: dict | list) -> None:
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


class Contents(NamedTuple):
    """An archive, unpacked temporarily."""

    payload: Path
    jobs: list[Job]
    config: dict
    absent: dict[str, str]  # files of the run that it does not hold, and why


@contextmanager
def verified(path: Path, scratch: Path | None = None) -> Iterator[Contents]:
    """What an archive holds, unpacked into a temporary folder; raise at the first fault."""
    if not path.is_file():
        raise FileNotFoundError(
            f"{path}: no such archive; `make reproduce`, with the CONFIG or RUN of that run, writes it"
        )
    with tempfile.TemporaryDirectory(dir=scratch, prefix=".attnlimit-") as folder:
        bag = unpack(path, Path(folder))
        require_whole(bag, path)
        payload = bag / "data"
        require_crate(payload, path)
        contents = read_provenance(payload, path)
        for store in sorted(payload.rglob("*.zarr.zip")):
            try:
                read(store)
            except ValueError as error:
                why = error.__cause__ or error
                raise ValueError(f"{path}: {store.relative_to(payload)} cannot be read ({why}); {AGAIN}") from error
        yield contents


def read_provenance(payload: Path, path: Path) -> Contents:
    """Jobs, settings and what is left out; raise unless the jobs made just the results that are there."""
    folder = payload / "provenance"
    try:
        times = json.loads((payload / TIMES).read_text(encoding="utf-8"))
        listed = json.loads((folder / "jobs.json").read_text(encoding="utf-8"))
        jobs = [Job(**job, start=times[job["log"]][0], end=times[job["log"]][1]) for job in listed]
        config = dict(yaml.safe_load((folder / "config.yaml").read_text(encoding="utf-8")))
        absent = dict(json.loads((folder / "data.json").read_text(encoding="utf-8"))["not in the archive"])
        made = {name for job in jobs for name in job.output} - set(absent)
    except (ValueError, LookupError, TypeError, RecursionError, OSError, yaml.YAMLError) as error:
        raise ValueError(f"{path}: provenance/ cannot be read ({error!r:.200}); {AGAIN}") from error
    for name in sorted(made ^ {name for name in files_below(payload) if name.startswith("results/")}):
        wrong = "is missing" if name in made else "was made by no job"
        raise ValueError(f"{path}: {name} {wrong}, by provenance/jobs.json; {AGAIN}")
    return Contents(payload, jobs, config, absent)


def restore(path: Path, folder: Path) -> dict[str, str]:
    """Unpack an archive, once checked, so that Snakemake has nothing to do there; return the files it does not hold."""
    folder = folder.resolve()
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise FileExistsError(f"{folder}: not an empty folder; give another with TO=…")
    made = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with verified(path, scratch=folder) as (payload, jobs, config, absent):
            now = time.time()
            write_records(jobs, payload)
            keep_config(payload / "config.yaml", config)
            shutil.copyfile(path, payload / ARCHIVE)
            for file in payload.rglob("*"):  # one date for all: nothing is newer than what was made from it
                os.utime(file, (now, now))
            for file in sorted(payload.iterdir()):
                file.rename(folder / file.name)
    finally:
        if made and not any(folder.iterdir()):
            folder.rmdir()
    return absent


def keep_config(path: Path, config: dict) -> None:
    """Write the settings of the run as those of the folder, unless they are the same."""
    if yaml.safe_load(path.read_text(encoding="utf-8")) != config:
        note = "# Restored: the settings of the archived run, overlays included; comments are in the repository.\n"
        path.write_text(note + yaml.safe_dump(config, sort_keys=False, allow_unicode=True), encoding="utf-8")
