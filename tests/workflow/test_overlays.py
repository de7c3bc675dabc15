"""A fault of a config is told with the file that holds it."""

from pathlib import Path

import pytest

from attnlimit.workflow.overlays import read_overlay, resolve, sort_keys, with_origin

BASE = "seed: 1\nlayers: [0, 1]\nfit_rates: {bootstrap: 1000, misfit: 3}\n"


@pytest.fixture
def root(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config.yaml").write_text(BASE)
    return tmp_path


def write(root: Path, name: str, text: str) -> Path:
    (root / name).write_text(text)
    return root / name


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("seed: 1\nlayers: [0, 1\nfit_rates: 2\n", "my.yaml, line 3, column 10: broken YAML"),
        ("seed: 1\n\tlayers: 2\n", "my.yaml, line 2, column 1: broken YAML"),
        ("- 1\n", "my.yaml: holds no keys"),
        ("", "my.yaml: holds no keys"),
        ("a: \x07\n", "my.yaml: not YAML"),
    ],
)
def test_a_broken_file_is_told_with_line_and_column(root, text, place):
    with pytest.raises(ValueError) as error:
        read_overlay(write(root, "my.yaml", text))
    assert str(error.value).startswith(place)
    assert "\n" not in str(error.value)


def test_later_files_win_key_by_key(root):
    first = write(root, "a.yaml", "fit_rates: {bootstrap: 5}\n")
    second = write(root, "b.yaml", "fit_rates: {bootstrap: 6}\nlayers: [3]\n")
    config = resolve([root / "config.yaml", first, second])
    assert config == {"seed": 1, "layers": [3], "fit_rates": {"bootstrap": 6, "misfit": 3}}


def test_the_order_of_keys_means_nothing():
    one = {"b": 1, "a": {"d": [3, 1], "c": {"f": 1, "e": 2}}}
    two = {"a": {"c": {"e": 2, "f": 1}, "d": [3, 1]}, "b": 1}
    sort_keys(one)
    sort_keys(two)
    assert repr(one) == repr(two) == "{'a': {'c': {'e': 2, 'f': 1}, 'd': [3, 1]}, 'b': 1}"


@pytest.mark.parametrize(
    ("message", "file"),
    [
        ("config: fit_rates.bootstrap: too few", "b.yaml"),
        ("config: fit_rates.misfit: too small", "config.yaml; set it in b.yaml"),
        ("config: no key 'fit_rate'; did you mean 'fit_rates'?", "a.yaml"),
        ("config: layers.0: no layer", "a.yaml"),
        ("config: fit_rates: Additional properties are not allowed ('boot' was unexpected)", "a.yaml"),
    ],
)
def test_the_file_that_set_the_key_is_named(root, message, file):
    first = write(root, "a.yaml", "layers: [9]\nfit_rate: {}\nfit_rates: {boot: 1, bootstrap: 2}\n")
    second = write(root, "b.yaml", "fit_rates: {bootstrap: 1}\n")
    config = resolve([root / "config.yaml", first, second])
    files = [first, second, root / "config.yaml"]  # as Snakemake lists them
    assert with_origin(message, files, config, root) == f"{message} (in {file})"


def test_a_key_of_the_command_line_is_blamed_on_no_file(root):
    config = resolve([root / "config.yaml"]) | {"seed": "x"}
    assert with_origin("config: seed: no integer", [root / "config.yaml"], config, root) == "config: seed: no integer"
    assert with_origin("fetch_model: no such file", [], config, root) == "fetch_model: no such file"
