"""The workflow's own files are all there, by content, whatever else lies beside them."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from attnlimit.workflow.workflow_files import (
    ENVIRONMENT,
    commit,
    commit_before,
    files_in_place,
    source_files,
    source_sha256,
)

ROOT = Path(__file__).parents[2]


@pytest.fixture
def project(tmp_path) -> Path:
    made = ("scripts/__pycache__/a.pyc", "scripts/attnlimit.egg-info/PKG-INFO", "build/lib/a.py")
    for name in ("Snakefile", "scripts/a.py", *made, "results/rates.csv", "my.yaml", ".venv/b"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    return tmp_path


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="no clone, so git cannot say which files there are")
def test_all_files_of_the_repository_are_listed():
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    present = {name for name in listed.splitlines() if (ROOT / name).is_file()}
    assert present - set(source_files(ROOT)) == {"results/README.md"}, "it is of no run and no source"
    assert set(source_files(ROOT)) < present and set(source_files(ROOT)) <= set(files_in_place(ROOT))


def test_what_running_leaves_is_not_listed(project):
    assert source_files(project) == files_in_place(project) == ["Snakefile", "scripts/a.py"]


def test_the_hash_follows_names_and_contents_and_no_dates(project):
    before = source_sha256(project)
    os.utime(project / "Snakefile")
    (project / "results/rates.csv").write_text("other")
    assert source_sha256(project) == before
    (project / "scripts/a.py").rename(project / "scripts/b.py")
    assert source_sha256(project) != before
    (project / "scripts/b.py").rename(project / "scripts/a.py")
    (project / "scripts/a.py").write_text("other")
    assert source_sha256(project) != before


def test_a_restored_folder_has_results_of_the_commit_before(project):
    (project / ENVIRONMENT).parent.mkdir()
    for before in ("abc", "restored from abc"):
        (project / ENVIRONMENT).write_text(json.dumps({"commit": before}))
        assert commit(project) == "restored from abc" and commit_before(project) == "abc"


def test_the_commit_is_told_and_whether_files_were_changed(project):
    assert commit(project) == "unknown"
    git = ["git", "-C", str(project), "-c", "user.name=n", "-c", "user.email=e"]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "add", "Snakefile"], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "first"], check=True)
    head = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
    assert commit(project) == head
    assert source_files(project) == ["Snakefile"], "git does not know the others"
    (project / "Snakefile").write_text("other")
    assert commit(project) == f"{head}-dirty"
