"""A job's hash follows the definitions that its script can reach: no comment, docstring, date or other definition."""

import ast
import gc
import os
import shutil
from pathlib import Path

import pytest

from attnlimit.base.code_hash import code_hash, parsed, statements, texts_hash
from support.configs import ROOT

SCRIPT = "from attnlimit.room.one import Shape, f\n\nf(Shape())\n"
ONE = '''"""Words."""
import numpy as np
from functools import cache

from attnlimit.two import LIMIT as MOST, unused_too, wrapped
from attnlimit.base.log import say

SIDE = 3
KINDS = {"a"}
KINDS |= {"b"}
RENAMED, other = (walrus := 4), 5
UNUSED = 6


def f(shape, side=SIDE, kind: "Kind" = None):
    """More words."""
    from attnlimit.lazy import late

    return wrapped(shape, np.pi, KINDS, MOST) + late()  # why


def unused():
    return UNUSED


class Kind:
    pass


class Base:
    sides = 1


class Shape(Base):
    """A shape."""

    def area(self) -> "int":
        return helper(self, walrus)

    def edge(self):
        return 2


@cache
def helper(shape, times):
    return times
'''
TWO = """from attnlimit.annex.marks import mark
from attnlimit.base.about import Words
from attnlimit.three import LIMIT, deep, unused_too

STORES: dict[str, Words] = {"errors": {"beta": "the exponent"}}


@mark
def wrapped(*values):
    return deep(values), STORES


@mark
def kept():
    return 7


def unheard():
    return 8
"""
LIBRARY = {
    "room/one": ONE,
    "two": TWO,
    "three": "LIMIT = 9\n\n\ndef deep(values):\n    return values\n\n\ndef unused_too():\n    return 10\n",
    "lazy": "def late():\n    return 11\n",
    "annex/marks": "import os\nfrom attnlimit.four import x\n\nos.environ['A'] = '12'\nMARKED = []\n\n\n"
    "def mark(function):\n    MARKED.append(function)\n    return function\n",
    "annex/__init__": "",
    "four": "x = 13\nprint(y := 14)\n\n\ndef at_start():\n    return 15\n\n\nif x:\n    at_start()\n",
    "named": "from attnlimit.three import unused_too\n\nCLAIMS = [unused_too]\n",
    "base/log": "def say():\n    pass\n",
    "base/about": "Words = dict[str, str]\n",
    "unrelated": "x = 1\n",
}


@pytest.fixture
def project(tmp_path) -> Path:
    write(tmp_path, "scripts/job.py", SCRIPT)
    for name, text in LIBRARY.items():
        write(tmp_path, f"scripts/attnlimit/{name}.py", text)
    write(tmp_path, "envs/job.yaml", "numpy==1\n")
    return tmp_path


def write(folder: Path, name: str, text: str) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    statements.cache_clear()  # in a run files do not change


def edit(folder: Path, name: str, old: str, new: str) -> None:
    text = (folder / name).read_text()
    assert old in text
    write(folder, name, text.replace(old, new))


