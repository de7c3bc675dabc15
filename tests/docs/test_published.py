"""Tables of the published size: what changed between two runs is reported correctly."""

import numpy as np
import pandas as pd
import pytest

from support.pages import program

published = program("published")
HEADS = pd.MultiIndex.from_product([[0, 1], ["0", "1"]], names=["layer", "head"])


class Kept:
    """A run as tables see it: errors of four heads that take spent core-seconds."""

    model, text, name, config, estimates = "m", "text", "run", None, {}

    def __init__(self, population: int, spent: float, held: float) -> None:
        self.population = population
        self.costs = pd.DataFrame({"jobs": [1], "seconds": [spent], "held": [held]}, index=["measure_geometry"])


def test_powers_of_cost_are_those_of_the_numbers():
    runs = [Kept(size, 20 * (size / 1000) ** 1.5, 300.0) for size in (1000, 4000, 64000)]
    assert "| 1.50 | 1.50 | 0.00 |" in published.growth_rows(runs).splitlines()[-1].replace("-0.00", "0.00")


def test_the_power_of_the_last_step_is_its_own():
    runs = [Kept(1000, 20, 300.0), Kept(2000, 20, 300.0), Kept(8000, 80, 600.0)]
    assert "| 1.00 |" in published.growth_rows(runs).splitlines()[-1]


def table(**columns) -> pd.DataFrame:
    return pd.DataFrame(columns, index=HEADS)


def test_intervals_that_do_not_meet_are_counted():
    before = table(beta=[0.45] * 4, beta_low=[0.4] * 4, beta_high=[0.5] * 4)
    after = table(beta=[0.5, 0.55, 0.35, 0.55], beta_low=[0.45, 0.51, 0.3, 0.5], beta_high=[0.6, 0.6, 0.39, 0.6])
    assert published.moved(before, after, "beta", "{:+.2f}", None).endswith("; 2 disjoint")


def test_the_largest_change_is_named_and_what_is_infinite_left_out():
    after = table(horizon=[1.0, 0.5, np.inf, 2.5])
    said = published.moved(table(horizon=[1.0] * 4), after, "horizon", "×{:.2f}", np.log)
    assert said.startswith("×1.00 [") and said.endswith("largest ×2.50 (1.1)")


@pytest.mark.parametrize(("largest", "above"), [(0.029, "0 of 4 heads;"), (0.031, "1 of 4 heads (layer.head 1.1);")])
def test_heads_whose_limit_is_not_sharp_are_named(largest, above):
    run = Kept(10, 1, 1)
    run.title, run.heads = "m", lambda _: pd.DataFrame({"limit_se_share": [0.01, 0.02, 0.01, largest]}, index=HEADS)
    assert above in published.precision(run)
