"""Finds what declares itself: the questions, and the foundations that they stand on. The only code that knows them all.

Standard library and pydantic only: the host that plans the jobs may have nothing else.
"""

from functools import cache
from importlib import import_module
from pathlib import Path

from attnlimit.base.about import About

FOUNDATIONS = ("workflow", "sources", "sampling")
FOLDER = Path(__file__).parents[1]


@cache
def questions() -> dict[str, About]:
    """By name of the folder; those of a chapter in their order."""
    names = sorted(path.parent.name for path in (FOLDER / "questions").glob("*/about.py"))
    found = {name: import_module(f"attnlimit.questions.{name}.about").ABOUT for name in names}
    return dict(sorted(found.items(), key=lambda item: (item[1].chapter, item[1].place)))


@cache
def foundations() -> dict[str, About]:
    """What every run stands on: keys of the run itself; text and model; the population and its limit."""
    return {name: import_module(f"attnlimit.{name}.about").ABOUT for name in FOUNDATIONS}


def abouts() -> dict[str, About]:
    """All of them."""
    return foundations() | questions()
