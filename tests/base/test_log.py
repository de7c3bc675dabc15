"""A job that fails says why, in its log in full and on the terminal in one line."""

import logging
import re
import subprocess
import sys
from pathlib import Path

import pytest

from attnlimit.base import log
from attnlimit.base.log import RESULT, bar, spent_by

SCRIPTS = Path(log.__file__).parents[2]
JOB = """
import sys
from attnlimit.base.log import bar, report_finding, open_log
open_log(sys.argv[1])
report_finding("12 heads")
done = list(bar(range(4), total=4, unit="blocks", name="embeddings"))
def inner():
    raise ValueError("no tokens in layer 3; run extract_embeddings again")
if sys.argv[2] == "fail":
    inner()
"""


def run(log: Path, end: str) -> subprocess.CompletedProcess:
    command = [sys.executable, "-c", JOB, log, end]
    return subprocess.run(command, env={"PYTHONPATH": str(SCRIPTS)}, capture_output=True, text=True, check=False)


def test_a_failing_job_leaves_its_traceback_and_one_line(tmp_path):
    log = tmp_path / "rule" / "log.txt"
    job = run(log, "fail")
    line = "ValueError: no tokens in layer 3; run extract_embeddings again"
    assert job.returncode == 1
    assert job.stderr == f"{line}\n"
    assert job.stdout == ""
    written = log.read_text()
    assert "Traceback (most recent call last)" in written and "in inner" in written and line in written
    assert "embeddings: 4 of 4" in written


def test_a_log_starts_afresh_and_a_good_job_is_silent(tmp_path):
    log = tmp_path / "log.txt"
    log.write_text("an earlier run\n")
    job = run(log, "well")
    assert (job.returncode, job.stdout, job.stderr) == (0, "", "")
    first, second, _ = log.read_text().splitlines()
    assert RESULT.fullmatch(first)[1] == "12 heads"
    assert re.fullmatch(r"\S+ \S+ embeddings: 4 of 4, \S+ blocks/s, 0 s left", second)


def test_a_job_says_what_it_took_from_start_to_end(tmp_path):
    def job(work: str, name: str) -> None:
        text = f"import time, numpy as np\nfrom attnlimit.base.log import open_log\nopen_log({name!r})\n{work}"
        subprocess.run([sys.executable, "-c", text], env={"PYTHONPATH": str(SCRIPTS)}, check=True)

    job("time.sleep(0.5)", str(tmp_path / "logs/rest/0.txt"))
    job("kept = np.ones(40_000_000)\nwhile time.process_time() < 1: pass", str(tmp_path / "logs/work/keys/errors.txt"))
    found = spent_by(tmp_path)
    (rest,), (work,) = found["rest"], found["work"]  # the latter in a folder below, as logs of merge_parts are
    assert rest.seconds < 1 <= work.seconds  # waiting costs nothing
    assert work.bytes > 320e6


def test_a_bar_yields_every_item_and_closes_with_a_rate(caplog):
    caplog.set_level(logging.INFO, logger="attnlimit")
    assert list(bar(iter("abc"), total=3, unit="heads", name="horizons")) == ["a", "b", "c"]
    (message,) = caplog.messages
    found = re.fullmatch(r"horizons: 3 of 3, (\S+) heads/s, 0 s left", message)
    assert float(found[1]) > 0


def test_a_slow_bar_speaks_on_the_way(caplog, monkeypatch):
    monkeypatch.setattr(log, "SECONDS_BETWEEN_LOG_LINES", 0.0)
    caplog.set_level(logging.INFO, logger="attnlimit")
    list(bar(range(3), total=3, unit="heads", name="horizons"))
    assert [message.split(",")[0] for message in caplog.messages] == [f"horizons: {done} of 3" for done in (1, 2, 3)]


def test_an_error_among_the_items_is_not_swallowed(caplog):
    caplog.set_level(logging.INFO, logger="attnlimit")
    with pytest.raises(ZeroDivisionError):
        list(bar((1 // number for number in (1, 0)), total=2, unit="heads", name="horizons"))
    assert caplog.messages == []


ENCODED = """
import sys, warnings
from pathlib import Path
from attnlimit.base.log import open_log
from attnlimit.cli.process import error_lines
from attnlimit.cli.progress import lines_of
from attnlimit.page.assess import write_json
warnings.simplefilter("error", EncodingWarning)
open_log("results/logs/a/log.txt")
error_lines(Path(), 0)
lines_of(type("Job", (), {"log": ["results/logs/a/log.txt"]}), __import__("re").compile(""))
write_json([], "claims.json")
"""


def test_files_with_signs_such_as_beta_do_not_depend_on_the_locale(tmp_path):
    command = [sys.executable, "-X", "warn_default_encoding", "-c", ENCODED]
    done = subprocess.run(command, cwd=tmp_path, env={"PYTHONPATH": str(SCRIPTS)}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
