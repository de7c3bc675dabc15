"""What is computed from the questions: what a chapter leaves behind, and what a run says of those it leaves out."""

import pytest

from attnlimit.base.about import About
from attnlimit.workflow import registry
from attnlimit.workflow.registry import (
    abouts,
    all_chapters,
    chapters_of_fits,
    exclusive_chapters,
    figures,
    fits,
    left_out,
    questions,
    store_files,
)
from support.configs import DEFAULT

ALL = DEFAULT["chapters"]
MADE_UP = {
    "second": About("b", "B?", "one", place=1, stores={"b": {}, "rates/b": {}}, parts={"b/parts/{layer}": {}}),
    "first": About(
        "a",
        "A?",
        "one",
        uses=("text",),
        stores={"a/layer_{layer}": {}, "rates/a": {}},
        figures={"two": "2", "one": "1"},
    ),
    "other": About("c", "C?", "two", uses=("text",), stores={"c/{study}": {}, "rates/c": {}}),
    "alone": About("d", "D?", "three", exclusive=True, stores={"rates/d": {}}),
}


@pytest.fixture
def made_up(monkeypatch):
    ordered = dict(sorted(MADE_UP.items(), key=lambda item: (item[1].chapter, item[1].place)))
    monkeypatch.setattr(registry, "questions", lambda: ordered)
    monkeypatch.setattr(registry, "all_chapters", lambda: ("two", "one", "three"))


def test_a_store_is_named_once_for_each_layer_or_study_and_fits_come_last(made_up):
    paths = ["text", "a/layer_0", "a/layer_5", "b", "c/x", "c/y", "rates/b", "rates/a", "rates/c"]
    asked = store_files(["one", "two"], [0, 5], {"x": ".", "y": "."})
    assert sorted(asked) == sorted(f"results/{path}.zarr.zip" for path in paths)
    assert [path.startswith("results/rates/") for path in asked] == [False] * 6 + [True] * 3
    assert fits(["two"]) == ["c"] and set(fits(["one"])) == {"a", "b"}


def test_figures_follow_the_chapters_of_the_run_their_questions_and_the_question(made_up):
    assert list(figures(["two", "one"])) == ["two", "one"]


def test_what_is_left_out_is_named_with_the_chapter_that_would_add_it(made_up):
    assert left_out(["two"]) == "left out: one (a, b); to add one, name it in `chapters` of the config"
    assert chapters_of_fits(["two"]) == {"a": "one", "b": "one"} and chapters_of_fits(["one"]) == {"c": "two"}
    assert left_out(["one", "two"]) == left_out(["three"]) == "" and chapters_of_fits(["three"]) == {}


def test_config_yaml_asks_every_question_that_a_run_can_ask_beside_others():
    assert {*ALL} | exclusive_chapters() == {about.chapter for about in questions().values()}
    assert all_chapters()[: len(ALL)] == tuple(ALL)


def test_a_config_with_fewer_chapters_does_not_change_their_order(tmp_path, monkeypatch):
    """As that of an archive, where nothing is to be run again."""
    whole = all_chapters()
    (tmp_path / "config.yaml").write_text("chapters: [heads]\n")
    monkeypatch.setattr(registry, "CONFIG", tmp_path / "config.yaml")
    all_chapters.cache_clear()
    try:
        assert all_chapters() == whole
    finally:
        all_chapters.cache_clear()


def test_no_two_questions_declare_the_same():
    for field in ("sections", "stores", "parts", "errors", "figures", "tables"):
        names = [name for about in abouts().values() for name in getattr(about, field)]
        assert len(names) == len(set(names)), field
    thresholds = [key for about in abouts().values() if about.thresholds for key in about.thresholds.model_fields]
    assert len(thresholds) == len(set(thresholds))
    places = [(about.chapter, about.place) for about in questions().values()]
    assert len(places) == len(set(places))


def test_what_a_question_uses_is_declared():
    declared = {name for about in abouts().values() for name in (*about.stores, *about.parts)}
    for name, about in questions().items():
        assert {*about.uses, *about.errors.values(), *(f"rates/{source}" for source in about.errors)} <= declared, name
