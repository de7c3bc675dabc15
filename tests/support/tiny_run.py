"""A run of two jobs, as Snakemake would leave it: small enough to be archived many times."""

from pathlib import Path

import numpy as np
import xarray as xr
import yaml

from attnlimit.archive.bundle import write_archive
from attnlimit.workflow.snakemake_records import Job, Rules, write_records
from support.stores import write

CITATION = {
    "title": "a run",
    "version": "1.0",
    "date-released": "2026-01-01",
    "license": "MIT",
    "authors": [{"name": "Nobody"}, {"family-names": "Doe", "given-names": "Jo"}],
    "preferred-citation": {"title": "A paper", "url": "https://example.org/paper"},
}
CONFIG = {"seed": 1, "chapters": ["heads"], "fit_rates": {"bootstrap": 10}}
HEADS, WEIGHTS, RATES = "results/models/heads.zarr.zip", "results/models/model.safetensors", "results/rates.csv"
TIMES = 1767225600.25, 1767225660.5  # 2026-01-01, a minute
SHARD, PART, TEXT = "results/embeddings/shard_0.zarr.zip", "results/models/parts/0.zarr.zip", "my_texts/a.txt"


def job(rule: str, log: str, inputs: tuple[str, ...], outputs: tuple[str, ...], **values: object) -> Job:
    parameters = {name: repr(value) for name, value in values.items()}
    return Job(rule, f"results/logs/{rule}/{log}.txt", inputs, outputs, (repr(values),), parameters, *TIMES)


MODEL = job("fetch_model", "log", (), (HEADS, WEIGHTS, PART), code="ab")
SPLIT = job("split", "shard_0", (TEXT, WEIGHTS), (SHARD,), code="cd", shard=0, words=[7, 8])
FIT = job("fit_rates", "log", (SHARD, PART, HEADS), (RATES,), code="ef", settings={"bootstrap": 10})
RULES: Rules = {
    "fetch_model": {"code": "'ab'"},
    "split": {"code": "'cd'", "shard": None, "words": None},
    "fit_rates": {"code": "'ef'", "settings": "{'bootstrap': 10}"},
}


def make_run(folder: Path) -> None:
    """Sources, results and Snakemake's records in an empty folder."""
    for name in (
        "Snakefile",
        "README.md",
        "config.yaml",
        "requirements.lock",
        *(f"scripts/{rule}.py" for rule in RULES),
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"# {name}\n")
    (folder / "config.yaml").write_text("# every choice\nseed: 1\nfit_rates: {bootstrap: 99}\n")
    (folder / "CITATION.cff").write_text(yaml.safe_dump(CITATION))
    for rule in RULES:
        (folder / "envs").mkdir(exist_ok=True)
        (folder / f"envs/{rule}.yaml").write_text("dependencies: []\n")
    for path in map(folder.joinpath, (HEADS, SHARD, PART)):
        path.parent.mkdir(parents=True)
        write(xr.Dataset({"weight": ("feature", [1.0, 2.0])}), path, model={"name": "tiny"}, code="ab")
    (folder / "docs").mkdir()
    (folder / "docs/noise.png").write_bytes(np.random.default_rng(0).bytes(250_000))  # an archive of some pieces
    (folder / WEIGHTS).write_bytes(b"not to be given away")
    (folder / RATES).write_text("beta\n0.3\n")
    write_records([MODEL, SPLIT, FIT], folder)


def make_archive(path: Path, embeddings: bool = True, project: Path = Path()) -> Path:
    """Archive the run in the current folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_archive(path, [RATES], CONFIG, RULES, "0" * 40, embeddings, project, "9.27.1")
    return path
