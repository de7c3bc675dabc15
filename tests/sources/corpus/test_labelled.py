"""Texts with labels: read from both kinds of files, and refused by name."""

import json

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from attnlimit.sources.corpus.labelled import read_task

ROWS = [{"text": "one", "label": "b"}, {"text": "two", "label": "a"}, {"text": "three", "label": "b"}]


def write(folder, rows):
    path = folder / "texts.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def test_rows_of_both_kinds_of_files_are_the_same(tmp_path):
    parquet.write_table(pa.Table.from_pylist(ROWS), tmp_path / "texts.parquet")
    for path in (write(tmp_path, ROWS), tmp_path / "texts.parquet"):
        found = read_task(path, "text", "label", None)
        assert found == (["one", "two", "three"], [1, 0, 1], ["a", "b"])


def test_numbers_are_ordered_as_numbers(tmp_path):
    rows = [{"body": "x", "class": number} for number in (10, 9, 10)]
    found = read_task(write(tmp_path, rows), "body", "class", None)
    assert found.labels == [1, 0, 1] and found.classes == ["9", "10"]


def test_a_classifier_knows_labels_by_name_or_as_it_counts(tmp_path):
    trained = ["z", "b", "a"]
    assert read_task(write(tmp_path, ROWS), "text", "label", trained).labels == [1, 2, 1]
    numbers = [{"text": "x", "label": number} for number in (2, 0)]
    assert read_task(write(tmp_path, numbers), "text", "label", trained).labels == [2, 0]


WRONG = [
    ([*ROWS, {"text": "four"}], "line 4: no column label; it has text: set measure_downstream.label_column"),
    ([*ROWS, {"label": "a"}], "line 4: no column text; it has label: set measure_downstream.text_column"),
    ([*ROWS, {"text": "four", "label": None}], "line 4: label is None, no whole number and no name"),
    ([*ROWS, {"text": "four", "label": 0.5}], "line 4: label is 0.5"),
    ([*ROWS, {"text": 4, "label": "a"}], "line 4: text is 4, no text; check measure_downstream.text_column"),
    ([*ROWS, {"text": "four", "label": 3}], "some labels are numbers, some names"),
    (ROWS[:1], "1 class, 'b'; a task needs two or more"),
    ([], "0 class; a task needs two or more"),
]


@pytest.mark.parametrize(("rows", "told"), WRONG)
def test_a_wrong_file_is_told_in_one_line(rows, told, tmp_path):
    with pytest.raises((ValueError, LookupError)) as error:
        read_task(write(tmp_path, rows), "text", "label", None)
    assert told in str(error.value) and "texts.jsonl" in str(error.value) and "\n" not in str(error.value)


def test_a_label_that_the_classifier_was_not_trained_for_is_refused(tmp_path):
    with pytest.raises(ValueError, match="label 'b' is none of the 2 classes of the model's config.json"):
        read_task(write(tmp_path, ROWS), "text", "label", ["a", "c"])
