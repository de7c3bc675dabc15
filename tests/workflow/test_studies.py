"""The runs that a comparison reads: finished ones, with all that is needed; anything else is refused in one line."""

import json
from pathlib import Path

import pytest
import yaml

from attnlimit.workflow.config import check, missing_sources
from attnlimit.workflow.studies import study_folder, study_inputs
from support.configs import changed, refusal


def make_run(folder: Path, state: str | None = "finished", chapters=("heads", "tails"), layers=(0, 3)) -> Path:
    """A run's folder with settings and files without content."""
    (folder / "results/logs").mkdir(parents=True)
    settings = {"chapters": list(chapters), "layers": list(layers)}
    (folder / "config.resolved.yaml").write_text(yaml.safe_dump(settings))
    if state:
        (folder / "results/logs/run.json").write_text(json.dumps({"state": state}))
    for name in ("rates/heads", *(f"{part}/layer_{layer}" for part in ("tails", "errors") for layer in (*layers, 9))):
        path = folder / f"results/{name}.zarr.zip"
        path.parent.mkdir(exist_ok=True)
        path.touch()
    return folder


def comparison(**studies) -> dict:
    return changed({"chapters": ["studies"], "compare_studies.studies": {k: str(v) for k, v in studies.items()}})


def test_the_stores_of_the_layers_in_its_settings_are_read(tmp_path):
    """Not those of layer 9, which an earlier run left there."""
    folder = make_run(tmp_path / "code")
    files = study_inputs(str(folder), Path())
    assert files["rates"] == [f"{folder}/results/rates/heads.zarr.zip"]
    assert files["errors"] == [f"{folder}/results/errors/layer_{layer}.zarr.zip" for layer in (0, 3)]
    assert files["interventions"] == [], "it has no such chapter"
    check(comparison(code=folder))


def test_a_relative_folder_counts_from_the_project(tmp_path, monkeypatch):
    make_run(tmp_path / "runs/code")
    (tmp_path / "runs/studies").mkdir()
    monkeypatch.chdir(tmp_path / "runs/studies")
    assert study_folder("runs/code", tmp_path) == Path("../code")
    assert study_inputs("runs/code", tmp_path)["rates"] == ["../code/results/rates/heads.zarr.zip"]


def test_a_restored_run_counts_as_finished(tmp_path):
    folder = make_run(tmp_path / "restored", state=None)
    (folder / "provenance").mkdir()
    (folder / "config.resolved.yaml").rename(folder / "provenance/config.yaml")
    assert len(study_inputs(str(folder), Path())["tails"]) == 2


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"state": "failed"}, "is not a finished run; name one"),
        ({"state": "unfinished"}, "is not a finished run"),
        ({"state": None}, "is not a finished run"),
        ({"chapters": ["heads"]}, "has no chapter tails; add it"),
        ({"chapters": ["theory"]}, "has no chapter heads; add it"),
    ],
)
def test_a_run_that_cannot_be_compared_is_refused(tmp_path, change, why):
    message = refusal(comparison(code=make_run(tmp_path / "code", **change)))
    assert message.startswith("config: compare_studies.studies: code: ") and why in message


def test_what_is_missing_is_named(tmp_path):
    folder = make_run(tmp_path / "code")
    (folder / "results/tails/layer_3.zarr.zip").unlink()
    assert "has no results/tails/layer_3.zarr.zip; run it again" in refusal(comparison(code=folder))
    assert "is not a finished run" in refusal(comparison(code=tmp_path / "nowhere"))
    assert "none; name finished runs" in refusal(comparison())


def test_a_comparison_stands_alone(tmp_path):
    config = comparison(code=make_run(tmp_path / "code")) | {"chapters": ["heads", "studies"]}
    assert "chapters: studies cannot be combined" in refusal(config)


def test_a_restored_comparison_does_not_ask_for_its_studies(tmp_path):
    config = comparison(code=tmp_path / "gone")
    archived = tmp_path / "config.yaml"
    archived.write_text(yaml.safe_dump(config))
    away = missing_sources(config, archived)
    assert away == {"compare_studies"}
    check(config, away)
    assert study_inputs(str(tmp_path / "gone"), Path(), absent=True)["errors"] == []


def test_broken_settings_are_refused_with_their_place(tmp_path):
    folder = make_run(tmp_path / "code")
    (folder / "config.resolved.yaml").write_text("layers: [0\nseed: 1\n")
    assert "config.resolved.yaml, line 2, column 5: broken YAML" in refusal(comparison(code=folder))
