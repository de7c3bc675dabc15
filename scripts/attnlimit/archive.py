"""The archive of a run: results, sources, settings and where each number comes from; written, checked, restored."""

import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import yaml

from attnlimit.bag import pack, require_whole, unpack
from attnlimit.crate import METADATA, describe, require_crate
from attnlimit.jobs import Job, Params, trace, write_records
from attnlimit.provenance import machine, versions
from attnlimit.source import source_files
from attnlimit.store import read, read_attrs

ARCHIVE = "results/attnlimit.tar.zst"
WEIGHTS = "results/models/model.safetensors"
EMBEDDINGS = "results/embeddings/"


def write_archive(
    path: Path, targets: Iterable[str], config: dict, rules: dict[str, Params], commit: str, embeddings: bool
) -> None:
    """Archive the targets, all that lies between them and the data, and the workflow in the current folder."""
    root, targets = Path(), sorted(targets)
    jobs, brought = trace(targets, root, rules)
    results = sorted(name for job in jobs for name in job.output)
    absent = dict.fromkeys(brought, "brought by the user") | {WEIGHTS: "belongs to others; its sha256 is in data.json"}
    if not embeddings:
        absent |= {name: "archive_results.embeddings: false" for name in results if name.startswith(EMBEDDINGS)}
    kept = [name for name in results if name not in absent]
    citation = yaml.safe_load((root / "CITATION.cff").read_text())
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".archive-") as stage:
        payload = Path(stage)
        for name in [*source_files(root), *kept]:
            (payload / name).parent.mkdir(parents=True, exist_ok=True)
            link_or_copy((root / name).resolve(), payload / name)
        write_provenance(payload / "provenance", jobs, config, kept, absent)
        files = sorted(file.relative_to(payload).as_posix() for file in payload.rglob("*") if file.is_file())
        (payload / METADATA).write_text(describe(files, jobs, targets, citation, absent))
        pack(payload, path, bag_info(citation, commit))


def link_or_copy(source: Path, target: Path) -> None:
    """The same file under another name where the disk allows it, else a copy."""
    try:
        target.hardlink_to(source)
    except OSError:  # another disk, another owner, or a file system without such links
        shutil.copy(source, target)


def bag_info(citation: dict, commit: str) -> dict[str, str]:
    """What bag-info.txt says; the date is that of the software's version, since two runs must give the same bytes."""
    return {
        "Bagging-Date": str(citation["date-released"]),
        "External-Description": citation["title"],
        "External-Identifier": f"attnlimit {citation['version']}, commit {commit or 'unknown: no git clone'}",
    }


def write_provenance(folder: Path, jobs: list[Job], config: dict, kept: list[str], absent: dict[str, str]) -> None:
    """The resolved config, the jobs, the identity of data and model, versions and machine, one file each."""
    folder.mkdir()
    attrs = [read_attrs(name) for name in kept if name.endswith(".zarr.zip")]
    data = {name: each[name] for each in attrs for name in ("corpus", "model") if name in each}
    (folder / "config.yaml").write_text(yaml.safe_dump(config, sort_keys=False, allow_unicode=True))
    write_json(folder / "jobs.json", [job._asdict() for job in jobs])
    write_json(folder / "data.json", data | {"not in the archive": absent})
    write_json(folder / "environment.json", {"versions": dict(versions(attrs)), "machine": dict(machine())})


def write_json(path: Path, content: dict | list) -> None:
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n")


@contextmanager
def verified(path: Path, beside: Path | None = None) -> Iterator[Path]:
    """The payload of an archive, unpacked into a folder for the time being; raise at the first thing wrong."""
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such archive; `make archive` writes {ARCHIVE}")
    with tempfile.TemporaryDirectory(dir=beside, prefix=".attnlimit-") as scratch:
        bag = unpack(path, Path(scratch))
        require_whole(bag, path)
        payload = bag / "data"
        require_crate(payload, path)
        for store in sorted(payload.rglob("*.zarr.zip")):
            try:
                read(store)
            except ValueError as error:
                raise ValueError(f"{path}: a store of it cannot be read: {error}") from error
        yield payload


def restore(path: Path, folder: Path) -> list[str]:
    """Unpack an archive, once checked, so that Snakemake has nothing to do there; return the files it does not hold."""
    if folder.exists() and any(folder.iterdir()):
        raise FileExistsError(f"{folder}: not empty; give another folder with TO=…")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with verified(path, beside=folder.parent) as payload:
        jobs = json.loads((payload / "provenance/jobs.json").read_text())
        now = time.time()
        write_records([Job(**job) for job in jobs], payload, now)
        keep_config(payload / "config.yaml", payload / "provenance/config.yaml")
        shutil.copyfile(path, payload / ARCHIVE)
        for file in payload.rglob("*"):  # one date for all: nothing is newer than what was made from it
            os.utime(file, (now, now))
        if folder.exists():
            folder.rmdir()
        payload.rename(folder)
    return list(json.loads((folder / "provenance/data.json").read_text())["not in the archive"])


def keep_config(config: Path, resolved: Path) -> None:
    """Let the settings of the run be those of the folder, unless they are already."""
    if yaml.safe_load(config.read_text()) != yaml.safe_load(resolved.read_text()):
        note = "# Restored: the settings of the archived run, overlays included; comments are in the repository.\n"
        config.write_text(note + resolved.read_text())
