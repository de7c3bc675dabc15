"""`make atlas` on two small random models, an encoder and a decoder: runs, table, figures, page, and one that fails."""

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from attnlimit.base.store import read
from attnlimit.questions.atlas.columns import COLUMNS
from support.language import TEXTS, small_bert, small_llama, word_tokenizer, words
from support.workflow import clone, environment, make

SIZES = {
    "chapters": ["entry"],
    "layers": [0, 1],
    "prepare_windows": {"windows": 3, "window": 64},
    "measure_keys": {
        "contexts": [64],
        "context": 64,
        "queries": 8,
        "protocols": ["uniform", "sink", "recent", "sink_recent", "window", "top"],
        "last": 4,
        "sizes": [4, 16, 32, 64, 256],
        "parts": 1,
    },
}


def model_file(folder: Path, name: str, location: str) -> None:
    text = {"source": "text", "location": "texts", "title": "random words"}
    model = {"source": "local", "location": location, "title": name}
    (folder / f"{name}.yaml").write_text(yaml.safe_dump({"fetch_corpus": text, "fetch_model": model}))


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Path:
    """A clone whose atlas is of one small encoder; a small decoder of the user's own, and one that is not there."""
    folder = clone(tmp_path_factory.mktemp("project"))
    environment(folder)
    (folder / "texts").mkdir()
    for number, name in enumerate(TEXTS):
        (folder / f"texts/{name}.txt").write_text(words(200, number))
    for name, model in {"bert": small_bert(), "llama": small_llama()}.items():
        model.save_pretrained(folder / "models" / name)
        word_tokenizer().backend_tokenizer.save(str(folder / "models" / name / "tokenizer.json"))
    shutil.rmtree(folder / "configs/atlas")
    (folder / "configs/atlas").mkdir()
    (folder / "configs/atlas-sizes.yaml").write_text(yaml.safe_dump(SIZES))
    model_file(folder / "configs/atlas", "bert", "models/bert")
    model_file(folder, "llama", "models/llama")
    model_file(folder, "gone", "models/gone")
    return folder


@pytest.fixture(scope="module")
def atlas(project) -> Path:
    """Of the default set, then with a model of the user's own: it adds rows, and the first does not run again."""
    code, lines = make(project, "atlas", "CORES=2")
    assert code == 0, lines
    code, lines = make(project, "atlas", "MODELS=llama.yaml gone.yaml", "CORES=2")
    assert code != 0 and lines[-3].startswith("failed: atlas-gone: fetch_model.location: no folder"), lines
    assert not any("atlas-bert" in line for line in lines if line.startswith("model "))
    return project / "runs/atlas/results"


def test_one_row_a_head_over_all_models(atlas):
    table = pd.read_csv(atlas / "atlas.csv")
    assert list(table) == list(COLUMNS) and table.groupby("model").size().to_dict() == {"bert": 8, "llama": 8}
    assert table.groupby("model")["causal"].first().to_dict() == {"bert": 0.0, "llama": 1.0}
    own = read(atlas.parents[1] / "atlas-bert/results/atlas/couplings.zarr.zip")
    rows = table[table["model"] == "bert"]
    np.testing.assert_allclose(rows["horizon"], own["horizon"].values.ravel(), rtol=1e-6)
    np.testing.assert_allclose(rows["depth"], np.repeat([0.0, 1.0], 4))


def test_it_ends_with_figures_a_page_and_what_is_missing(atlas):
    for name in ("atlas_depth", "atlas_horizon", "atlas_beyond"):
        assert all((atlas / f"figures/{name}.{form}").stat().st_size > 5_000 for form in ("pdf", "svg", "png"))
    page = (atlas / "index.html").read_text()
    assert "../../atlas-llama/results/index.html" in page and "gone: missing, fetch_model.location: no folder" in page
    lines = json.loads((atlas / "answer.json").read_text())["lines"]
    assert {"about", "random", "kept", "largest", "beyond", "horizon", "depth"} <= set(lines)
    assert (atlas / "attnlimit.tar.zst").is_file()


def test_the_page_of_one_model_has_its_heads(atlas):
    page = (atlas.parents[1] / "atlas-bert/results/index.html").read_text()
    assert "pool of all texts" not in page and "rates.csv" not in page, "that is the page of a run on pooled tokens"
    assert "Explore the heads" in page and "chapter-entry" in page
