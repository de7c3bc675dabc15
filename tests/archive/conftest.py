"""A small run, and its archive, for the tests of this room."""

from pathlib import Path

import pytest

from attnlimit.workflow.folders import ARCHIVE
from support.tiny_run import make_archive, make_run


@pytest.fixture
def run(tmp_path, monkeypatch) -> Path:
    """The folder of a run, the current one."""
    folder = tmp_path / "run"
    folder.mkdir()
    make_run(folder)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def archive(run) -> Path:
    return make_archive(ARCHIVE)
