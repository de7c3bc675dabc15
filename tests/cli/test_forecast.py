"""What changed is told in the names of the config."""

import os
from pathlib import Path

import pytest
import yaml

from attnlimit.cli.forecast import INPUTS_RERUN, PROFILE, Planned, changes, planned_jobs, remove_new, report
from attnlimit.workflow.holder import hold
from support.workflow import ROOT

CONFIG = yaml.safe_load((ROOT / "config.yaml").read_text())
FIT = CONFIG["fit_rates"]


def changed(rule: str, now: dict, before: dict) -> list[str]:
    return changes(rule, {"code": "ab", **now}, [repr({"code": "ab", **before})], CONFIG)


def test_a_key_of_the_rules_own_section():
    before = FIT | {"bootstrap": 200}
    assert changed("fit_rates", {"settings": FIT}, {"settings": before}) == ["fit_rates.bootstrap: 200 -> 1000"]


def test_a_key_of_another_section_a_top_key_and_the_code():
    settings = CONFIG["fit_uniform"] | {"bootstrap": FIT["bootstrap"], "misfit": FIT["misfit"]}
    now = {"settings": settings, "seed": CONFIG["seed"], "code": "0123456789abcdef"}
    before = {"settings": settings | {"misfit": 4}, "seed": 7, "code": "fedcba9876543210"}
    first, *lines = changed("fit_uniform", now, before)
    assert first.startswith("code: ") and lines == ["fit_rates.misfit: 4 -> 3", f"seed: 7 -> {CONFIG['seed']}"]


def test_a_value_outside_of_a_section_is_named_by_where_it_stands():
    assert changed("measure_geometry", {"block": 8192}, {"block": 4096}) == ["compute_limits.block: 4096 -> 8192"]


def test_two_parameters_of_equal_form_are_not_confused():
    now, before = {"first": {"n": 1}, "second": {"n": 2}}, {"first": {"n": 1}, "second": {"n": 1}}
    assert changed("fit_rates", now, before) == ["n: 1 -> 2"]


def test_a_whole_config_names_its_keys_in_full():
    before = CONFIG | {"fit_rates": FIT | {"misfit": 4}, "layers": [0]}
    lines = changed("compose_page", {"config": CONFIG}, {"config": before})
    assert lines == ["layers: [0] -> [0, 1, 2, 3, 4, 5]", "fit_rates.misfit: 4 -> 3"]


def test_a_new_key_and_one_that_went():
    before = {key: value for key, value in FIT.items() if key != "misfit"} | {"older": 1}
    lines = changed("fit_rates", {"settings": FIT, "seed": 1}, {"settings": before, "gone": 2})
    assert lines == ["fit_rates.misfit: (none) -> 3", "older: 1 -> (none)", "seed: (none) -> 1", "gone: 2 -> (none)"]


@pytest.mark.parametrize("recorded", [["{'a': 1}", "'ab'", "3"], ["<object>"]])
def test_a_record_of_several_parameters_is_of_an_older_version(recorded):
    (line,) = changes("fit_rates", {"code": "ab"}, recorded, CONFIG)
    assert "older version" in line


def test_the_report_counts_jobs_and_sums_their_time():
    limits, fit = Planned("compute_limits", ("not made yet",), 30), ("fit_rates.misfit: 4 -> 3", INPUTS_RERUN)
    jobs = [Planned("all", (), 0), limits, limits, Planned("fit_rates", fit, 10)]
    _, first, second, whole = report(jobs, 2)
    assert first.split()[:2] == ["compute_limits", "2"] and first.endswith("60 s  not made yet")
    assert second.endswith("  fit_rates.misfit: 4 -> 3"), "a reason of its own comes before that of its inputs"
    assert whole.startswith("3 jobs, about 35 s on 2 cores (an estimate")
    assert "about 30 s on 8" in report([limits], 8)[-1], "one job is not spread over cores"


def test_what_planning_made_is_removed_and_nothing_that_began_meanwhile(tmp_path):
    made, folder = tmp_path / "runs", tmp_path / "runs/planned"
    (folder / ".snakemake/log").mkdir(parents=True)
    remove_new(folder, made)
    assert list(tmp_path.iterdir()) == []
    (folder / ".snakemake/log").mkdir(parents=True)
    (made / "other/results").mkdir(parents=True)
    remove_new(folder, made)
    assert list(made.iterdir()) == [made / "other"], "another run, in a folder that was not there before"
    folder.mkdir()
    hold(folder, os.getpid())
    remove_new(folder, Path(folder))
    assert (folder / ".snakemake/holder.json").exists(), "the same run"


def test_what_snakemake_cannot_plan_is_refused_in_one_line(tmp_path):
    """As in a run restored without its texts, once a change asks for them."""
    (tmp_path / PROFILE).parent.mkdir(parents=True)
    (tmp_path / PROFILE).write_text("rerun-triggers: [mtime]\n")
    (tmp_path / "Snakefile").write_text('rule one:\n    input: "gone.txt"\n    output: "one.txt"\n')
    with pytest.raises(ValueError, match="cannot be planned: Missing input files for rule one: .*gone.txt$"):
        planned_jobs(tmp_path, tmp_path / "runs/my", [])
    assert not (tmp_path / "runs").exists()
