"""`pip install .` gives what a notebook needs, and asks for no more than that needs."""

import ast
import os
import shutil
import subprocess
import sys
import tomllib

import pytest
from packaging.requirements import Requirement

import attnlimit
from support.conda_stand_in import build
from support.envs import ROOT, SCRIPTS, imports, locked
from support.notebooks import code_cells

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
BASE = [Requirement(each) for each in PROJECT["dependencies"]]
EXTRAS = {name: [Requirement(each) for each in listed] for name, listed in PROJECT["optional-dependencies"].items()}
NEEDED_BY = {"keys_needed": "models", "read": "stores"}  # extras of what is exported
OLD = ["numpy==1.26.4", "pandas==2.2.3", "transformers==4.54.1", "xarray==2024.10.0"]  # of 2024 and July 2025
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


OLD_SESSION = """
import numpy as np
from attnlimit import attention_limit, attention_moments, heads_from_arrays, keys_needed
from support.language import small_llama, word_tokenizer, words

tokens = np.random.default_rng(0).normal(size=(40, 2))
heads = heads_from_arrays(*np.random.default_rng(1).normal(size=(3, 2, 2)))
means = attention_moments(tokens, heads, [20, 40], "float64", "cpu")["output_mean"].values
assert np.allclose(means[1], attention_limit(tokens, heads, "float64", "cpu")["output_mean"].values)
keys = keys_needed(small_llama(), word_tokenizer(), [words(80, 0)], window=64, kept=(1, 8, 2))["keys"].values
print(*means.ravel(), *keys.ravel())
"""


@pytest.mark.parametrize("name", attnlimit.EXPORTS)
def test_what_is_exported_imports_what_is_declared(name):
    declared = {each.name for each in BASE + EXTRAS.get(NEEDED_BY.get(name, ""), [])}
    module = SCRIPTS / f"{attnlimit.EXPORTS[name].replace('.', '/')}.py"
    assert imports(module) <= declared, name
    assert callable(getattr(attnlimit, name)) and name in dir(attnlimit)


def test_nothing_is_declared_that_nobody_imports():
    modules = {SCRIPTS / f"{module.replace('.', '/')}.py" for module in attnlimit.EXPORTS.values()}
    used = set().union(*map(imports, modules))
    assert {each.name for each in sum(EXTRAS.values(), BASE)} == used


def test_the_notebook_needs_no_more_than_that_and_matplotlib():
    library, others = set(), set()
    for node in ast.walk(ast.parse("\n".join(code_cells(ROOT / "docs" / "notebook.ipynb")))):
        if isinstance(node, ast.ImportFrom) and node.module.startswith("attnlimit"):
            library |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            others.add(node.module.split(".")[0])
        elif isinstance(node, ast.Import):
            others |= {name.name.split(".")[0] for name in node.names}
    assert library and library <= set(attnlimit.EXPORTS)
    assert others - sys.stdlib_module_names <= {*(each.name for each in sum(EXTRAS.values(), BASE)), "matplotlib"}


@pytest.mark.parametrize("requirement", sum(EXTRAS.values(), BASE), ids=str)
def test_locked_versions_are_allowed(requirement):
    assert locked()[requirement.name] in requirement.specifier


@pytest.mark.parametrize("requirement", BASE + EXTRAS["models"], ids=str)
def test_the_lowest_allowed_is_what_the_older_environment_has(requirement):
    """But torch: the builds of older ones without CUDA are not on the package index."""
    (lowest,) = [bound.version for bound in requirement.specifier if bound.operator == ">="]
    pinned = {pin.partition("==")[0]: pin.partition("==")[2] for pin in OLD}
    assert requirement.name == "torch" or f"{pinned[requirement.name]}.".startswith(f"{lowest}.")


def test_the_library_gives_the_same_numbers_with_older_versions(tmp_path):
    """An environment with the older versions of the index; torch and what it needs are links into this one."""
    old = tmp_path / "old"
    build(old, ["torch"])
    pip = [sys.executable, "-m", "pip", "--python", str(old / "bin/python"), "--disable-pip-version-check", "--quiet"]
    subprocess.run([*pip, "install", *OLD], check=True, capture_output=True)
    environment = os.environ | {"PYTHONPATH": f"{SCRIPTS}:{ROOT / 'tests'}", "OMP_NUM_THREADS": "1"}
    found = []
    for python in (old / "bin/python", sys.executable):
        command = [python, "-W", "ignore", "-c", OLD_SESSION]
        run = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stderr
        found.append([float(number) for number in run.stdout.split()])
    assert len(found[0]) == 2 * 2 + 2 * 4 * 5
    assert found[0] == pytest.approx(found[1], rel=1e-4)


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