def hashed(folder: Path, *also: str) -> str:
    return code_hash(folder / "scripts/job.py", folder / "envs/job.yaml", *also)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        pytest.param("job", "f(Shape())", "f(Shape(), 1)", id="script"),
        pytest.param("attnlimit/room/one", "np.pi", "np.e", id="function"),
        pytest.param("attnlimit/room/one", "import numpy as np", "import cupy as np", id="package"),
        pytest.param("attnlimit/room/one", "SIDE = 3", "SIDE = 4", id="default value"),
        pytest.param("attnlimit/room/one", '{"a"}', '{"c"}', id="constant"),
        pytest.param("attnlimit/room/one", '{"b"}', '{"c"}', id="augmented constant"),
        pytest.param("attnlimit/room/one", "KINDS |=", "KINDS -=", id="augmentation"),
        pytest.param("attnlimit/room/one", "(walrus := 4)", "(walrus := 5)", id="walrus"),
        pytest.param("attnlimit/room/one", "class Kind:\n    pass", "class Kind:\n    x = 1", id="quoted annotation"),
        pytest.param("attnlimit/room/one", "return 2", "return 3", id="method"),
        pytest.param("attnlimit/room/one", "sides = 1", "sides = 2", id="class base"),
        pytest.param("attnlimit/room/one", "return times", "return -times", id="function behind a method"),
        pytest.param("attnlimit/room/one", "@cache\n", "", id="decorator"),
        pytest.param("attnlimit/two", "import LIMIT, deep", "import unused_too as LIMIT, deep", id="re-export"),
        pytest.param("attnlimit/three", "LIMIT = 9", "LIMIT = 8", id="re-exported constant"),
        pytest.param("attnlimit/three", "return values", "return -values", id="through two modules"),
        pytest.param("attnlimit/lazy", "return 11", "return 12", id="imported in a function"),
        pytest.param("attnlimit/annex/marks", "return function", "return None", id="body of a decorator"),
        pytest.param("attnlimit/two", "return 7", "return 8", id="registered by a decorator"),
        pytest.param("attnlimit/annex/marks", "'12'", "'13'", id="side effect"),
        pytest.param("attnlimit/four", "y := 14", "y := 15", id="side effect of a module of which nothing is used"),
        pytest.param("attnlimit/four", "x = 13", "x = 14", id="constant that a side effect mentions"),
        pytest.param("attnlimit/four", "return 15", "return 16", id="function that a side effect calls"),
    ],
)
def test_an_edit_of_what_a_script_reaches_changes_the_hash_and_undoing_it_brings_it_back(project, name, old, new):
    before, file = hashed(project), f"scripts/{name}.py"
    text = (project / file).read_text()
    edit(project, file, old, new)
    assert hashed(project) != before
    write(project, file, text)
    assert hashed(project) == before


def test_an_edit_of_the_environment_and_a_package_that_does_something_change_the_hash(project):
    before = hashed(project)
    edit(project, "envs/job.yaml", "1", "2")
    edited = hashed(project)
    write(project, "scripts/attnlimit/annex/__init__.py", "print()\n")
    assert len({before, edited, hashed(project)}) == 3


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        pytest.param("room/one", "# why", "# another reason", id="comment"),
        pytest.param("room/one", "np.pi, KINDS", "np.pi,\n        KINDS", id="layout"),
        pytest.param("room/one", '"""Words."""', '"""Other words."""', id="docstring of a module"),
        pytest.param("room/one", '"""More words."""', '"""Fewer words."""', id="docstring of a function"),
        pytest.param("room/one", '    """A shape."""\n', "", id="docstring of a class, dropped"),
        pytest.param("room/one", "    return UNUSED", "    return -UNUSED", id="unused function"),
        pytest.param("room/one", "UNUSED = 6", "UNUSED = 7", id="unused constant"),
        pytest.param("room/one", "def unused", "def new():\n    pass\n\n\ndef unused", id="new function"),
        pytest.param("room/one", "from attnlimit.base.log import say\n", "", id="unused import"),
        pytest.param("two", "return 8", "return 9", id="unused function of another module"),
        pytest.param("three", "return 10", "return 11", id="unused function that is imported"),
        pytest.param("two", "the exponent", "an exponent", id="words of variables"),
        pytest.param("base/log", "pass", "print(1)", id="what a job says"),
        pytest.param("unrelated", "x = 1", "x = 2", id="module that is not imported"),
    ],
)
def test_an_edit_of_anything_else_does_not(project, name, old, new):
    before = hashed(project)
    edit(project, f"scripts/attnlimit/{name}.py", old, new)
    assert hashed(project) == before


def test_a_module_that_a_script_loads_by_name_is_declared_and_counts_as_a_whole(project):
    assert hashed(project, "attnlimit.named") != hashed(project)
    for file, old, new in (("three", "return 10", "return 11"), ("named", "CLAIMS = [", "NONE = 1\nCLAIMS = [")):
        before = hashed(project, "attnlimit.named")
        edit(project, f"scripts/attnlimit/{file}.py", old, new)
        assert hashed(project, "attnlimit.named") != before
    with pytest.raises(ValueError, match=r"job\.py: there is no module attnlimit\.nowhere"):
        hashed(project, "attnlimit.nowhere")


