"""The verbs of the Makefile: which check runs which, and those that no other test calls."""

import re
import subprocess
from pathlib import Path

import pytest
import torch

from support.tiny_run import make_archive, make_run
from support.workflow import ROOT, clone, environment, make

VERBS = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), re.M)[1].split()
TABLE = re.search(r"<!-- verbs -->\n(.*?)<!-- /verbs -->", (ROOT / "CONTRIBUTING.md").read_text(), re.S)[1]
ROWS = [[re.findall(r"`(.+?)`", cell) for cell in row.split(" | ")] for row in TABLE.splitlines()[2:]]


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Path:
    folder = clone(tmp_path_factory.mktemp("project"))
    environment(folder)
    return folder


@pytest.fixture
def archive(tmp_path, monkeypatch) -> Path:
    make_run(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path / make_archive(Path("small.tar.zst"))


def test_every_verb_is_in_the_table_of_checks_once():
    assert sorted(verb for verbs, *_ in ROWS for verb in verbs) == sorted(VERBS)


def test_a_config_without_its_variable_starts_nothing(project):
    code, lines = make(project, "plan", "small.yaml")
    assert code and "small.yaml is no verb; write CONFIG=small.yaml" in lines[-1]


def test_a_misspelt_variable_is_refused(project):
    code, lines = make(project, "help", "CONF=my.yaml")
    assert code and "no variable CONF; there are CORES CONFIG RUN" in lines[-1]
    assert make(project, "help", "RUNS=a b", "AUTHORS=Family, Given; C, D=E")[0] == 0


@pytest.mark.parametrize(("verbs", "checks", "how"), ROWS, ids=lambda cell: " ".join(cell))
def test_the_check_of_a_verb_names_it(verbs, checks, how):
    assert checks and all((ROOT / check).is_file() for check in [*checks, *how])
    text = "".join((ROOT / check).read_text() for check in checks)
    for verb in verbs:
        assert re.search(rf'"{verb}"|make {verb}\b', text), f"{verb}: not in {checks}"


def test_help_lists_every_verb(project):
    code, lines = make(project, "help")
    assert code == 0 and sorted(line.split()[0] for line in lines) == sorted(VERBS)


def test_clean_removes_one_run_and_no_other(project):
    for name in ("one", "two"):
        (project / f"runs/{name}/results").mkdir(parents=True)
    assert make(project, "clean", "RUN=one")[0] == 0
    assert not (project / "runs/one").exists() and (project / "runs/two").is_dir()


def test_clean_leaves_what_a_clone_has(project):
    for name in ("README.md", "rates.csv", "logs/run.json"):
        (project / "results" / name).parent.mkdir(parents=True, exist_ok=True)
        (project / "results" / name).write_text("x")
    for _ in range(2):
        assert make(project, "clean")[0] == 0
        assert [path.name for path in (project / "results").iterdir()] == ["README.md"]
        assert (project / "runs/two").is_dir()


def test_lint_looks_at_no_text_of_the_users(project):
    """ruff formats code in Markdown."""
    (project / "my_texts").mkdir()
    (project / "my_texts/notes.md").write_text("```python\nx = { 1 }\n```\n")
    code, lines = make(project, "-n", "lint")
    programs = [line for line in lines if "ruff" in line or "codespell" in line]
    assert code == 0 and len(programs) == 2
    for program in programs:
        subprocess.run(["bash", "-c", program], cwd=project, check=True)
    (project / "docs/notes.md").write_text("```python\nx = { 1 }\n```\n")
    assert any(subprocess.run(["bash", "-c", program], cwd=project).returncode for program in programs)
    (project / "docs/notes.md").unlink()


def test_an_unknown_profile_or_a_verb_without_jobs_gets_one_line(project):
    code, lines = make(project, "reproduce", "PROFILE=profiles/slrm")
    assert (
        code != 0 and lines[0].startswith("PROFILE: no config.yaml in profiles/slrm") and "profiles/slurm" in lines[0]
    )
    code, lines = make(project, "runs", "PROFILE=profiles/slurm")
    assert code != 0 and lines[0] == "PROFILE: runs submits no jobs; leave it out"


def test_a_container_is_built_from_what_is_committed(tmp_path):
    """Where there is a clone: the engine gets a tar with all that its file copies."""
    engine = tmp_path / "engine"
    engine.write_text(f'#!/bin/sh\necho "$@" >{tmp_path}/given\nexec tar -t >{tmp_path}/files\n')
    engine.chmod(0o755)
    if make(ROOT, "container", f"ENGINE={engine}", "TORCH=cpu")[0]:
        pytest.skip("no clone here")
    assert "--file envs/Dockerfile --build-arg TORCH=cpu" in (tmp_path / "given").read_text()
    files = (tmp_path / "files").read_text().split()
    copied = re.findall(r"^COPY (.*) \S+$", (ROOT / "envs/Dockerfile").read_text(), re.M)
    for name in " ".join(copied).replace(" .", "").split():
        assert name == "." or name in files or f"{name}/" in files


def test_quick_lays_its_sizes_over_a_config_into_a_folder_of_its_own(project):
    (project / "my.yaml").write_text("seed: 1\n")
    code, lines = make(project, "-n", "quick", "CONFIG=my.yaml")
    assert code == 0
    assert any('reproduce --folder "runs/quick"' in line and "my.yaml configs/quick.yaml" in line for line in lines)
    code, lines = make(project, "plan", "CONFIG=my.yaml configs/quick.yaml")
    assert code == 0 and lines[-1].endswith("(an estimate, good to a factor of two)")


def test_an_archive_is_verified_restored_and_shown_before_a_deposit(project, archive, tmp_path, monkeypatch):
    monkeypatch.delenv("ZENODO_TOKEN", raising=False)
    (archive.parent / "report.html").write_text("<html>Report</html>")
    assert make(project, "verify", f"ARCHIVE={archive}")[0] == 0
    assert make(project, "restore", f"ARCHIVE={archive}", f"TO={tmp_path / 'there'}")[0] == 0
    assert (tmp_path / "there/results/rates.csv").read_text() == "beta\n0.3\n"
    code, lines = make(project, "deposit", f"ARCHIVE={archive}", 'TITLE=Rates of "my" heads')
    assert code == 0 and any(archive.name in line for line in lines)
    assert any("TITLE='Rates of \"my\" heads'" in line for line in lines)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
def test_gpu_check_without_a_gpu_ends_with_one_line(project):
    code, lines = make(project, "gpu-check")
    assert code != 0 and "sees no CUDA GPU" in lines[0] and lines[1].startswith("make: ***")
