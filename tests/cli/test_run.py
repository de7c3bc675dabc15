"""The command that resumes a run is the one that was given; how far a run got; what is refused."""

import os
from pathlib import Path

import pytest

from attnlimit.cli import compare, run, run_atlas, run_studies
from attnlimit.cli.run import Request, make_command
from attnlimit.workflow.folders import read_state, write_state

FEW = os.cpu_count() + 1  # not make's default, on any machine


@pytest.mark.parametrize(
    ("given", "command"),
    [
        ({}, "make reproduce"),
        (
            {"config": ["my.yaml"], "folder": Path("runs/my"), "cores": FEW},
            f"make reproduce CORES={FEW} CONFIG=my.yaml",
        ),
        ({"config": ["a.yaml", "my.yaml"], "folder": Path("runs/x")}, "make reproduce CONFIG='a.yaml my.yaml' RUN=x"),
        ({"folder": Path("runs/x"), "profile": Path("a b")}, "make reproduce RUN=x PROFILE='a b'"),
    ],
)
def test_everything_that_was_given_is_repeated(given, command):
    request = Request(verb="reproduce", folder=Path(), config=[], cores=os.cpu_count())
    vars(request).update(given)
    assert make_command(request) == command


@pytest.mark.parametrize(
    ("verb", "inner", "arguments", "command"),
    [
        (run_studies, "chosen_studies", ["code", "my.yaml"], "make studies CORES=N STUDIES='code my.yaml'"),
        (run_atlas, "chosen_studies", ["my.yaml"], "make atlas CORES=N MODELS=my.yaml"),
        (compare, "comparison", ["--runs", "a", "b", "--name", "c"], "make compare CORES=N RUNS='a b' RUN=c"),
    ],
)
def test_ctrl_c_of_several_runs_tells_the_same_command(verb, inner, arguments, command, monkeypatch, capsys):
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setenv("ATTNLIMIT_DOWNLOADS", "there")  # the command would leave it in the environment
    monkeypatch.setattr(compare if verb is compare else run_studies, inner, interrupt)
    monkeypatch.setattr(compare, "mark_stopped", print)
    with pytest.raises(SystemExit, match="130"):
        verb.main([*arguments, "--cores", str(FEW)])
    assert f"resume with `{command.replace('N', str(FEW), 1)}`" in capsys.readouterr().err


@pytest.mark.parametrize("before", ["failed", "unfinished"])
def test_a_run_in_which_nothing_is_to_do_is_finished(before, tmp_path, monkeypatch):
    """As after a `make bench` that failed: Snakemake calls no hook then, and the run could never be compared."""
    write_state(tmp_path, {"began": "2026-01-01 10:00", "state": before})
    monkeypatch.setattr(run, "snakemake", lambda *_: None)
    monkeypatch.setattr(run, "is_outdated", lambda *_: False)
    run.reproduce(Request(folder=tmp_path))
    assert read_state(tmp_path)["state"] == "finished" and read_state(tmp_path)["began"] == "2026-01-01 10:00"


def test_a_restored_run_gets_no_notes(tmp_path, monkeypatch):
    monkeypatch.setattr(run, "snakemake", lambda *_: None)
    monkeypatch.setattr(run, "is_outdated", lambda *_: False)
    run.reproduce(Request(folder=tmp_path))
    assert read_state(tmp_path) == {}


@pytest.mark.parametrize("number", ["0", "-1", "two"])
@pytest.mark.parametrize("verb", [run_studies, run_atlas, compare])
def test_a_number_of_cores_that_is_none_is_refused(verb, number, monkeypatch):
    monkeypatch.setattr(run_studies, "chosen_studies", lambda *_: pytest.fail("it would run"))
    with pytest.raises(SystemExit, match="CORES: .* is not a number of cores"):
        verb.main(["--cores", number])
