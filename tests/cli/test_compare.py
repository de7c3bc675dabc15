"""Archives become runs, to be compared with others."""

import shutil
from pathlib import Path

import pytest
import yaml

from attnlimit.archive.bundle import write_archive
from attnlimit.cli.compare import main, restored
from attnlimit.workflow.folders import RESOLVED, made_of, summary
from support.configs import DEFAULT
from support.tiny_run import RATES, RULES, make_run


@pytest.fixture
def archived(tmp_path, monkeypatch):
    """Archives a run of these settings under a name; the project is then the current folder."""
    run = tmp_path / "run"
    run.mkdir()
    make_run(run)

    def write(name: str, **changes: object) -> Path:
        monkeypatch.chdir(run)
        path = tmp_path / name
        write_archive(path, [RATES], DEFAULT | changes, RULES, "0" * 40, True, Path(), "9.27.1")
        (tmp_path / "project").mkdir(exist_ok=True)
        monkeypatch.chdir(tmp_path / "project")
        return path

    return write


def test_an_archive_becomes_a_finished_run_with_its_own_settings(archived):
    path = archived("theirs.tar.zst", seed=7)
    assert restored([path]) == ["theirs"]
    folder = Path("runs/theirs")
    assert (folder / RATES).read_text() == "beta\n0.3\n"
    assert made_of(folder) == [str(folder / RESOLVED)], "it goes on with them, never with those of config.yaml"
    assert yaml.safe_load((folder / RESOLVED).read_text())["seed"] == 7
    assert summary(Path().resolve(), folder.resolve())[:2] == ("runs/theirs", "finished")
    assert restored([path]) == ["theirs"], "a second time it is there already"
    assert [each.name for each in Path("runs").iterdir()] == ["theirs"], "nothing else is left"


def test_the_name_is_that_of_the_file_or_else_of_the_run(archived):
    assert restored([archived("attnlimit.tar.zst", run="code")]) == ["code"]
    with pytest.raises(ValueError, match="'default' is taken; rename the file"):
        restored([archived("attnlimit.tar.zst", run="default")])


def test_two_runs_of_one_name_are_refused(archived, tmp_path):
    first = archived("code.tar.zst", seed=1)
    assert restored([first]) == ["code"]
    (tmp_path / "other").mkdir()
    other = archived("other/code.tar.zst", seed=2)
    with pytest.raises(FileExistsError, match="runs/code holds another run; rename the file"):
        restored([other])
    same = shutil.copy(first, tmp_path / "other/code.tar.zst")
    with pytest.raises(ValueError, match="a run 'code', as in .*; rename one of the files"):
        restored([first, Path(same)])


def test_an_archive_that_cannot_be_compared_leaves_nothing(archived):
    broken, theory = archived("broken.tar.zst"), archived("theory.tar.zst", chapters=["theory"])
    broken.write_bytes(broken.read_bytes()[:-9])
    with pytest.raises(ValueError, match="truncated"):
        restored([broken])
    with pytest.raises(ValueError, match="its run has no chapter heads"):
        restored([theory])
    assert not list(Path("runs").iterdir())


@pytest.mark.parametrize("name", ["atlas", "downloads", "default"])
def test_a_comparison_takes_no_folder_that_has_another_use(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit, match=f"RUN: '{name}' is taken"):
        main(["--runs", "code", "legal", "--name", name])
    assert list(tmp_path.iterdir()) == []
