"""Run a notebook without Jupyter: its code cells in order, in one namespace, in a process of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import nbformat

from support.envs import SCRIPTS

# A cell is named by its number, as Jupyter counts code cells: a traceback then says which one broke.
RUN = """
import json, sys
namespace = {}
for number, source in enumerate(json.load(sys.stdin), 1):
    exec(compile(source, f"cell {number}", "exec"), namespace)
"""


def code_cells(path: Path) -> list[str]:
    notebook = nbformat.read(path, as_version=nbformat.NO_CONVERT)
    return [cell.source for cell in notebook.cells if cell.cell_type == "code"]


def run_cells(cells: list[str], folder: Path) -> subprocess.CompletedProcess:
    """Run the sources of cells in a folder, with the library at hand and no screen."""
    environment = os.environ | {"PYTHONPATH": str(SCRIPTS), "MPLBACKEND": "agg", "OMP_NUM_THREADS": "1"}
    command, cells_as_json = [sys.executable, "-c", RUN], json.dumps(cells)
    given = {"cwd": folder, "env": environment, "input": cells_as_json}
    return subprocess.run(command, **given, capture_output=True, text=True, check=False)
