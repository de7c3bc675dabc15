"""`make envs`: one file a script, with what it imports at the versions of the lock."""

import pytest

from attnlimit.cli import envs
from attnlimit.cli.envs import env_files, main
from support.conda_stand_in import pins_of
from support.envs import ROOT

LOCK = "NumPy==2.4.6\npydantic==2.14.3\nscipy==1.17.1\nxarray==2026.9.0\ntqdm==4.70.1\n"


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project of one script and no library."""
    for name in ("envs", "scripts/attnlimit/base"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "requirements.lock").write_text(LOCK)
    write(tmp_path, "job", "import json\n\nimport numpy as np\n")
    monkeypatch.setattr(envs, "ROOT", tmp_path)
    return tmp_path


def write(project, name: str, text: str) -> None:
    path = project / f"scripts/{name}.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def pins(project) -> list[str]:
    main()
    return [pin.split("==")[0] for pin in pins_of(project / "envs/job.yaml")]


def test_the_committed_files_are_current():
    committed = {path.name: path.read_text() for path in (ROOT / "envs").glob("*.yaml")}
    assert committed == env_files(ROOT), "run `make envs`"


def test_pins_are_those_of_the_lock(project):
    main()
    assert pins_of(project / "envs/job.yaml") == ["numpy==2.4.6"]
    (project / "requirements.lock").write_text(LOCK.replace("2.4.6", "2.5.0"))
    main()
    assert pins_of(project / "envs/job.yaml") == ["numpy==2.5.0"]


@pytest.mark.parametrize(
    ("text", "also"),
    [
        ("def work():\n    from scipy.special import erf\n", ["scipy"]),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import scipy\nelse:\n    import tqdm\n", ["tqdm"]),
        ("from snakemake.exceptions import WorkflowError\n", []),
        ("def __getattr__(name):\n    from scipy.special import erf\n", []),
        ("from importlib import import_module\nimport_module('scipy.special')\n", ["scipy"]),
        ("from importlib import import_module\nimport_module(f'attnlimit.questions.{name}.about')\n", ["pydantic"]),
        ("from attnlimit.questions.law import about\n", ["pydantic", "xarray"]),
        ("import attnlimit.questions.law.about\n", ["pydantic", "xarray"]),
    ],
)
def test_imports_are_followed_through_the_library(project, text, also):
    """A module that imports another; a package whose __init__ runs with each of its modules."""
    write(project, "job", "from attnlimit.base.store import read\n")
    write(project, "attnlimit/base/store", f"import numpy\n{text}")
    write(project, "attnlimit/questions/law/about", "import pydantic\n")
    write(project, "attnlimit/questions/law/measure", "import tqdm\n")
    if "xarray" in also:
        write(project, "attnlimit/questions/law/__init__", "import xarray\n")
    assert pins(project) == ["numpy", *also]


def test_a_file_without_a_script_is_removed(project):
    main()
    (project / "scripts/job.py").rename(project / "scripts/other.py")
    main()
    assert [path.name for path in (project / "envs").iterdir()] == ["other.yaml"]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("import nowhere", "imports nowhere, which is not installed"),
        ("import yaml", "needs pyyaml, which no lock holds"),
        ("from . import store", "line 1: write `from attnlimit.room.module import name`"),
        ("from importlib import import_module\nimport_module(name)", "line 2: import_module takes a name"),
    ],
)
def test_what_cannot_be_pinned_is_refused(project, text, complaint):
    write(project, "job", text)
    with pytest.raises(ValueError, match=complaint):
        main()
