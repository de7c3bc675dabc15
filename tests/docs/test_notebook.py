"""docs/notebook.ipynb runs from first cell to last, on rates whose answers are known; stored outputs are its own."""

import importlib.util
import json
from pathlib import Path

import nbformat
import numpy as np
import pytest
import xarray as xr

from attnlimit.base.coordinates import STATISTICS, with_whole_layer
from attnlimit.stats.fits import fit_errors
from attnlimit.stats.power_law import Bootstrap
from support.envs import ROOT
from support.notebooks import code_cells, run_cells
from support.small_decoders import LLAMA, small_decoder, small_tokenizer
from support.stores import write

NOTEBOOK = ROOT / "docs" / "notebook.ipynb"
LARGEST = 400_000  # bytes, with its outputs
RENEW = "run `make quick`, then .venv/bin/python docs/notebook.py runs/quick"
LAYERS, HEADS, SIZES = 6, 6, 2 ** np.arange(5, 13)
SCALE = 2.0  # an error is SCALE n^-beta: 5 % of it are reached at n = 20^(1/beta)
SECOND_RUN = "../runs/my/results/rates/heads.zarr.zip"


def exponent(layer: int, head: int) -> float:
    return 0.5 - 0.02 * head + 0.01 * layer


def write_rates(path: Path, layers: int, shift: float) -> None:
    """Rates as fit_rates writes them, of errors that fall by a power of n but for noise of 1 %."""
    rng = np.random.default_rng(layers)
    bootstraps = [Bootstrap(100, True, rng)] * len(STATISTICS)
    fits = []
    for layer in range(layers):
        betas = np.array([exponent(layer, head) + shift for head in range(HEADS + 1)])  # last the whole layer
        shape = (len(STATISTICS), len(betas), 30, len(SIZES))
        drawn = SCALE * SIZES ** -betas[:, None, None] * rng.normal(1, 0.01, shape)
        errors = xr.Dataset(
            {
                "error": (("statistic", "head", "replicate", "n"), drawn),
                "limit_scale": (("statistic", "head"), np.full(shape[:2], SCALE)),
            }
            | {name: ("head", [*np.linspace(0.2, 1, HEADS), np.nan]) for name in ("horizon", "psi")},
            coords={"statistic": list(STATISTICS), "head": with_whole_layer(HEADS), "n": SIZES, "layer": layer},
        )
        fits.append(fit_errors(errors, bootstraps, 3, 0.5))
    path.parent.mkdir(parents=True)
    write(xr.concat(fits, "layer"), path, source="heads")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """The folder that Jupyter runs the notebook in, beside the results of two runs: the second has fewer layers."""
    docs = tmp_path_factory.mktemp("project") / "docs"
    docs.mkdir()
    write_rates(docs / "../results/rates/heads.zarr.zip", LAYERS, shift=0.0)
    write_rates(docs / SECOND_RUN, LAYERS - 1, shift=-0.1)
    for models in ("../results/models", "../runs/smollm2/results/models"):
        small_decoder("Llama", **LLAMA | {"max_position_embeddings": 512}).save_pretrained(docs / models)
        small_tokenizer().save(str(docs / models / "tokenizer.json"))
    for text in NOTEBOOK.parent.glob("*.md"):
        (docs / text.name).write_bytes(text.read_bytes())
    return docs


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("notebook_script", ROOT / "docs/notebook.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_notebook_is_clean(script):
    notebook = nbformat.read(NOTEBOOK, as_version=nbformat.NO_CONVERT)
    nbformat.validate(notebook)
    assert set(notebook.metadata) == {"kernelspec", "language_info", script.MARK}
    assert not any(cell.metadata for cell in notebook.cells)


def test_stored_outputs_are_those_of_the_code_and_small(script):
    notebook = nbformat.read(NOTEBOOK, as_version=nbformat.NO_CONVERT)
    assert notebook.metadata[script.MARK] == script.code_hash(notebook), RENEW
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1)), RENEW
    stored = [output for cell in cells for output in cell.outputs]
    assert all(output.output_type != "error" for output in stored)
    assert sum("image/png" in output.get("data", {}) for output in stored) == 3
    assert "language model" in cells[-2].outputs[0].text, "a decoder is shown, too"
    assert NOTEBOOK.stat().st_size < LARGEST
    assert "/tmp/" not in (text := NOTEBOOK.read_text()) and str(ROOT) not in text and "object at 0x" not in text