def test_the_hash_does_not_know_where_the_project_lies_nor_when_it_was_written(project, tmp_path_factory):
    before, elsewhere = hashed(project), tmp_path_factory.mktemp("elsewhere") / "moved"
    project.rename(elsewhere)
    os.utime(elsewhere / "scripts/job.py", (0, 0))
    assert hashed(elsewhere) == before


@pytest.mark.parametrize(
    "statement",
    [
        "import attnlimit",
        "import attnlimit.room.one",
        "import numpy, attnlimit.two as two",
        "from attnlimit import room",
        "from attnlimit.room import one",
        "from attnlimit.room.one import *",
        "from numpy import *",
        "from . import one",
        "from .one import f",
        "from attnlimit.nowhere import f",
        "load = __import__('attnlimit.two')",
        "from importlib import import_module as load",
        "load = importlib.import_module('attnlimit.two')",
        "load = globals()['f']",
        "load = exec('import attnlimit.two')",
        "load = deep.__doc__",
        "load = __doc__",
    ],
)
@pytest.mark.parametrize("inside", [False, True])
def test_what_cannot_be_followed_is_refused_with_its_line(project, statement, inside):
    text = f"def deep(values):\n    {statement}\n" if inside else f"load = 1\n{statement}\ndeep = load\n"
    write(project, "scripts/attnlimit/three.py", f"{text}LIMIT = unused_too = 1\n")
    with pytest.raises(ValueError, match=r"three\.py, line 2: .*write `from attnlimit\.room\.module import name`"):
        hashed(project)


def test_a_name_that_a_module_does_not_define_is_refused_with_its_line(project):
    edit(project, "scripts/attnlimit/three.py", "def deep", "def deeper")
    with pytest.raises(ValueError, match=r"two\.py, line 3: attnlimit\.three does not define deep"):
        hashed(project)


def test_a_class_that_registers_its_subclasses_is_refused(project):
    edit(project, "scripts/attnlimit/room/one.py", "sides = 1", "def __init_subclass__(cls): ...")
    with pytest.raises(ValueError, match=r"one\.py, line \d+: .*__init_subclass__"):
        hashed(project)


def test_what_cannot_be_followed_may_be_where_no_job_comes_and_in_the_registry(project):
    before = hashed(project)
    edit(project, "scripts/attnlimit/three.py", "return 10", "return __import__('attnlimit.two')")
    assert hashed(project) == before
    write(project, "scripts/attnlimit/workflow/registry.py", "import importlib as i\nall = i.import_module('x')\n")
    edit(project, "scripts/job.py", "f(Shape", "from attnlimit.workflow.registry import all\nf(Shape")
    assert hashed(project) != before


def test_a_parse_survives_what_the_garbage_collector_destroys():
    class Parses:
        """As a failed task of asyncio does, whose traceback is logged when it is destroyed."""

        def __init__(self):
            self.cycle = self

        def __del__(self):
            ast.parse("x + 1")

    before = gc.get_threshold()
    gc.set_threshold(20)
    try:
        for _ in range(40):
            Parses()
        tree = parsed("\n".join(f"def f{number}(a):\n    return a + {number}" for number in range(2000)))
    finally:
        gc.set_threshold(*before)
    assert len(tree.body) == 2000 and gc.isenabled()


def test_a_curve_that_another_figure_draws_does_not_rerun_the_clouds(tmp_path):
    shutil.copytree(ROOT / "scripts", tmp_path / "scripts", ignore=shutil.ignore_patterns("__pycache__"))

    def hashes() -> list[str]:
        statements.cache_clear()
        scripts = [tmp_path / f"scripts/plot_{name}.py" for name in ("clouds", "heads")]
        return [code_hash(script, ROOT / f"envs/{script.stem}.yaml") for script in scripts]

    before = hashes()
    edit(tmp_path, "scripts/attnlimit/drawing/panels.py", "lw=1.2", "lw=1.3")
    clouds, rates = hashes()
    assert clouds == before[0] and rates != before[1]


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


def test_what_an_editor_keeps_beside_an_open_text_does_not_matter(tmp_path):
    (tmp_path / "answer.rst").write_text("Words.")
    before = texts_hash(tmp_path)
    (tmp_path / ".answer.rst.swp").write_bytes(b"b0VIM 9.0\xff\xfe")
    assert texts_hash(tmp_path) == before
