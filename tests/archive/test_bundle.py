"""An archive holds a run and what made it, says so truly, and gives it back."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from attnlimit.archive.bag import files_below, pack
from attnlimit.archive.bundle import restore, verified, write_archive
from attnlimit.archive.commands import main
from attnlimit.archive.crate import METADATA
from attnlimit.workflow.folders import ARCHIVE
from attnlimit.workflow.snakemake_records import read_record, record_path
from attnlimit.workflow.workflow_files import commit
from support.bags import entries, rewrite
from support.tiny_run import (
    CONFIG,
    FIT,
    HEADS,
    MODEL,
    PART,
    RATES,
    RULES,
    SHARD,
    SPLIT,
    TEXT,
    TIMES,
    WEIGHTS,
    make_archive,
    make_run,
)

JOBS = "provenance/jobs.json"


def test_the_payload_is_the_run_without_the_weights_and_what_was_merged(archive):
    with verified(archive) as (payload, jobs, config, absent):
        names = set(files_below(payload))
        assert {"Snakefile", "scripts/split.py", "envs/split.yaml", RATES, HEADS, SHARD} <= names
        assert not {WEIGHTS, TEXT, PART, str(ARCHIVE)} & names
        assert (payload / RATES).read_bytes() == Path(RATES).read_bytes()
        data = json.loads((payload / "provenance/data.json").read_text())
    assert config == CONFIG and data["model"] == {"name": "tiny"}
    assert set(absent) == {WEIGHTS, TEXT, PART}
    assert [job.rule for job in jobs] == ["fetch_model", "fit_rates", "split"]


def test_weights_that_the_run_never_had_are_not_missed(run):
    """As in a comparison of runs, which has no model."""
    write_archive(ARCHIVE, [HEADS], CONFIG, RULES, "0" * 40, True, Path(), "9.27.1")
    with verified(ARCHIVE) as contents:
        assert contents.absent == {}


def test_embeddings_can_be_left_out(run):
    with verified(make_archive(ARCHIVE, embeddings=False)) as (payload, *_):
        assert not (payload / SHARD).exists() and (payload / HEADS).exists()


def test_the_same_run_elsewhere_gives_the_same_bytes(archive, tmp_path, monkeypatch):
    (tmp_path / "another").mkdir()
    make_run(tmp_path / "another")
    monkeypatch.chdir(tmp_path / "another")
    assert make_archive(ARCHIVE).read_bytes() == (tmp_path / "run" / ARCHIVE).read_bytes()
    assert not list((tmp_path / "another/results").glob(".*")), "left behind"


def test_a_run_in_a_folder_of_its_own_gives_the_same_bytes_as_a_default_one(archive, run, monkeypatch):
    """Sources from the project, results from the run; files of the user's are named as the project sees them."""
    folder = run / "runs/my"
    folder.mkdir(parents=True)
    for name in ("results", ".snakemake"):
        shutil.move(run / name, folder / name)
    record = read_record(SHARD, folder)
    assert record["input"] == [TEXT, WEIGHTS]
    record["input"] = [f"../../{TEXT}", WEIGHTS]
    record_path(SHARD, folder).write_text(json.dumps(record))
    expected = (folder / ARCHIVE).read_bytes()
    (folder / ARCHIVE).unlink()
    monkeypatch.chdir(folder)
    assert make_archive(ARCHIVE, project=run).read_bytes() == expected
    restore(ARCHIVE, run / "restored")
    assert read_record(SHARD, run / "restored")["input"] == [TEXT, WEIGHTS]


