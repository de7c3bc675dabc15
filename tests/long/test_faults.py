"""What goes wrong in a run is told in one line, and what was finished stays: real signals, a disk really full."""

import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.workflow import ROOT, SMOKE, clone

SUPREMA, RATES = "results/synthetic/uniform.zarr.zip", "results/rates/uniform.zarr.zip"
BYSTANDER = "results/synthetic/hardmax.zarr.zip"
KEPT = "then run again: what is finished is kept"
# Loaded by every Python below Snakemake: a job stops itself in the middle of the first store it writes.
STOP = """
import os, pathlib, signal, zipfile

def writestr(archive, entry, content, write=zipfile.ZipFile.writestr):
    write(archive, entry, content)
    if len(archive.namelist()) == 3 and "STOPPED" in os.environ:
        archive.fp.flush()
        pathlib.Path(os.environ["STOPPED"]).write_text(f"{os.getpid()} ")
        os.kill(os.getpid(), signal.SIGSTOP)

zipfile.ZipFile.writestr = writestr
"""


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "snakemake", *arguments, "--cores", "2", "--configfile", SMOKE]


def run(folder: Path, *arguments: str, **options) -> tuple[int, str]:
    """The return code and what the terminal shows."""
    done = subprocess.run(
        command(*arguments or (RATES, BYSTANDER)),
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        **options,
    )
    return done.returncode, done.stdout


def ran(output: str) -> list[str]:
    """Rules of the jobs that were started."""
    return re.findall(r"^(?:local)?rule (\w+):$", output, re.M)


def contents(folder: Path) -> dict[str, bytes]:
    """Every store and whatever lies beside it, hidden files too."""
    stores = [path for place in ("synthetic", "rates") for path in (folder / "results" / place).glob("*")]
    return {str(path.relative_to(folder)): path.read_bytes() for path in stores}


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """A folder with a simulation, its fits, and another simulation."""
    folder = clone(tmp_path_factory.mktemp("made"))
    code, output = run(folder)
    assert code == 0, output
    assert set(contents(folder)) == {SUPREMA, RATES, BYSTANDER}
    return folder


@pytest.fixture
def folder(made, tmp_path) -> Path:
    return shutil.copytree(made, tmp_path / "run", symlinks=True)


def test_a_damaged_store_is_named_and_deleting_it_mends_the_run(made, folder):
    content = bytearray((folder / SUPREMA).read_bytes())
    content[len(content) // 2] ^= 1
    (folder / SUPREMA).write_bytes(content)
    code, output = run(folder)
    assert code == 1
    assert re.search(rf"^ValueError: {SUPREMA}: damaged store \(.*\); delete it and run again$", output, re.M), output
    assert contents(folder) == {SUPREMA: bytes(content), BYSTANDER: (made / BYSTANDER).read_bytes()}
    (folder / SUPREMA).unlink()
    code, output = run(folder)
    assert code == 0, output
    assert ran(output) == ["simulate_uniform", "fit_uniform"]
    assert contents(folder) == contents(made)


@contextmanager
def stopped(folder: Path):
    """A run whose fit_uniform stands still in the middle of its store: the run, the job's process id."""
    (folder / "hook").mkdir(exist_ok=True)
    (folder / "hook/sitecustomize.py").write_text(STOP)
    told = folder / "hook/stopped"
    told.unlink(missing_ok=True)
    with (folder / "terminal").open("w") as terminal:
        begun = subprocess.Popen(
            command(RATES, BYSTANDER),
            cwd=folder,
            stdout=terminal,
            stderr=subprocess.STDOUT,
            env=os.environ | {"PYTHONPATH": str(folder / "hook"), "STOPPED": str(told)},
            start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509  ignored in the background
        )
    try:
        while not (told.exists() and told.read_text().endswith(" ")):
            assert begun.poll() is None, (folder / "terminal").read_text()
            time.sleep(0.01)
        assert not (folder / RATES).exists() and len(left_over(folder)) == 1
        yield begun, int(told.read_text())
    finally:
        if begun.poll() is None:
            os.killpg(begun.pid, signal.SIGKILL)
        begun.wait()


def left_over(folder: Path) -> list[Path]:
    return list((folder / "results/rates").glob(".*"))


def test_a_run_that_is_killed_in_every_way_goes_on_where_it_was(made, folder):
    """The job, Snakemake by Ctrl-C, both by a power cut: nothing half is left, nothing finished is made again."""
    (folder / RATES).unlink()
    finished = {name: (made / name).read_bytes() for name in (SUPREMA, BYSTANDER)}

    with stopped(folder) as (begun, job):
        os.kill(job, signal.SIGKILL)
        assert begun.wait() == 1
    assert "fit_uniform.py' died with <Signals.SIGKILL: 9>" in (folder / "terminal").read_text()
    assert len(left_over(folder)) == 1
    assert finished.items() < contents(folder).items() and not (folder / RATES).exists()

    with stopped(folder) as (begun, job):
        os.killpg(begun.pid, signal.SIGINT)
        os.kill(job, signal.SIGCONT)
        assert begun.wait() == 1
    assert "Terminating processes on user request" in (folder / "terminal").read_text()
    assert contents(folder) == finished, "with what the killed job had left"

    with stopped(folder) as (begun, _):
        os.killpg(begun.pid, signal.SIGKILL)
        assert begun.wait() == -signal.SIGKILL
    code, output = run(folder)
    assert code == 1
    assert "LockException" in output and "can be removed with the --unlock argument" in output
    assert ran(output) == []
    code, output = run(folder, "--unlock")
    assert code == 0, output
    code, output = run(folder)
    assert code == 0, output
    assert ran(output) == ["fit_uniform"]
    assert contents(folder) == contents(made)


def mounted(*arguments: str) -> bool:
    """Whether this machine lets us mount; without root it does not."""
    return shutil.which("mount") and subprocess.run(["mount", *arguments], capture_output=True).returncode == 0


def limit_files() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000))


