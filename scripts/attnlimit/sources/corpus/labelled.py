"""Texts with a label each, of a .jsonl or .parquet file of the user's own."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from attnlimit.sources.corpus.own_texts import jsonl_rows, parquet_rows, require_column, require_text

TEXT, LABEL = (f"measure_downstream.{name}" for name in ("text_column", "label_column"))  # keys of the config
Label = int | str


def read_labelled(path: str | Path, text_column: str, label_column: str) -> Iterator[tuple[str, Label]]:
    """Text and label of each row; a label is a whole number or a name."""
    columns = {text_column: TEXT, label_column: LABEL}
    if Path(path).suffix == ".jsonl":
        rows, word = jsonl_rows(path, text_column), "line"
    else:
        rows, word = enumerate(parquet_rows(path, columns), 1), "row"
    for number, row in rows:
        place = f"{path}, {word} {number}"
        for column, key in columns.items():
            require_column(column, row, place, key)
        text, label = row[text_column], row[label_column]
        require_text(text, text_column, place, TEXT)
        if not isinstance(label, int | str) or isinstance(label, bool) or label == "":
            raise ValueError(f"{place}: {label_column} is {label!r:.40}, no whole number and no name; check {LABEL}")
        yield text, label


class Labelled(NamedTuple):
    """Texts, the number of the class of each, and the names of the classes."""

    texts: list[str]
    labels: list[int]
    classes: list[str]


def read_task(path: str | Path, text_column: str, label_column: str, trained: list[str] | None) -> Labelled:
    """All of a file; trained: the classes that a classifier knows, in the order of its scores."""
    rows = list(read_labelled(path, text_column, label_column))
    own = classes_of([label for _, label in rows], path)
    classes = trained or own
    return Labelled([text for text, _ in rows], [number_in(classes, label, path) for _, label in rows], classes)


def classes_of(labels: Sequence[Label], path: str | Path) -> list[str]:
    """The names of the classes, in order; a task of one class, or with numbers and names mixed, is refused."""
    kinds = {type(label) for label in labels}
    if len(kinds) > 1:
        raise ValueError(f"{path}: some labels are numbers, some names; write all in one way, or check {LABEL}")
    found = sorted(set(labels))
    if len(found) < 2:
        only = f", {found[0]!r:.40}" if found else ""
        raise ValueError(f"{path}: {len(found)} class{only}; a task needs two or more: check {LABEL}")
    return [str(label) for label in found]


def number_in(classes: Sequence[str], label: Label, path: str | Path) -> int:
    """The number of a text's label among the classes that a classifier was trained for: by name, or as it counts."""
    if str(label) in classes:
        return classes.index(str(label))
    if isinstance(label, int) and 0 <= label < len(classes):
        return label
    raise ValueError(
        f"{path}: label {label!r:.40} is none of the {len(classes)} classes of the model's config.json "
        f"({', '.join(classes)!s:.100}); take the texts it was trained for, or a classifier for these"
    )