def test_restored_files_records_and_settings(archive, tmp_path):
    absent = restore(archive, tmp_path / "restored")
    folder = tmp_path / "restored"
    assert sorted(absent) == sorted([WEIGHTS, TEXT, PART])
    assert (folder / RATES).read_bytes() == Path(RATES).read_bytes()
    assert (folder / ARCHIVE).read_bytes() == archive.read_bytes()
    for job in (MODEL, SPLIT, FIT):
        record = read_record(job.output[0], folder)
        assert (record["rule"], tuple(record["params"]), tuple(record["input"])) == (job.rule, job.params, job.input)
    assert yaml.safe_load((folder / "config.yaml").read_text()) == CONFIG
    assert commit(folder) == f"restored from {'0' * 40}"
    times = {file.stat().st_mtime_ns for file in folder.rglob("*") if file.is_file()}
    assert len(times) == 1
    assert {path.name for path in tmp_path.iterdir()} == {"run", "restored"}
    assert (read_record(RATES, folder)["starttime"], read_record(RATES, folder)["endtime"]) == TIMES


def test_a_restored_run_can_be_archived_again(archive, tmp_path, monkeypatch):
    """Its weights are not there, and its sources are the same but for the settings."""
    restore(archive, tmp_path / "restored")
    first = archive.resolve()
    monkeypatch.chdir(tmp_path / "restored")
    (tmp_path / "restored/config.yaml").write_bytes((tmp_path / "run/config.yaml").read_bytes())
    assert make_archive(Path("results/again/attnlimit.tar.zst")).read_bytes() == first.read_bytes()


def test_the_config_of_the_folder_is_kept_where_it_is_the_same(run, tmp_path):
    text = "# every choice\nseed: 1\nchapters: [heads]\nfit_rates: {bootstrap: 10} # draws\n"
    (run / "config.yaml").write_text(text)
    restore(make_archive(ARCHIVE), tmp_path / "restored")
    assert (tmp_path / "restored/config.yaml").read_text() == text


def test_an_empty_folder_that_is_there_is_used(archive, tmp_path, monkeypatch):
    (tmp_path / "empty").mkdir(mode=0o700)
    archive = archive.resolve()
    monkeypatch.chdir(tmp_path / "empty")
    restore(archive, Path())
    assert (tmp_path / "empty" / RATES).is_file()
    assert not [path.name for path in (tmp_path / "empty").iterdir() if path.name.startswith(".attnlimit-")]


def test_what_a_killed_job_left_goes_with_the_next_archive(run):
    (run / "results/.archive-left/results").mkdir(parents=True)
    make_archive(ARCHIVE)
    assert not list((run / "results").glob(".*"))


@pytest.mark.parametrize("name", ["docs/my file.md", "docs/ü.md", "docs/50%.md"])
def test_a_name_that_not_every_format_holds_is_refused(run, name):
    (run / name).write_text("words")
    with pytest.raises(ValueError, match=f"{name}: an archive holds names of plain letters.*rename the file"):
        make_archive(ARCHIVE)


def test_a_damaged_or_missing_result_is_not_archived(run):
    damage_store(run)
    with pytest.raises(ValueError, match=f"{HEADS}: damaged store"):
        make_archive(ARCHIVE)
    (run / HEADS).unlink()
    with pytest.raises(FileNotFoundError, match=f"{HEADS}: no such file; run `make reproduce`"):
        make_archive(ARCHIVE)
    assert not (run / ARCHIVE).exists()


def test_a_file_of_the_user_may_have_any_name(run):
    """Snakemake cuts records of long names in two; files that jobs did not make have none."""
    record = read_record(SHARD, run)
    record["input"].append("my texts/" + "ü" * 120 + ".txt")
    record_path(SHARD, run).write_text(json.dumps(record))
    with verified(make_archive(ARCHIVE)) as contents:
        assert len(contents.absent) == 4


def test_nothing_is_restored_over_files_or_from_a_damaged_archive(archive, tmp_path):
    with pytest.raises(FileExistsError, match="run: not an empty folder; give another with TO="):
        restore(archive, tmp_path / "run")
    (tmp_path / "empty").mkdir()
    archive.write_bytes(archive.read_bytes()[:-10])
    for name in ("empty", "absent"):
        with pytest.raises(ValueError, match="truncated"):
            restore(archive, tmp_path / name)
    assert list((tmp_path / "empty").iterdir()) == []
    assert {path.name for path in tmp_path.iterdir()} == {"run", "empty"}


