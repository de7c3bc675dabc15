"""Finds what declares itself: the questions, and the foundations that they stand on. The only code that knows them all.

Standard library, PyYAML and pydantic only: the host that plans the jobs may have nothing else.
"""

from collections.abc import Collection, Iterable, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path

import yaml

from attnlimit.base.about import About, Words

FOUNDATIONS = ("workflow", "sources", "sampling")
FOLDER = Path(__file__).parents[1]
CONFIG = FOLDER.parents[1] / "config.yaml"
# The order of chapters where config.yaml does not name them all, as the one of an archive, which has those of its run.
STORY = ("heads", "tails", "interventions", "contexts", "whole_model", "theory")
RATES = "rates/"  # fits: what claims are tested on


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


def exclusive_chapters() -> set[str]:
    """Chapters that a run has alone."""
    return {about.chapter for about in questions().values() if about.exclusive}


@cache
def all_chapters() -> tuple[str, ...]:
    """In the order of config.yaml and of the story, the exclusive ones last."""
    first = yaml.safe_load(CONFIG.read_text(encoding="utf-8"))["chapters"]
    others = sorted({about.chapter for about in questions().values()})  # the order of a set changes from run to run
    others.sort(key=lambda name: name in exclusive_chapters())
    story = [name for name in STORY if name in others]
    return tuple(dict.fromkeys([*first, *story, *others]))


def questions_of(chapters: Iterable[str]) -> list[About]:
    """What these chapters ask, in their order."""
    return [about for name in chapters for about in questions().values() if about.chapter == name]


def causal(chapters: Iterable[str]) -> bool | None:
    """Whether these chapters need a language model, else an encoder; None: they take either."""
    kinds = {about.causal for about in questions_of(chapters)}
    return None if None in kinds else True in kinds


def chapter_titles() -> dict[str, str]:
    """What each chapter is about, to follow its name."""
    return {name: ", ".join(about.title for about in questions_of([name])) for name in all_chapters()}


def figures(chapters: Iterable[str]) -> dict[str, str]:
    """Titles of the figures of these chapters, by name, in the order of the story."""
    return {name: title for about in questions_of(chapters) for name, title in about.figures.items()}


def tables(chapters: Iterable[str]) -> dict[str, str]:
    """What the tables of these chapters list, by name."""
    return {name: words for about in questions_of(chapters) for name, words in about.tables.items()}


def sources(chapters: Iterable[str]) -> dict[str, str]:
    """Stores of errors that fit_rates fits, by source."""
    return {name: store for about in questions_of(chapters) for name, store in about.errors.items()}


def stores(chapters: Iterable[str]) -> list[str]:
    """What a run of these chapters leaves for its user: paths in results/ without ending, each once, fits last."""
    found = [name for about in questions_of(chapters) for name in (*about.uses, *about.stores)]
    return sorted(dict.fromkeys(found), key=lambda name: name.startswith(RATES))


def fits(chapters: Iterable[str]) -> list[str]:
    """Names of the fits of these chapters, in results/rates/."""
    return [name.removeprefix(RATES) for name in stores(chapters) if name.startswith(RATES)]


def store_files(chapters: Iterable[str], layers: Sequence[int], studies: Collection[str] = ()) -> list[str]:
    """Paths of the stores of these chapters, with one a layer or one a study where a name says so."""
    names = stores(chapters)
    each = [per_study for name in names for per_study in expand(name, "{study}", studies)]
    return [f"results/{path}.zarr.zip" for name in each for path in expand(name, "{layer}", layers)]


def expand(name: str, placeholder: str, values: Iterable[object]) -> list[str]:
    """The name for each value; as it is without the placeholder."""
    return [name.replace(placeholder, str(value)) for value in values] if placeholder in name else [name]


def other_chapters(chapters: Collection[str]) -> list[str]:
    """Chapters that could be added to these."""
    alone = exclusive_chapters()
    return [name for name in all_chapters() if name not in chapters and name not in alone and not alone & {*chapters}]


def chapters_of_fits(chapters: Collection[str]) -> dict[str, str]:
    """Of each fit that a run of these chapters leaves out: the chapter that would add it."""
    return {fit: name for name in other_chapters(chapters) for fit in fits([name])}


def questions_with_claims(chapters: Collection[str]) -> list[str]:
    """Names of those that declare claims, of these chapters and of those that could be added to them."""
    asked = {*chapters, *other_chapters(chapters)}
    names = [name for chapter in all_chapters() for name, about in questions().items() if about.chapter == chapter]
    declare = [name for name in names if (FOLDER / "questions" / name / "claims.py").is_file()]
    return [name for name in declare if questions()[name].chapter in asked]


def page_sections(chapters: Collection[str]) -> list[dict]:
    """A section of the page for each chapter of a run, and for each that could be added to it.

    Of each question: its name, its sentence, and titles of its figures by name;  missing: left out of the run.
    """
    listed = [name for name in all_chapters() if name in {*chapters, *other_chapters(chapters)}]
    return [
        {
            "id": name,
            "title": chapter_titles()[name],
            "missing": name not in chapters,
            "questions": [
                {"name": question, "text": about.question, "figures": dict(about.figures)}
                for question, about in questions().items()
                if about.chapter == name
            ],
        }
        for name in listed
    ]


def left_out(chapters: Collection[str]) -> str:
    """One line on the chapters that a run leaves out, and how to add them; "" if it has all."""
    named = [f"{name} ({chapter_titles()[name]})" for name in other_chapters(chapters)]
    return f"left out: {', '.join(named)}; to add one, name it in `chapters` of the config" if named else ""


def declared() -> dict[str, Words]:
    """Words of all stores, those between jobs too: by path below results/ without ending, with {layer}, {part}, …"""
    return {name: words for about in abouts().values() for name, words in {**about.stores, **about.parts}.items()}
