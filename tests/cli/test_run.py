"""The command that resumes a run is the one that was given."""

import os
from pathlib import Path

import pytest

from attnlimit.cli import compare, run_atlas, run_studies
from attnlimit.cli.run import Request, make_command

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