def test_a_full_disk_is_told_with_the_file_and_keeps_what_is_finished(made, folder):
    """A store of 38 kB on a disk of 16; without root, under a limit of 30 on the size of a file."""
    (folder / RATES).unlink()
    rates = folder / "results/rates"
    if mounted("-t", "tmpfs", "-o", "size=16k", "tmpfs", str(rates)):
        try:
            (rates / "older").touch()
            code, output = run(folder)
            assert list(rates.iterdir()) == [rates / "older"]
        finally:
            subprocess.run(["umount", rates], check=True)
        why = "no space left on device); free some space"
    else:
        code, output = run(folder, preexec_fn=limit_files)
        why = "file too large); raise the limit on the size of a file"
    assert code == 1
    assert f"\nOSError: {RATES}: cannot be written ({why}, {KEPT}\n" in output
    assert contents(folder) == {name: (made / name).read_bytes() for name in (SUPREMA, BYSTANDER)}


def test_a_read_only_folder_is_told_before_any_job(made, folder):
    (folder / RATES).unlink()
    results = str(folder / "results")
    if os.geteuid():
        (folder / "results").chmod(0o500)
    elif not (mounted("--bind", results, results) and mounted("-o", "remount,bind,ro", results)):
        pytest.skip("root may write everywhere, and cannot mount here")
    try:
        code, output = run(folder)
    finally:
        subprocess.run(["umount", results], check=True) if not os.geteuid() else (folder / "results").chmod(0o700)
    assert code == 1
    assert f"\n{results}: cannot be written; make the folder writable, {KEPT}\n" in output
    assert ran(output) == []
    assert contents(folder) == {name: (made / name).read_bytes() for name in (SUPREMA, BYSTANDER)}


def rows() -> list[list[str]]:
    """Of the table of faults: fault, what is seen, what is kept, tests."""
    lines = [line for line in (ROOT / "tests/FAULTS.md").read_text().splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def test_every_fault_of_the_table_has_its_test():
    named = 0
    for fault, seen, kept, tests in rows()[2:]:
        assert fault and seen and kept, fault
        for test in tests.split(", "):
            module, _, name = test.strip("`").partition("::")
            assert f"\ndef {name}(" in (ROOT / "tests" / module).read_text(), f"{fault}: no {test}"
            named += 1
    assert named > 40
