"""A real Snakemake with the logger plugin: called plainly, as a child process, with failures, stopped by signals."""

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from attnlimit.cli import process as module
from attnlimit.cli.process import error_lines, run_with_progress
from attnlimit.workflow.holder import RECORD
from support.processes import children, is_running
from support.workflow import ROOT

SNAKEFILE = r"""
rule all:
    input: "joined.txt"
rule letter:
    output: "results/parts/{n}.txt"
    shell: "echo chatter; sleep 0.5; echo {wildcards.n} > {output}"
rule join:
    input: expand("results/parts/{n}.txt", n=[1, 2])
    output: "joined.txt"
    log: "results/logs/join.txt"
    shell: "echo '2026-01-01 10:00:00,000 found: two letters' > {log}; cat {input} > {output}"
rule wrong:
    output: "wrong.txt"
    log: "results/logs/wrong.txt"
    shell: "echo 'ValueError: no such thing' | tee {log} >&2; exit 1"
rule lost:
    input: "nowhere.txt"
    output: "lost.txt"
    shell: "true"
rule long:
    output: "long.txt"
    shell: "echo > begun; sleep 600"
"""
CHILD = """
import sys
from attnlimit.cli.process import run_with_progress
try:
    code, lines = run_with_progress([sys.executable, "-m", "snakemake", "--cores", "1", *sys.argv[1:]])
except KeyboardInterrupt:
    print("stopped")
    sys.exit(130)
sys.exit(code and ("\\n".join(lines) or code))
"""
PLAIN = [sys.executable, "-m", "snakemake", "--logger", "attnlimit", "--cores", "1"]
AS_CHILD = [sys.executable, "-c", CHILD]


@pytest.fixture
def folder(tmp_path) -> Path:
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    return tmp_path


def environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(ROOT / "scripts"), "TERM": "xterm"}


def run(folder: Path, *command: str) -> tuple[int, list[str], list[str]]:
    done = subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True)
    return done.returncode, done.stdout.splitlines(), done.stderr.splitlines()


@pytest.mark.parametrize("command", [PLAIN, AS_CHILD])
def test_a_run_shows_its_plan_and_results(folder, command):
    code, lines, errors = run(folder, *command)
    assert code == 0, errors
    assert (folder / "joined.txt").read_text() == "1\n2\n"
    plan, *chatter, result = lines
    assert plan == "3 jobs to do" and chatter == ["chatter"] * 2 * (command is PLAIN)
    assert result.startswith("join: two letters, ") and int(result.split()[-2]) >= 1, "with the time of its parts"


@pytest.mark.parametrize("command", [PLAIN, AS_CHILD])
def test_a_failed_job_is_named_with_its_log_and_the_error_is_shown(folder, command):
    code, lines, errors = run(folder, *command, "wrong.txt")
    assert code == 1 and lines == ["1 job to do", "failed: wrong, see results/logs/wrong.txt"]
    assert errors == ["ValueError: no such thing"]


def test_an_error_before_any_job_is_shown_in_few_lines(folder):
    code, lines, errors = run(folder, *AS_CHILD, "lost.txt")
    assert code == 1 and errors == []
    assert "nowhere.txt" in lines[-1] and len(lines) < 8 and "Traceback" not in "\n".join(lines)
    (folder / "Snakefile").write_text('import sys\nsys.exit("config: seed: must be a number")\n')
    assert run(folder, *AS_CHILD) == (1, [], ["config: seed: must be a number"])


def begin(folder: Path, *command: str, handler: signal.Handlers, out: int) -> subprocess.Popen:
    """A run in a session of its own whose one job has begun; handler: of SIGINT, which shells ignore in background."""
    process = subprocess.Popen(
        [*command, "long.txt"],
        cwd=folder,
        env=environment(),
        stdout=out,
        stderr=out,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, handler),  # noqa: PLW1509
    )
    while not (folder / "begun").exists():
        assert process.poll() is None
        time.sleep(0.05)
    return process


def test_ctrl_c_on_a_plain_run_reports_no_failure(folder):
    with (folder / "shown").open("w") as out:
        process = begin(folder, *PLAIN, handler=signal.SIG_DFL, out=out.fileno())
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait() != 0
    assert (folder / "shown").read_text() == "1 job to do\n"


def test_kill_stops_a_background_run_with_its_jobs(folder):
    with (folder / "shown").open("w") as out:
        process = begin(folder, *AS_CHILD, handler=signal.SIG_IGN, out=out.fileno())
    started = children(process.pid)
    assert len(started) > 1
    process.terminate()
    assert process.wait() == 130
    assert (folder / "shown").read_text() == "1 job to do\nstopping: waiting for running jobs to end\nstopped\n"
    assert not [pid for pid in started if Path(f"/proc/{pid}").exists()]


def test_jobs_of_a_killed_snakemake_end_with_it(folder):
    with (folder / "shown").open("w") as out:
        process = begin(folder, *AS_CHILD, handler=signal.SIG_DFL, out=out.fileno())
    snakemake, *jobs = children(process.pid)
    assert jobs and json.loads((folder / RECORD).read_text())["process"] == snakemake
    os.kill(snakemake, signal.SIGKILL)
    assert process.wait() == 1
    assert (folder / "shown").read_text().splitlines()[-1].startswith("Snakemake was killed (signal 9)")
    while any(is_running(pid) for pid in jobs):  # init has yet to take their exit codes
        time.sleep(0.01)


def test_ctrl_c_on_a_terminal_removes_the_status_line(folder):
    ours, theirs = pty.openpty()
    process = begin(folder, *AS_CHILD, handler=signal.SIG_DFL, out=theirs)
    started, text = children(process.pid), b""
    while b"0 of 1 job; running: long" not in text:
        text += os.read(ours, 1 << 16)
    process.send_signal(signal.SIGINT)
    assert process.wait() == 130
    text += os.read(ours, 1 << 16)
    os.close(ours)
    os.close(theirs)
    end = text.decode().rsplit("running: long", 1)[1]
    assert "stopping: waiting for running jobs to end" in end
    assert end.endswith("\r\x1b[Kstopped\r\n") and len(end.splitlines()) <= 4, end
    assert not [pid for pid in started if Path(f"/proc/{pid}").exists()]


def test_errors_are_those_of_the_logs_of_this_run_without_repeats(tmp_path):
    logs = tmp_path / "results/logs"
    for name, text in {"a/1.txt": "ValueError: x", "a/2.txt": "ValueError: x", "b/old.txt": "ValueError: y"}.items():
        (logs / name).parent.mkdir(parents=True, exist_ok=True)
        (logs / name).write_text(f"Traceback\nOSError: before\n{text}\n")
    os.utime(logs / "b/old.txt", (1, 1))
    assert error_lines(tmp_path, time.time() - 60) == ["ValueError: x"]


@pytest.mark.parametrize("line", ["numpy._core._exceptions._ArrayMemoryError: Unable to allocate 9 TiB", "MemoryError"])
def test_an_error_of_a_library_is_one_too(tmp_path, line):
    log = tmp_path / "results/logs/a/1.txt"
    log.parent.mkdir(parents=True)
    log.write_text(f"Traceback\n  raise MemoryError: no line of its own\n{line}\n")
    assert error_lines(tmp_path, 0) == [line]


def test_ctrl_c_before_the_run_is_recorded_leaves_no_snakemake_behind(tmp_path, monkeypatch):
    begun = []

    def interrupted(folder: Path, process: int) -> None:
        begun.append(process)
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "hold", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_with_progress([sys.executable, "-c", "import time; time.sleep(600)"], tmp_path)
    assert not Path(f"/proc/{begun[0]}").exists()
