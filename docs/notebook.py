"""Run docs/notebook.ipynb and store its outputs in it: `.venv/bin/python docs/notebook.py runs/quick`.

The folder is that of a finished run with the heads of layer 5. The part on a decoder reads runs/smollm2/results/models,
which `make reproduce CONFIG=configs/smollm2.yaml` brings. What is stored: printed lines, the value of a cell's last
expression, figures as small PNG. No Jupyter is needed, and no date, path or random name is kept.
"""

import ast
import base64
import hashlib
import io
import os
import sys
from contextlib import chdir, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib

matplotlib.use("agg")

import matplotlib.pyplot as plt
import nbformat
from nbformat.v4 import new_output

ROOT = Path(__file__).parents[1]
NOTEBOOK = ROOT / "docs" / "notebook.ipynb"
MARK = "outputs_of"  # in the metadata of the notebook: the hash of the code that its outputs come from
DPI = 70
LONGEST_TABLE = 8_000  # characters of HTML; a longer one is stored as text alone


def code_hash(notebook: nbformat.NotebookNode) -> str:
    sources = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    return hashlib.sha256("\n".join(sources).encode()).hexdigest()


def value_of(code: str, namespace: dict):
    """Run a cell; the value of its last expression, None without one."""
    tree = ast.parse(code)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(ast.unparse(tree), namespace)  # noqa: S102  # our own notebook
    return None if last is None else eval(ast.unparse(last.value), namespace)  # noqa: S307


def outputs(code: str, namespace: dict, number: int) -> list[nbformat.NotebookNode]:
    printed = io.StringIO()
    with redirect_stdout(printed):
        value = value_of(code, namespace)
    found = [new_output("stream", name="stdout", text=printed.getvalue())] if printed.getvalue() else []
    if value is not None:
        data = {"text/plain": repr(value)}
        html = value._repr_html_() if hasattr(value, "_repr_html_") else ""
        if 0 < len(html) <= LONGEST_TABLE:
            data["text/html"] = html
        found.append(new_output("execute_result", data=data, execution_count=number))
    for place in plt.get_fignums():
        png = io.BytesIO()
        plt.figure(place).savefig(png, format="png", dpi=DPI, bbox_inches="tight", metadata={"Software": None})
        data = {"image/png": base64.b64encode(png.getvalue()).decode(), "text/plain": "<Figure>"}
        found.append(new_output("display_data", data=data))
    plt.close("all")
    return found


def execute(notebook: nbformat.NotebookNode, folder: Path) -> None:
    """Run all cells in a folder and store what they give."""
    namespace: dict = {}
    plt.show = lambda *args, **options: None
    with chdir(folder):
        for number, cell in enumerate((cell for cell in notebook.cells if cell.cell_type == "code"), 1):
            cell.outputs, cell.execution_count = outputs(cell.source, namespace, number), number
    notebook.metadata[MARK] = code_hash(notebook)


def main(run: Path) -> None:
    notebook = nbformat.read(NOTEBOOK, as_version=nbformat.NO_CONVERT)
    with TemporaryDirectory() as scratch:
        work = Path(scratch) / "docs"  # as in the project, with the results of this run beside it
        work.mkdir()
        for text in (ROOT / "docs").glob("*.md"):
            (work / text.name).symlink_to(text)
        (work.parent / "results").symlink_to((run / "results").resolve())
        (work.parent / "runs").symlink_to(ROOT / "runs")
        execute(notebook, work)
    nbformat.write(notebook, NOTEBOOK)


if __name__ == "__main__":
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    sys.path.insert(0, str(ROOT / "scripts"))
    main(Path(sys.argv[1]))
