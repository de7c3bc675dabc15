"""Where a run is, whose it is, and how far it got."""

from pathlib import Path

import pytest
import yaml

from attnlimit.sources.corpus.location import located
from attnlimit.workflow.folders import RESOLVED, begin_run, described, end_run, list_runs, made_of, overlays_of
from support.workflow import ROOT

CONFIG = yaml.safe_load((ROOT / "config.yaml").read_text())
TEXT = {"source": "text", "location": "texts"}


@pytest.fixture
def project(tmp_path, monkeypatch) -> Path:
    for name in ("config.yaml", "my.yaml", "other/my.yaml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("seed: 1\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def begun(project: Path, name: str, monkeypatch, *overlays: str, **changes: object) -> Path:
    """A run that has begun in runs/<name>."""
    folder = project / "runs" / name
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    begin_run(CONFIG | changes, project, [project / overlay for overlay in overlays])
    monkeypatch.chdir(project)
    return folder


@pytest.mark.parametrize("location", ["texts", "./texts/", "../elsewhere"])
def test_a_relative_name_counts_from_the_project_and_survives_a_move(tmp_path, monkeypatch, location):
    seen = []
    for place in ("here", "moved/there"):
        run = tmp_path / place / "runs/my"
        run.mkdir(parents=True)
        monkeypatch.chdir(run)
        section = located(TEXT | {"location": location}, tmp_path / place)
        assert Path(section["location"]).resolve() == (tmp_path / place / location).resolve()
        seen.append(section)
    assert seen[0] == seen[1]
    monkeypatch.chdir(tmp_path / "here")
    assert located(TEXT, tmp_path / "here") == TEXT, "in a default run names stay as they are"


@pytest.mark.parametrize(
    "section",
    [
        {"source": "text", "location": "/data/texts"},
        {"source": "dump", "location": "https://example.org/dump.bz2"},
        {"source": "hub", "location": "owner/name"},
        {"source": "embedded", "location": ""},
    ],
)
def test_what_is_not_relative_to_the_project_stays(tmp_path, section):
    assert located(section, tmp_path) == section


def test_a_run_keeps_its_settings_and_the_files_they_are_made_of(project, monkeypatch):
    folder = begun(project, "my", monkeypatch, "my.yaml", seed=7)
    assert yaml.safe_load((folder / RESOLVED).read_text()) == CONFIG | {"seed": 7}
    assert made_of(folder) == ["my.yaml"]
    assert overlays_of(project, Path("runs/my"), []) == [project / "my.yaml"], "RUN alone goes on with the same files"
    assert overlays_of(project, Path("runs/my"), ["my.yaml"]) == [project / "my.yaml"]


def test_no_config_takes_the_folder_of_another(project, monkeypatch):
    begun(project, "my", monkeypatch, "my.yaml")
    with pytest.raises(ValueError, match=r"runs/my: holds a run of my\.yaml, not of other/my\.yaml; .*RUN="):
        overlays_of(project, Path("runs/my"), ["other/my.yaml"])
    assert overlays_of(project, Path("runs/second"), ["other/my.yaml"]) == [project / "other/my.yaml"]


def test_a_folder_in_which_no_run_began_never_takes_the_default_settings(project):
    """As one stopped before its first job: RUN alone would run config.yaml under the name of another."""
    (project / "runs/my/.snakemake").mkdir(parents=True)
    with pytest.raises(ValueError, match="runs/my: no run began here.*CONFIG="):
        overlays_of(project, Path("runs/my"), [])
    assert overlays_of(project, Path("runs/my"), ["my.yaml"]) == [project / "my.yaml"]


def test_a_run_whose_config_is_gone_can_go_on_with_its_own(project, monkeypatch):
    folder = begun(project, "my", monkeypatch, "my.yaml")
    (project / "my.yaml").unlink()
    with pytest.raises(FileNotFoundError, match=r"my\.yaml: .*CONFIG=runs/my/config\.resolved\.yaml has the settings"):
        overlays_of(project, Path("runs/my"), [])
    own = overlays_of(project, Path("runs/my"), [f"runs/my/{RESOLVED}"])
    assert own == [folder / RESOLVED]
    monkeypatch.chdir(folder)
    begin_run(CONFIG, project, own)
    assert made_of(folder) == ["my.yaml"], "going on with them does not forget the files"


def test_the_default_run_writes_no_settings_of_its_own(project):
    begin_run(CONFIG, project, [])
    assert not (project / RESOLVED).exists()
    assert [(run.folder, run.state) for run in list_runs(project)] == [("results", "unfinished")]


def test_runs_are_listed_with_what_tells_them_apart(project, monkeypatch):
    (project / "results").mkdir()
    (project / "results/README.md").write_text("what will be here")
    assert list_runs(project) == [], "a clone has no run yet"
    begun(project, "b", monkeypatch)
    end_run("failed", project / "runs/b")
    begun(project, "a", monkeypatch, fetch_corpus=CONFIG["fetch_corpus"] | {"source": "text", "location": "my/texts/"})
    end_run("finished", project / "runs/a")
    (project / "runs/empty").mkdir()
    runs = list_runs(project)
    assert [(run.folder, run.state, run.text) for run in runs] == [
        ("runs/a", "finished", "texts"),
        ("runs/b", "failed", "Wikipedia excerpt"),
    ]
    assert runs[0].model == "sentence-transformers/all-MiniLM-L6-v2" and runs[0].population == "50000"
    assert all(run.date for run in runs)


def test_a_package_is_called_by_its_title_or_by_what_the_index_calls_it():
    package = CONFIG["fetch_corpus"] | {"source": "package", "location": "tiny==1"}
    assert described(CONFIG | {"fetch_corpus": package})["text"] == "tiny==1"
    assert described(CONFIG | {"fetch_corpus": package | {"title": "Tiny texts"}})["text"] == "Tiny texts"


def test_a_perturbed_text_is_called_so():
    words = CONFIG["fetch_corpus"] | {"perturb": "words"}
    assert described(CONFIG | {"fetch_corpus": words})["text"] == "Wikipedia excerpt, shuffled words"
    older = {key: value for key, value in words.items() if key != "perturb"}  # settings in an older archive
    assert described(CONFIG | {"fetch_corpus": older})["text"] == "Wikipedia excerpt"


def test_a_restored_run_has_no_notes_and_is_listed_by_its_files(project):
    (project / "config.yaml").write_text(yaml.safe_dump(CONFIG))
    (project / "results").mkdir()
    (project / "results/attnlimit.tar.zst").write_bytes(b"")
    (run,) = list_runs(project)
    assert (run.state, run.population) == ("finished", "50000")


def test_a_comparison_is_listed_by_what_it_compares(project, monkeypatch):
    studies = {"studies": {"code": "runs/code", "legal": "runs/legal"}, "missing": {}}
    begun(project, "studies", monkeypatch, "my.yaml", chapters=["studies"], compare_studies=studies)
    assert list_runs(project)[0].text == "comparison: code, legal"
    assert list_runs(project)[0].model == ""
