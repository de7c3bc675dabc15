"""Who holds a run: the lock of one that is surely gone goes, and nothing that may be at work is passed over."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from attnlimit.workflow.holder import RECORD, Holder, hold, holder, require_gone
from attnlimit.workflow.snakemake_records import FOLDER, LOCKS, forget_damaged_records, lock_date, record_path

UNLOCK = "make unlock RUN=my"
WAIT = "import sys; print(flush=True); sys.stdin.read()"


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """Of a run whose Snakemake was killed."""
    monkeypatch.chdir(tmp_path)
    for path in ("runs/my/.snakemake/scripts", "runs/my/.snakemake/log", f"runs/my/{LOCKS}"):
        Path(path).mkdir(parents=True)
    Path("runs/my", LOCKS, "0.output.lock").write_text("results/rates.csv\n")
    return Path("runs/my")


def record(folder: Path, **changes: object) -> Holder:
    """As if a process that has ended had recorded itself, but for some facts."""
    ended = subprocess.Popen([sys.executable, "-c", ""])
    held = holder(ended.pid)._replace(**changes)
    ended.wait()
    (folder / RECORD).write_text(json.dumps(held._asdict()))
    return held


def waiting(*command: str, **options: object) -> subprocess.Popen:
    """A process that has begun."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    process = subprocess.Popen([sys.executable, *command], **pipes, **options)
    process.stdout.readline()
    return process


def test_a_lock_is_found(folder, tmp_path):
    assert lock_date(folder) == (folder / LOCKS / "0.output.lock").stat().st_mtime
    assert lock_date(tmp_path) is None


def test_a_holder_at_work_is_named_and_gone_when_it_is_killed(folder):
    """Also while nobody has asked for its exit code."""
    with waiting("-c", WAIT) as process:
        hold(folder, process.pid)
        with pytest.raises(ValueError, match=rf"^runs/my: a run is at work there: process {process.pid} .*kill -INT"):
            require_gone(folder, UNLOCK, sure=True)
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert require_gone(folder, UNLOCK).startswith(f"process {process.pid} on ")


def test_another_process_of_that_number_or_before_another_boot_is_not_the_holder(folder):
    this = holder(os.getpid())
    for changes in ({"start": "1"}, {"boot": "before"}, {"boot": "before", "namespace": "before"}):
        assert require_gone(folder, UNLOCK) if record(folder, **this._replace(**changes)._asdict()) else False


@pytest.mark.parametrize("changes", [{"host": "other"}, {"machine": "other"}, {"namespace": "other"}])
def test_what_cannot_be_seen_from_here_needs_someone_who_knows(folder, changes):
    held = record(folder, **changes)
    with pytest.raises(ValueError, match=f"process {held.process} on {held.host}, .*surely gone, `{UNLOCK}`$"):
        require_gone(folder, UNLOCK)
    assert require_gone(folder, UNLOCK, sure=True) == str(held)


@pytest.mark.parametrize("text", [None, "", "[]", '{"host": "x"}'])
def test_a_lock_of_nobody_needs_someone_who_knows(folder, text):
    if text is not None:
        (folder / RECORD).write_text(text)
    with pytest.raises(ValueError, match=f"^runs/my: locked, and nothing says by whom; .*`{UNLOCK}`$"):
        require_gone(folder, UNLOCK)
    assert require_gone(folder, UNLOCK, sure=True)


def test_jobs_that_outlive_their_snakemake_are_named(folder):
    record(folder)
    script = folder.resolve() / ".snakemake/scripts/tmp1a_b.measure_errors.py"
    script.write_text(WAIT)
    with waiting(str(script)) as job:
        for sure in (False, True):
            with pytest.raises(ValueError, match=rf"measure_errors \(process {job.pid}\); wait, or `kill {job.pid}`$"):
                require_gone(folder, UNLOCK, sure)
        assert require_gone_elsewhere(folder)
        job.kill()
    assert require_gone(folder, UNLOCK)


def require_gone_elsewhere(folder: Path) -> str:
    """Of another run, whose jobs are others."""
    other = folder.with_name("my-other")
    (other / RECORD).parent.mkdir(parents=True)
    record(other)
    return require_gone(other, UNLOCK)


@pytest.mark.skipif(not Path("/proc/self/cwd").exists(), reason="only Linux tells the folder of a process")
def test_a_snakemake_that_did_not_record_itself_yet_is_seen(folder):
    record(folder)
    (folder / "snakemake").write_text(WAIT)
    with waiting("snakemake", cwd=folder) as process:
        with pytest.raises(ValueError, match=rf"snakemake \(process {process.pid}\)"):
            require_gone(folder, UNLOCK)
        process.kill()


def test_jobs_in_a_queue_that_cannot_be_asked_are_not_passed_over(folder, monkeypatch):
    """With squeue: tests/cluster."""
    record(folder)
    monkeypatch.setenv("PATH", "")
    (folder / ".snakemake/log/1.snakemake.log").write_text("SLURM run ID: 12-ab\n")
    with pytest.raises(ValueError, match="may be in Slurm's queue.*`squeue --name=12-ab`$"):
        require_gone(folder, UNLOCK)
    assert require_gone(folder, UNLOCK, sure=True)
    os.utime(folder / ".snakemake/log/1.snakemake.log", (1, 1))  # of a run before
    assert require_gone(folder, UNLOCK)


def test_what_has_a_record_cut_short_is_made_again(folder):
    (folder / FOLDER).mkdir()
    record_path("results/rates.csv", folder).write_text("")
    record_path("results/claims.json", folder).write_text("{}")
    assert forget_damaged_records(folder) == ["results/rates.csv"]
    assert [path.name for path in (folder / FOLDER).iterdir()] == [record_path("results/claims.json", folder).name]
    marks = folder / ".snakemake/incomplete"
    assert [path.name for path in marks.iterdir()] == [record_path("results/rates.csv", folder).name]
