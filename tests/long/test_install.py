"""`pip install .` gives what a notebook needs, and asks for no more than that needs."""

import ast
import os
import shutil
import subprocess
import sys
import tomllib

import pytest
from packaging.requirements import Requirement

from support.envs import ROOT, SCRIPTS, imports, locked
from support.notebooks import code_cells

PUBLIC = ("attention/on_tokens.py", "base/store.py")  # what a notebook may call
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
NEEDED = {requirement.name: requirement for requirement in map(Requirement, PROJECT["dependencies"])}
SESSION = """
import sys
sys.modules.update(dict.fromkeys(sys.argv[1].split()))  # as if not installed

import numpy as np
import attnlimit.base.log
from attnlimit.attention.on_tokens import attention_moments, heads_from_arrays
from attnlimit.base.store import handed_on, read, write

moments = attention_moments(np.ones((4, 2)), heads_from_arrays(*np.ones((3, 2, 2))), [2, 4])
write(moments, "moments.zarr.zip", handed_on(moments))
assert (read("moments.zarr.zip")["output_mean"] == 2).all()
print(attnlimit.base.log.__file__)
"""


def test_public_modules_import_what_is_declared_and_nothing_else():
    assert set().union(*(imports(SCRIPTS / "attnlimit" / name) for name in PUBLIC)) == set(NEEDED)
    assert set(NEEDED) == {"numpy", "torch", "xarray", "zarr"}


def test_the_notebook_needs_no_more_than_that_and_matplotlib():
    library, others = set(), set()
    for node in ast.walk(ast.parse("\n".join(code_cells(ROOT / "docs" / "notebook.ipynb")))):
        if isinstance(node, ast.ImportFrom) and node.module.startswith("attnlimit."):
            library.add(node.module.removeprefix("attnlimit.").replace(".", "/") + ".py")
        elif isinstance(node, ast.ImportFrom):
            others.add(node.module.split(".")[0])
        elif isinstance(node, ast.Import):
            others |= {name.name.split(".")[0] for name in node.names}
    assert library and library <= set(PUBLIC)
    assert others <= {*NEEDED, "matplotlib"}


@pytest.mark.parametrize("name", NEEDED)
def test_the_locked_version_is_the_lowest_allowed(name):
    """No older one was tried."""
    allowed, tried = NEEDED[name].specifier, locked()[name]
    (lowest,) = [bound.version for bound in allowed if bound.operator == ">="]
    assert tried in allowed and f"{tried}.".startswith(f"{lowest}.")


def test_an_installed_library_works_without_the_rest_of_the_lock(tmp_path):
    """Installed from a copy: pip builds beside the sources."""
    source, site = tmp_path / "source", tmp_path / "site"
    shutil.copytree(SCRIPTS, source / "scripts", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    for name in ("pyproject.toml", "LICENSE"):
        shutil.copy(ROOT / name, source)
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index"]
    subprocess.run([*install, "--no-build-isolation", "--no-deps", "--target", site, source], check=True)
    assert {path.parent.relative_to(site) for path in site.rglob("*.py")} == {
        path.parent.relative_to(SCRIPTS) for path in SCRIPTS.glob("attnlimit/**/*.py")
    }
    others = "tqdm scipy matplotlib transformers tokenizers snakemake jsonschema"
    command = [sys.executable, "-c", SESSION, others]
    environment = os.environ | {"PYTHONPATH": str(site)}
    run = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == str(site / "attnlimit/base/log.py")