def repacked(archive: Path, folder: Path, change) -> None:
    """A sound bag around a payload as `change` leaves it."""
    with verified(archive) as contents:
        contents.payload.rename(folder)
    change(folder)
    pack(folder, archive, {"Bagging-Date": "2026-01-01"})


def damage_store(payload: Path) -> None:
    content = (payload / HEADS).read_bytes()
    (payload / HEADS).write_bytes(content[: len(content) // 2])


def garble(name: str, text: str) -> Callable[[Path], object]:
    return lambda payload: (payload / name).write_text(text)


def altered(change: Callable[[dict], object]) -> Callable[[Path], object]:
    """Of the crate: `change` gets its entities by name, and may change one or take it out."""

    def alter(payload: Path) -> None:
        crate = json.loads((payload / METADATA).read_text())
        entities = {entity["@id"]: entity for entity in crate["@graph"]}
        change(entities)
        (payload / METADATA).write_text(json.dumps(crate | {"@graph": list(entities.values())}))

    return alter


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (damage_store, f"{HEADS} cannot be read .*; download the archive again"),
        (garble("more.txt", "more"), "more.txt is not described in ro-crate-metadata.json"),
        (lambda payload: (payload / RATES).unlink(), f"{RATES} is described but not there"),
        (
            altered(lambda entities: entities.pop("#fit_rates")),
            f"ro-crate-metadata.json names no job that made {RATES}",
        ),
        (garble(METADATA, "{"), "ro-crate-metadata.json is not an RO-Crate"),
        (garble(METADATA, "[" * 100_000), "ro-crate-metadata.json is not an RO-Crate"),
        (garble(METADATA, '{"@graph": null}'), "ro-crate-metadata.json is not an RO-Crate"),
        (altered(lambda entities: entities["#fit_rates"].pop("result")), "ro-crate-metadata.json is not an RO-Crate"),
        (
            altered(lambda entities: entities["#fit_rates"].update(result="x")),
            "ro-crate-metadata.json is not an RO-Crate",
        ),
        (garble(JOBS, "{"), r"provenance/ cannot be read \(JSONDecodeError"),
        (garble(JOBS, "[1]"), r"provenance/ cannot be read \(TypeError"),
        (garble(JOBS, "[]"), f"{SHARD} was made by no job, by provenance/jobs.json"),
        (garble("provenance/config.yaml", "{"), r"provenance/ cannot be read \(ParserError"),
        (garble("provenance/data.json", "{}"), r"provenance/ cannot be read \(KeyError"),
    ],
)
def test_what_is_wrong_inside_a_sound_bag_is_named(archive, tmp_path, change, message):
    repacked(archive, tmp_path / "payload", change)
    with pytest.raises(ValueError, match=rf"^results/attnlimit\.tar\.zst: {message}"), verified(archive):
        pass


def test_the_commands_say_what_they_found(archive, tmp_path, capsys):
    main(["verify", str(archive)])
    assert "results/attnlimit.tar.zst: intact; " in capsys.readouterr().out
    main(["restore", str(archive), str(tmp_path / "restored")])
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith(f"{tmp_path / 'restored'}: restored")
    assert second.startswith(
        f"not in the archive: 3 files, listed in {tmp_path / 'restored/provenance/data.json'}: 1 × "
    )
    rewrite(archive, entries(archive) | {"attnlimit/data/more.txt": b"more"})
    with pytest.raises(SystemExit, match=r"^ValueError: .*data/more.txt is not in the manifest"):
        main(["verify", str(archive)])
    with pytest.raises(SystemExit, match=r"^FileNotFoundError: nothing\.tar\.zst: no such archive; `make reproduce`"):
        main(["verify", "nothing.tar.zst"])
