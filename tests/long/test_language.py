"""Chapter language as a whole, on a small random Llama and random words: stores, tables, figures, verdicts, archive."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import yaml

from attnlimit.base.store import read
from attnlimit.questions.keys.first_order import keys_by_first_order
from attnlimit.questions.keys.measure import Reading, measure_window
from attnlimit.sampling.joining import join_parts
from support.language import KEYS, TEXTS, small_llama, small_run
from support.workflow import ROOT


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The folder of a finished run."""
    folder = tmp_path_factory.mktemp("language")
    (folder / "own.yaml").write_text(yaml.safe_dump(small_run(folder)))
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile"), "--cores", "2"]
    command += ["--directory", str(folder / "run"), "--configfile", str(folder / "own.yaml")]
    (folder / "run").mkdir()
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "run/results"


def test_the_chapter_ends_with_verdicts_figures_page_and_archive(run):
    records = {record["id"]: record for record in json.loads((run / "claims.json").read_text())}
    claims = {"keys_first_order", "keys_growth", "keys_together", "next_token_window", "next_token_sink_window"}
    assert set(records) == claims
    assert all(record["verdict"] for record in records.values())
    for name in ("keys", "keys_by_layer", "keys_by_context", "next_token"):
        assert (run / f"figures/{name}.png").stat().st_size > 10_000
    assert "keys" in (run / "answer.txt").read_text()
    assert (run / "attnlimit.tar.zst").is_file() and (run / "index.html").is_file()


def test_an_article_left_out_gives_no_window(run):
    windows = read(run / "keys/windows.zarr.zip")
    assert "one" not in windows["title"].values and windows.sizes == {"window": len(TEXTS) - 1, "position": 128}


def test_the_cut_into_jobs_changes_no_number_and_library_and_workflow_agree(run):
    """The stores of two jobs against one pass of the library over all windows."""
    errors, windows = read(run / "keys/errors.zarr.zip"), read(run / "keys/windows.zarr.zip")
    section = KEYS | {"first": 1, "replicates": 2, "protocols": errors["protocol"].values.tolist()}
    reading = Reading.of(section, errors.attrs["seed"])
    tokens, model = windows["token_id"].values, small_llama()
    own = [measure_window(model, row, reading, [0, 1], number) for number, row in enumerate(tokens)]
    own = join_parts(own, "window")
    for name in ("error", "first_order", "horizon"):
        np.testing.assert_allclose(own[name].transpose(*errors[name].dims).values, errors[name].values, rtol=1e-4)
    fits = read(run / "rates/keys.zarr.zip")
    mine = keys_by_first_order(own, 0.05)["keys"].sel(protocol="sink_recent").transpose("context", "layer", "head")
    theirs = fits["first_order_keys"].sel(eps=0.05, protocol="sink_recent").transpose("context", "layer", "head")
    np.testing.assert_allclose(mine.values, theirs.values, rtol=1e-4)


def test_budgets_are_in_the_formats_of_other_tools(run):
    ratios = np.load(run / "budgets/prune_ratios.npy", allow_pickle=False)
    assert ratios.shape == (99, 2, 2) and ratios.min() >= 0 and ratios.max() < 1
    assert np.loadtxt(run / "budgets/full_attention_heads.tsv", delimiter="\t").shape == (2, 2)
    assert json.loads((run / "budgets/config.json").read_text()) == {"sink_size": 1, "recent_size": 8}
    table = pd.read_csv(run / "budgets/budgets.csv")
    assert len(table) == 4 and {"layer", "kv_head", "uniform", "top"} <= set(table)
    assert len(pd.read_csv(run / "keys.csv")) == 8
