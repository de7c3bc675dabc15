"""Ratios are taken within a round, medians over the rounds, and the machine is measured beside each run."""

import numpy as np
import pytest

from attnlimit.bench.rounds import Lap, Roof, measure_roof, ratios, run_rounds, spread
from attnlimit.bench.table import cell

SLOW, FAST = Roof(1e9, 1e9), Roof(4e9, 4e9)


def test_a_machine_that_slows_down_changes_no_ratio():
    """Four times slower in the second round: both contenders are, and twice as fast stays twice as fast."""
    ours, theirs = [Lap(1, FAST), Lap(4, SLOW)], [Lap(2, FAST), Lap(8, SLOW)]
    assert ratios(ours, theirs) == [2, 2]
    assert ratios(theirs, ours) == [0.5, 0.5]


def test_one_bad_round_of_five_moves_the_quartile_not_the_median():
    assert spread("x", [6, 6, 6, 6, 60]) == {"x": 6, "x_quartiles": [6, 6]}
    assert spread("x", [1, 2, 3, 4, 5]) == {"x": 3, "x_quartiles": [2, 4]}
    assert spread("x", [7]) == {"x": 7, "x_quartiles": None}
    assert spread("x", None) == {"x": None, "x_quartiles": None}


def test_every_contender_runs_once_a_round_in_changing_order():
    order = []
    methods = {name: lambda name=name: order.append(name) or len(order) for name in "abc"}
    laps, results = run_rounds(methods, 6, np.random.default_rng(0), lambda: SLOW)
    rounds = [order[start : start + 3] for start in range(0, 18, 3)]
    assert all(sorted(each) == ["a", "b", "c"] for each in rounds)
    assert len({tuple(each) for each in rounds}) > 1
    assert {name: len(own) for name, own in laps.items()} == {"a": 6, "b": 6, "c": 6}
    assert max(results.values()) == 18  # what was returned last


def test_the_roof_of_a_run_is_that_before_and_after_it():
    """The first is thrown away; the machine gets faster from then on."""
    speeds = iter(np.arange(10) ** 2.0)
    laps, _ = run_rounds({"only": lambda: None}, 3, np.random.default_rng(0), lambda: Roof(next(speeds), 1))
    assert [lap.roof.flops for lap in laps["only"]] == [2.5, 6.5, 12.5]


def test_the_roof_is_a_speed():
    roof = measure_roof(side=256, passes=50)
    assert 1e8 < roof.flops < 1e13 and 1e6 < roof.exponentials < 1e12


@pytest.mark.parametrize(
    ("number", "quartiles", "shown"), [(None, None, ""), (6.12, None, "6.1"), (6.12, [5.93, 6.4], "6.1 (5.9-6.4)")]
)
def test_a_cell_shows_what_there_is(number, quartiles, shown):
    assert cell("{:.1f}", number, quartiles) == shown
