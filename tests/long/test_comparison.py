"""The comparison as a run: from stores of two finished runs to figures, claims, archive; a changed study counts."""

import json
import os

import numpy as np
import pytest
import xarray as xr
import yaml

from attnlimit.base.coordinates import STATISTICS, with_whole_layer
from attnlimit.base.store import read
from attnlimit.questions.tails.measure import tails_of_tokens
from attnlimit.stats.fits import fit_errors
from attnlimit.stats.power_law import Bootstrap
from support.stores import write
from support.workflow import clone, overlay, planned, snakemake

SIZES = np.array([64, 128, 256, 512])
LAYERS, HEADS, REPLICATES = 3, 4, 8


def write_run(folder, seed: int, text: str) -> None:
    """What a run of chapters heads and tails leaves that a comparison reads."""
    rng, fits = np.random.default_rng(seed), []
    attrs = {"model": {"name": "owner/small", "sha256": {"model.safetensors": "a" * 64}}, "corpus": {"name": text}}
    attrs |= {"population": 500, "code": "x", "seed": seed}
    for layer in range(LAYERS):
        beta = 0.5 - 0.1 * np.random.default_rng(layer).random(HEADS)
        noise = np.exp(0.1 * rng.standard_normal((len(STATISTICS), HEADS, REPLICATES, len(SIZES))))
        error = SIZES ** -beta[:, None, None] * noise
        whole = np.sqrt((error**2).sum(1, keepdims=True))
        errors = xr.Dataset(
            {
                "error": (("statistic", "head", "replicate", "n"), np.concatenate([error, whole], axis=1)),
                "limit_scale": (("statistic", "head"), np.ones((len(STATISTICS), HEADS + 1))),
                **{
                    name: ("head", [*rng.uniform(0.3, 2, HEADS), np.nan])
                    for name in ("horizon", "psi", "constant_tilt")
                },
            },
            coords={"statistic": list(STATISTICS), "head": with_whole_layer(HEADS), "n": SIZES, "layer": layer},
        )
        fits.append(fit_errors(errors, [Bootstrap(50, True, rng)] * len(STATISTICS), misfit=3, saturated=0.5))
        tokens = rng.standard_normal((500, 4))
        law = tokens.mean(0), np.cov(tokens.T, bias=True)
        tails = tails_of_tokens([tokens], *law, rng.standard_normal((HEADS, 4, 4)), 2, [0.5, 1], 50)
        for part, data in (("errors", errors), ("tails", tails.assign_coords(layer=layer))):
            (folder / "results" / part).mkdir(parents=True, exist_ok=True)
            write(data, folder / f"results/{part}/layer_{layer}.zarr.zip", **attrs)
    (folder / "results/rates").mkdir(exist_ok=True)
    rates = xr.concat(fits, "layer")
    write(rates, folder / "results/rates/heads.zarr.zip", source="heads", replicates=REPLICATES, **attrs)
    settings = {"chapters": ["heads", "tails"], "layers": list(range(LAYERS))}
    (folder / "config.resolved.yaml").write_text(yaml.safe_dump(settings))
    (folder / "results/logs").mkdir()
    (folder / "results/logs/run.json").write_text(json.dumps({"state": "finished"}))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = clone(tmp_path_factory.mktemp("studies"))
    for seed, name in enumerate(("code", "novels")):
        write_run(folder / "runs" / name, seed, name)
    overlay(
        folder,
        chapters=["studies"],
        compare_studies={"studies": {"code": "runs/code", "novels": "runs/novels"}, "missing": {"legal": "no network"}},
    )
    return folder


def test_finished_runs_are_compared_and_a_changed_one_again(folder):
    done = snakemake(folder, "--cores", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    results = folder / "results"
    compared = read(results / "rates/studies.zarr.zip")
    assert compared["study"].values.tolist() == ["code", "novels"] and compared["model"].values.tolist() == ["small"]
    assert np.isfinite(compared["agreement"].sel(quantity=["error_mean", "horizon"])).all()
    page = (results / "index.html").read_text()
    assert "runs/code/results/index.html" in page and "no network" in page and "undecided" in page
    assert len((results / "studies.csv").read_text().splitlines()) == 1 + 2 * LAYERS * HEADS
    records = json.loads((results / "claims.json").read_text())
    assert records and all(record["verdict"] for record in records)  # three layers decide little, all is said
    assert (results / "answer.txt").read_text().startswith("2 studies: small on code; novels")
    assert (results / "figures/studies_heads.png").is_file() and (results / "attnlimit.tar.zst").is_file()
    assert planned(folder) == {}

    changed = folder / "runs/novels/results/rates/heads.zarr.zip"
    os.utime(changed)
    write(read(changed), changed, **read(changed).attrs | {"code": "y"})
    assert planned(folder)["gather_study"] == 1


def test_a_study_that_is_no_finished_run_is_refused(folder):
    (folder / "runs/novels/results/logs/run.json").write_text(json.dumps({"state": "failed"}))
    done = snakemake(folder, "-n")
    assert done.returncode != 0
    assert "compare_studies.studies: novels: 'runs/novels' is not a finished run" in done.stdout + done.stderr
