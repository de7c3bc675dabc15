"""What changed is told in the names of the config."""

import yaml

from attnlimit.cli.forecast import Planned, changes, parsed, report
from attnlimit.workflow.costs import expected_seconds
from support.workflow import ROOT

CONFIG = yaml.safe_load((ROOT / "config.yaml").read_text())
FIT = CONFIG["fit_rates"]


def test_a_key_of_the_rules_own_section():
    before = FIT | {"bootstrap": 200}
    assert changes("fit_rates", {"settings": FIT}, [before], CONFIG) == ["fit_rates.bootstrap: 200 -> 1000"]


def test_a_key_of_another_section_a_top_key_and_the_code():
    settings = CONFIG["fit_uniform"] | {"bootstrap": FIT["bootstrap"], "misfit": FIT["misfit"]}
    now = {"settings": settings, "seed": CONFIG["seed"], "code": "0123456789abcdef"}
    before = [7, "fedcba9876543210", settings | {"misfit": 4}]
    lines = changes("fit_uniform", now, before, CONFIG)
    assert lines[:2] == ["fit_rates.misfit: 4 -> 3", f"seed: 7 -> {CONFIG['seed']}"]
    assert lines[2].startswith("code: ") and len(lines) == 3


def test_a_value_outside_of_a_section_is_named_by_where_it_stands():
    lines = changes("measure_geometry", {"block": 8192}, [4096], CONFIG)
    assert lines == ["compute_limits.block: 4096 -> 8192"]


def test_a_whole_config_names_its_keys_in_full():
    before = CONFIG | {"fit_rates": FIT | {"misfit": 4}, "layers": [0]}
    lines = changes("compose_page", {"config": CONFIG}, [before], CONFIG)
    assert lines == ["layers: [0] -> [0, 1, 2, 3, 4, 5]", "fit_rates.misfit: 4 -> 3"]


def test_a_new_key_and_one_that_went():
    before = {key: value for key, value in FIT.items() if key != "misfit"} | {"older": 1}
    lines = changes("fit_rates", {"settings": FIT}, [before], CONFIG)
    assert lines == ["fit_rates.misfit: (none) -> 3", "older: 1 -> (none)"]
    assert changes("fit_rates", {}, [3], CONFIG) == ["fewer parameters"]


def test_recorded_values_are_read_back_or_kept_as_text():
    assert parsed("{'a': [1, 2.5], 'b': None}") == {"a": [1, 2.5], "b": None}
    assert parsed("<object>") == "<object>"


def test_the_report_counts_jobs_and_sums_their_time():
    limits, fit = "compute_limits", "fit_rates"
    jobs = [Planned("all", ()), Planned(limits, ("not there yet",)), Planned(limits, ("not there yet",))]
    jobs.append(Planned(fit, ("fit_rates.misfit: 4 -> 3", "an input is made again")))
    head, first, second, whole = report(CONFIG, jobs, 2)
    assert first.split()[:2] == [limits, "2"] and first.endswith("  not there yet")
    assert second.endswith("  fit_rates.misfit: 4 -> 3"), "a reason of its own comes before that of its inputs"
    spent = 2 * expected_seconds(CONFIG, limits) + expected_seconds(CONFIG, fit)
    assert whole.startswith(f"3 jobs, about {spent / 2:.0f} s on 2 cores (an estimate")
    alone = report(CONFIG, jobs[1:2], 8)[-1]
    assert f"about {expected_seconds(CONFIG, limits):.0f} s on 8" in alone, "one job is not spread over cores"
