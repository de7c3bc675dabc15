"""Models of the atlas: names of runs, what is put into the atlas, and what is said of those that are not there."""

import pytest
import yaml

from attnlimit.cli import run_atlas
from attnlimit.cli.run_atlas import NOT_YET, compared_before, main, run_and_gather
from attnlimit.cli.run_studies import require_comparable
from attnlimit.workflow.folders import MADE_OF, RESOLVED, write_state
from attnlimit.workflow.study_files import MODEL, chosen_studies, known_runs, write_comparison
from support.configs import DEFAULT, ROOT, merged, refusal
from support.messages import told


def run(root, name: str, state: str, chapters: list[str]) -> None:
    folder = root / "runs" / name
    write_state(folder, {"state": state})
    (folder / RESOLVED).write_text(f'{MADE_OF}["my.yaml"]\n{yaml.safe_dump({"chapters": chapters, "layers": [0]})}')


def test_a_model_has_a_run_of_its_own_below_the_sizes_of_all(tmp_path):
    (tmp_path / "mine.yaml").write_text("layers: [0]\n")
    (mine,) = chosen_studies(ROOT, [str(tmp_path / "mine.yaml")], MODEL)
    assert mine == ("atlas-mine", [MODEL.sizes, str(tmp_path / "mine.yaml")])
    assert known_runs(ROOT)["atlas-smollm2-135m"].config == [MODEL.sizes, "configs/atlas/smollm2-135m.yaml"]
    assert "code" in known_runs(ROOT), "studies are there as before"
    with pytest.raises(ValueError, match=r"MODELS: no model 'smollm2' here; did you mean 'smollm2-135m'\?"):
        chosen_studies(ROOT, ["smollm2"], MODEL)


def test_only_finished_runs_of_chapter_entry_are_put_into_the_atlas(tmp_path):
    run(tmp_path, "atlas-a", "finished", ["entry"])
    run(tmp_path, "atlas-b", "failed", ["entry"])
    run(tmp_path, "code", "finished", ["heads", "tails"])
    require_comparable("atlas-a", tmp_path, MODEL)
    for name, parts in {"atlas-b": ("runs/atlas-b", "not finished"), "code": ("no chapter entry",)}.items():
        with pytest.raises(ValueError) as error:
            require_comparable(name, tmp_path, MODEL)
        told(error, *parts)


def test_a_model_of_ones_own_is_added_to_those_that_are_finished(tmp_path, monkeypatch):
    """One of configs/atlas is finished, another never ran, one's own fails in one line: the atlas has the first."""
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        (tmp_path / f"configs/atlas/{name}.yaml").parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / f"configs/atlas/{name}.yaml").write_text("layers: [0]\n")
    (tmp_path / MODEL.sizes).write_text("chapters: [entry]\n")
    (tmp_path / "mine.yaml").write_text("layers: [0\n")
    run(tmp_path, "atlas-a", "finished", ["entry"])
    asked = []
    monkeypatch.setattr(run_atlas, "ROOT", tmp_path)
    monkeypatch.setattr(run_atlas, "not_comparable", lambda names, kind: {"atlas-b": "not finished"})
    monkeypatch.setattr(run_atlas, "comparison", lambda *given, **_: asked.append(given))
    monkeypatch.setattr(run_atlas, "outcome", lambda request: "")
    failed = run_and_gather(chosen_studies(tmp_path, ["mine.yaml"], MODEL), 1)
    assert list(failed) == ["atlas-mine"] and "mine.yaml" in failed["atlas-mine"] and "\n" not in failed["atlas-mine"]
    ((names, missing, *_),) = asked
    assert names == ["atlas-a"] and set(missing) == {"atlas-b", "atlas-mine"} and missing["atlas-b"] == NOT_YET


def test_a_model_of_ones_own_stays_in_the_atlas_as_long_as_its_run_is_there(tmp_path, monkeypatch):
    monkeypatch.setattr(run_atlas, "ROOT", tmp_path)
    assert compared_before() == []
    run(tmp_path, "atlas-mine", "finished", ["entry"])
    write_comparison(tmp_path / "runs/atlas.yaml", ["atlas-mine", "atlas-gone"], {"atlas-b": "failed"}, MODEL)
    assert compared_before() == ["atlas-mine"]


def test_what_is_compared_is_written_without_the_prefix(tmp_path):
    write_comparison(tmp_path / "atlas.yaml", ["atlas-a"], {"atlas-b": "failed"}, MODEL)
    written = yaml.safe_load((tmp_path / "atlas.yaml").read_text())
    assert written["chapters"] == ["atlas"]
    assert written["compare_atlas"] == {"models": {"a": "runs/atlas-a"}, "missing": {"b": "failed"}}


def test_a_folder_that_is_no_finished_run_is_refused(tmp_path):
    said = refusal(merged(DEFAULT, {"chapters": ["atlas"], "compare_atlas": {"models": {"a": str(tmp_path)}}}))
    assert "compare_atlas.models: a: " in said and "is not a finished run" in said
    assert "compare_atlas.models: none" in refusal(merged(DEFAULT, {"chapters": ["atlas"]}))


def test_an_unknown_model_ends_with_one_line():
    with pytest.raises(SystemExit, match="MODELS: no model 'nothing' here; there are all-minilm-l6-v2"):
        main(["nothing"])
