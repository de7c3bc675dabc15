"""Snakemake's lines as events, in pieces that end anywhere."""

import pytest

from attnlimit.cli.talk import Failed, Finished, Planned, Talk
from support.talk import RECORDED


def events(pieces, clock=lambda: 0.0):
    talk = Talk(clock)
    return talk, [event for piece in pieces for event in talk.take(piece)]


@pytest.mark.parametrize("length", [1, 7, 100, 10**6])
def test_what_was_recorded(length):
    talk, said = events([RECORDED[start : start + length] for start in range(0, len(RECORDED), length)])
    assert said[0] == Planned(
        {"fetch_corpus": 1, "compute_limits": 2, "measure_errors": 4, "merge_limits": 2, "plot_hardmax": 1}
    )
    finished = [(str(event.job), event.seconds) for event in said[1:]]
    assert finished == [("fetch_corpus", 0.0), ("compute_limits layer 5 part 0", 0.0), ("merge_limits layer 5", 0.0)]
    assert [str(job) for job in talk.at_work()] == ["measure_errors layer 5 part 1"]
    merged = said[-1].job
    assert merged.files("input") == ["results/limits/parts/layer_5_part_0.zarr.zip"]
    assert merged.files("log") == ["results/logs/merge_limits/layer_5.txt"]
    assert merged.wildcards() == {"layer": "5"}


def test_a_job_takes_the_time_between_its_lines():
    times = iter([10.0, 12.5])
    _, said = events([b"rule a:\n    jobid: 3\nFinished jobid: 3 (Rule: a)\n"], lambda: next(times))
    assert [event.seconds for event in said if isinstance(event, Finished)] == [2.5]


def test_a_failed_job_is_at_work_no_more_and_the_last_rule_is_no_job():
    failed = b"Error in rule measure_errors:\n    message: None\n    jobid: 20\n    log: a.txt (check)\n"
    talk, said = events([RECORDED, failed])
    assert said[-1] == Failed("measure_errors") and talk.at_work() == []
    talk, said = events([b"localrule all:\n    input: a, b\n    jobid: 0\nFinished jobid: 0 (Rule: all)\n"])
    assert said == [] and talk.at_work() == []


def test_a_finished_job_that_was_never_begun_is_passed_over():
    assert events([b"Finished jobid: 9 (Rule: a)\n\xff\xfe\n"])[1] == []


def test_the_last_lines_are_without_what_it_says_always():
    talk, _ = events([b"Using workflow specific profile x\nLockException:\n\nDirectory cannot be locked."])
    assert talk.last_lines() == ["LockException:", "Directory cannot be locked."]