def test_the_script_stores_lines_values_and_pictures(script, tmp_path):
    cells = [
        "x = 2\nprint('two')\nx",
        "plt = __import__('matplotlib.pyplot').pyplot\nplt.plot([1, x])\nplt.show()",
        "x = 3",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    script.execute(notebook, tmp_path)
    nbformat.validate(notebook)
    first, second, third = (cell.outputs for cell in notebook.cells)
    assert first[0].text == "two\n" and first[1].data == {"text/plain": "2"}
    assert [list(output.data) for output in second] == [["image/png", "text/plain"]] and third == []
    assert notebook.metadata[script.MARK] == script.code_hash(notebook)


def test_every_cell_runs_and_answers_as_the_runs_were_made(folder):
    """As it stands; then once more the cell on two runs, with a second one that differs by 0.1 in every rate."""
    cells = code_cells(NOTEBOOK)
    assert "OTHER = RATES" in cells[0]
    (two_runs,) = [cell for cell in cells[1:] if "OTHER" in cell]
    names = "beta=float(head.beta), whole=float(whole.beta), needed=needed.values.tolist(), own=(-slopes).tolist()"
    names += ", layers=len(first.layer), gap=(first.beta - other.beta).values.ravel().tolist()"
    names += ", kinds=list(found_of := needed_keys), sizes=dict((last := found_of['language model']).sizes)"
    names += ", keys=last['keys'].median(('layer', 'head')).values.tolist()"
    more = [f"OTHER = {SECOND_RUN!r}", two_runs, f"import json; print(json.dumps(dict({names})))"]
    run = run_cells([*cells, *more], folder)
    assert run.returncode == 0, run.stderr
    assert "Warning" not in run.stderr

    shared = (LAYERS - 1) * HEADS
    assert f"0 of {LAYERS * HEADS} heads" in run.stdout, "a run compared with itself"
    assert f"{shared} of {shared} heads" in run.stdout, "all rates of the layers that both runs have"
    answers = json.loads(run.stdout.splitlines()[-1])
    assert answers["beta"] == pytest.approx(exponent(layer=5, head=5), abs=0.005)
    assert answers["whole"] == pytest.approx(exponent(layer=5, head=HEADS), abs=0.005)
    expected = [[20 ** (1 / exponent(layer, head)) for head in range(HEADS)] for layer in range(LAYERS)]
    np.testing.assert_allclose(answers["needed"], expected, rtol=0.03)
    np.testing.assert_allclose(answers["own"], 0.5, atol=0.1)  # horizons below 1: the rate of an average
    assert answers["layers"] == LAYERS - 1
    np.testing.assert_allclose(answers["gap"], 0.1, atol=0.01)
    assert answers["kinds"] == ["encoder", "language model"]
    assert answers["sizes"] == {"layer": 2, "head": 4, "protocol": 5, "largest": 3}
    uniform, *_, sink_recent, _ = answers["keys"]
    assert uniform > sink_recent > 0


@pytest.mark.parametrize("broken", ["1 / 0", "def f(:"])
def test_a_broken_cell_is_told_by_its_number(tmp_path, broken):
    run = run_cells(["x = 1", "x += 1", f"assert x == 2\n{broken}", "print('not reached')"], tmp_path)
    assert run.returncode == 1
    assert 'File "cell 3", line 2' in run.stderr
    assert not run.stdout
