"""One study after the other: the time left, and which runs can be compared."""

import pytest
import yaml

from attnlimit.cli.run_studies import (
    SEE_OUTPUT,
    comparison,
    in_one_line,
    not_comparable,
    require_comparable,
    seconds_left,
    time_left,
)
from attnlimit.workflow.costs import expected_seconds, job_count
from attnlimit.workflow.folders import MADE_OF, RESOLVED, write_state
from attnlimit.workflow.study_files import SIZES, default_studies
from support.configs import DEFAULT, ROOT, merged
from support.messages import told

CORES, MOST_MINUTES = 2, 60


def test_the_time_left_goes_with_the_pace_of_those_that_are_done():
    expected = {"code": 1000.0, "legal": 2000.0, "mine": 3000.0}
    assert seconds_left(expected, {}) == 6000
    assert seconds_left(expected, {"code": 1000.0}) == 5000
    assert seconds_left(expected, {"code": 1500.0}) == pytest.approx(1.5 * 5000, rel=0.05)
    assert seconds_left(expected, {"code": 500.0, "legal": 1000.0}) == pytest.approx(3000 / 2, rel=0.05)
    assert time_left(expected, {"code": 1000.0, "legal": 2000.0}) == "about 50 min left for all"
    assert time_left({"code": 1.0}, {"code": 9.0}) == "none left"


def test_why_a_study_failed_is_one_line():
    assert in_one_line(SystemExit("ValueError: a\nOSError: b\n")) == "ValueError: a; OSError: b"
    assert in_one_line(SystemExit(1)) == SEE_OUTPUT


def run(root, name: str, state: str, chapters: list[str]) -> None:
    folder = root / "runs" / name
    write_state(folder, {"state": state})
    (folder / RESOLVED).write_text(f'{MADE_OF}["my.yaml"]\n{yaml.safe_dump({"chapters": chapters, "layers": [0]})}')


def test_only_finished_runs_with_heads_and_tails_are_compared(tmp_path):
    run(tmp_path, "code", "finished", ["heads", "tails", "theory"])
    run(tmp_path, "legal", "failed", ["heads", "tails"])
    run(tmp_path, "theory", "finished", ["theory"])
    require_comparable("code", tmp_path)
    for name, parts in {
        "legal": ("runs/legal", "not finished", "`make reproduce RUN=legal`"),
        "theory": ("runs/theory", "no chapter heads", "`chapters` of its config", "`make reproduce RUN=theory`"),
        "cod": ("'cod'", "did you mean 'code'?"),
        "zzz": ("'zzz'", "`make runs`"),
    }.items():
        with pytest.raises(ValueError) as error:
            require_comparable(name, tmp_path)
        told(error, *parts)
    assert list(not_comparable(["theory", "code"], tmp_path)) == ["theory"], (
        "one does not keep others from being compared"
    )


def test_one_run_is_nothing_to_compare():
    with pytest.raises(ValueError, match="at least 2 finished runs"):
        comparison(["code", "code"], {}, 1)


def test_the_default_set_takes_less_than_an_hour():
    """By the cost model, on two cores, what it does not count included: three minutes a study."""
    minutes = 0.0
    for path in default_studies(ROOT).values():
        config = DEFAULT
        for file in (SIZES, path):
            config = merged(config, yaml.safe_load((ROOT / file).read_text()))
        counted = ("extract_embeddings", "measure_geometry", "measure_tails", "compute_limits", "merge_limits")
        counted += ("measure_errors", "merge_errors")
        jobs = job_count(config)
        assert jobs["measure_errors"] == len(config["layers"]), "a layer is one job"
        minutes += sum(jobs[rule] * expected_seconds(config, rule) for rule in counted) / 60 / CORES + 3
    assert 20 < minutes < MOST_MINUTES
