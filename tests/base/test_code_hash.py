"""A job's hash follows every statement that the job may run, and no comment, docstring or date."""

import os
from pathlib import Path

import pytest

from attnlimit.base.code_hash import code_hash, parsed, texts_hash

SCRIPT = "from attnlimit.room.one import f\n\nf()\n"
ONE = '"""Words."""\nfrom attnlimit.two import g\n\n\ndef f():\n    """More words."""\n    return g(1)  # why\n'


@pytest.fixture
def project(tmp_path) -> Path:
    write(tmp_path, "scripts/job.py", SCRIPT)
    write(tmp_path, "scripts/attnlimit/room/one.py", ONE)
    write(tmp_path, "scripts/attnlimit/two.py", "from attnlimit.base.log import say\n\n\ndef g(x):\n    return x\n")
    write(tmp_path, "scripts/attnlimit/log.py", "def say():\n    pass\n")
    write(tmp_path, "scripts/attnlimit/other.py", "x = 1\n")
    write(tmp_path, "envs/job.yaml", "numpy==1\n")
    return tmp_path


def write(folder: Path, name: str, text: str) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    parsed.cache_clear()  # in a run files do not change


def hashed(folder: Path) -> str:
    return code_hash(folder / "scripts/job.py", folder / "envs/job.yaml")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("scripts/job.py", SCRIPT + "f()\n"),
        ("scripts/attnlimit/room/one.py", ONE.replace("g(1)", "g(2)")),
        ("scripts/attnlimit/two.py", "def g(x):\n    return -x\n"),
        ("envs/job.yaml", "numpy==2\n"),
    ],
)
def test_an_edit_changes_the_hash_and_undoing_it_brings_it_back(project, name, text):
    before, old = hashed(project), (project / name).read_text()
    write(project, name, text)
    assert hashed(project) != before
    write(project, name, old)
    assert hashed(project) == before


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("scripts/attnlimit/room/one.py", ONE.replace("Words", "Other words").replace("More", "Fewer")),
        ("scripts/attnlimit/room/one.py", ONE.replace("# why", "# another reason") + "\n\n# the end\n"),
        ("scripts/attnlimit/log.py", "def say():\n    print(1)\n"),
        ("scripts/attnlimit/other.py", "x = 2\n"),
    ],
)
def test_words_the_log_and_other_modules_change_no_hash(project, name, text):
    before = hashed(project)
    write(project, name, text)
    assert hashed(project) == before


def test_the_hash_does_not_know_where_the_project_lies_nor_when_it_was_written(project, tmp_path_factory):
    before, elsewhere = hashed(project), tmp_path_factory.mktemp("elsewhere") / "moved"
    project.rename(elsewhere)
    os.utime(elsewhere / "scripts/job.py", (0, 0))
    assert hashed(elsewhere) == before


def test_a_module_that_moved_to_another_room_changes_the_hash(project):
    before = hashed(project)
    write(project, "scripts/attnlimit/annex/one.py", ONE)
    write(project, "scripts/job.py", SCRIPT.replace("room", "annex"))
    assert hashed(project) != before


@pytest.mark.parametrize(
    "statement",
    [
        "import attnlimit",
        "import attnlimit.room.one",
        "import numpy, attnlimit.two as two",
        "from attnlimit import room",
        "from attnlimit.room import one",
        "from . import one",
        "from .one import f",
        "from attnlimit.nowhere import f",
    ],
)
def test_an_import_that_cannot_be_followed_is_refused_with_its_line(project, statement):
    write(project, "scripts/attnlimit/two.py", f"x = 1\n{statement}\n")
    with pytest.raises(ValueError, match=r"two\.py, line 2: write `from attnlimit\.room\.module import name`"):
        hashed(project)


def test_the_hash_of_texts_follows_names_and_words_and_no_dates(tmp_path):
    write(tmp_path, "page/a.css", "one")
    write(tmp_path, "report/b.rst", "two")
    folders = tmp_path / "page", tmp_path / "report"
    before = texts_hash(*folders)
    os.utime(tmp_path / "page/a.css")
    assert texts_hash(*folders) == before
    (tmp_path / "report/b.rst").rename(tmp_path / "report/c.rst")
    assert texts_hash(*folders) != before
    (tmp_path / "report/c.rst").rename(tmp_path / "report/b.rst")
    write(tmp_path, "report/b.rst", "three")
    assert texts_hash(*folders) != before
