"""Claims on rates: fits made to fall, to stay flat, to lie below a bound must get that verdict."""

import numpy as np
import pytest

from attnlimit.claims.moments import (
    bound,
    error_fits,
    experiment_above,
    experiment_falls,
    horizon_dependence,
    model_remark,
    moment_rate,
    same_horizon,
)
from attnlimit.claims.verdicts import (
    FAILS,
    HOLDS,
    UNTESTED,
)
from support.claims import HORIZONS, THRESHOLDS, curve, fits, heuristic, model_rates, rates


@pytest.mark.parametrize(
    ("beta", "changes", "verdict"),
    [
        (heuristic, {}, HOLDS),
        (lambda h: 0.5 + 0 * h, {}, FAILS),
        (lambda h: 0.48 + 0 * h, {}, FAILS),  # below 1/2, but not by more than the tolerance
        (heuristic, {"half": 0.3}, UNTESTED),
        (heuristic, {"n": (100, 1000, 10000)}, UNTESTED),
        (heuristic, {"horizon": np.array([0.3, 1.2])}, UNTESTED),
        (heuristic, {"saturated": True}, UNTESTED),
    ],
)
def test_moment_rate(beta, changes, verdict):
    changes = {"half": 0.025} | changes
    assert moment_rate(fits(beta, **changes), THRESHOLDS).verdict == verdict


NOISE = 0.01 * np.array([3, -2, 1, -1, 2, -3, 2, 0, -1, 1])  # of no order


FALLING = [
    (lambda h: heuristic(h) + NOISE[: len(h)], {}, HOLDS),
    (lambda h: 0.5 - heuristic(h) + NOISE[: len(h)], {}, FAILS),
    (
        lambda h: 0.5 + np.tile([0.01, -0.02, 0.02, -0.01], len(h))[: len(h)],
        {"horizon": np.linspace(0.1, 3, 40)},
        FAILS,
    ),
    (lambda h: 0.5 + np.tile([0.02, -0.01, 0.01, -0.03], len(h))[: len(h)], {}, UNTESTED),  # ten fits decide nothing
    (heuristic, {"horizon": HORIZONS[:5]}, UNTESTED),
    (heuristic, {"saturated": True}, UNTESTED),
    (heuristic, {"horizon": np.linspace(1.5, 1.6, 12)}, UNTESTED),  # horizons too alike
    (heuristic, {"half": 0.3}, UNTESTED),
]


@pytest.mark.parametrize(("beta", "changes", "verdict"), FALLING)
def test_a_rate_that_falls_with_the_horizon(beta, changes, verdict):
    table = fits(beta, **changes)
    assert experiment_falls("id", "claim", table, [], "", THRESHOLDS).verdict == verdict
    same = {"pairs": 0, "differ": 0, "by_chance": 0.0}
    assert horizon_dependence({"one": table, "two": table}, same, THRESHOLDS).verdict == verdict


def test_one_simulation_without_a_fall_fails_the_claim():
    same = {"pairs": 0, "differ": 0, "by_chance": 0.0}
    groups = {"good": fits(heuristic), "bad": fits(lambda h: 0.5 - heuristic(h))}
    assert horizon_dependence(groups, same, THRESHOLDS).verdict == FAILS


def test_horizons_at_which_the_curve_is_one_half_are_not_ranked():
    """Eight weak settings in rising order would hide the fall of the others."""
    weak, strong = np.linspace(0.001, 0.09, 8), np.linspace(0.5, 3, 8)
    table = fits(lambda h: np.concatenate([0.3 + weak, heuristic(strong)]), horizon=np.concatenate([weak, strong]))
    record = experiment_falls("id", "claim", table, [], "", THRESHOLDS)
    assert (record.verdict, record.measured["mean"]["fits"]) == (HOLDS, 8)


def lowered(number, by):
    """The paper's curve, less 0.02 to clear it, with some fits below it."""

    def beta(horizon):
        found = curve(horizon) + 0.02
        found[:number] -= by
        return found

    return beta


MANY = np.tile(np.linspace(0.05, 1, 20), 5)


BOUNDED = [
    (lowered(0, 0), {}, HOLDS),
    (lowered(10, 0.2), {"horizon": MANY}, FAILS),
    (lowered(1, 0.2), {"horizon": MANY}, FAILS),  # one in a hundred, but surely below
    (lowered(1, 0.031), {"horizon": MANY}, UNTESTED),  # one in a hundred, hardly below: chance
    (lowered(0, 0), {"horizon": HORIZONS[:2]}, UNTESTED),
    (lowered(0, 0), {"half": 0.6}, UNTESTED),  # not even a flat error would be seen below
    (lowered(100, 0.2), {"horizon": MANY, "saturated": True}, UNTESTED),
]


@pytest.mark.parametrize(("beta", "changes", "verdict"), BOUNDED)
def test_a_rate_that_stays_above_the_curve(beta, changes, verdict):
    table = fits(beta, **changes)
    assert bound("id", "bound_v3", "curve", {"gaussian": table}, THRESHOLDS).verdict == verdict
    assert experiment_above("id", "claim", table, [], "", THRESHOLDS).verdict == verdict


def test_the_bound_of_the_theorem_is_the_one_that_is_asked():
    """Above 1/(2(1+32 Psi)) and below 1/(2(1+H^2))."""
    table = fits(lambda h: 0.9 * curve(h), horizon=np.linspace(0.3, 0.6, 10))
    assert bound("id", "bound_v1_theorem", "theorem", {"gaussian": table}, THRESHOLDS).verdict == HOLDS
    assert bound("id", "bound_v3", "curve", {"gaussian": table}, THRESHOLDS).verdict == FAILS
    below = fits(lambda h: 0 * h, horizon=np.linspace(0.05, 0.3, 10))
    assert bound("id", "bound_v1_theorem", "theorem", {"gaussian": below}, THRESHOLDS).verdict == FAILS


def test_isotropic_and_anisotropic_pairs_by_hand():
    labels = {"dimension": [2, 2, 2, 2], "isotropic": [True, True, False, False]}
    table = fits(lambda h: np.array([0.5, 0.4, 0.51, 0.2]), horizon=np.array([1.0, 2, 1, 2]), labels=labels)
    found = same_horizon(table)  # differences 0.01 and 0.2 with half-intervals of 0.014, for each of two statistics
    assert (found["pairs"], found["differ"]) == (4, 2)
    assert found["largest_difference"] == pytest.approx(0.2)


def test_the_model_is_named_and_told_from_the_papers():
    data = rates(heuristic, population=50000, model={"name": "someone/small-model"})
    assert "someone/small-model, which is not the paper's bert-base-uncased, on 50000 tokens" in model_remark(data)
    data.attrs["model"] = {"name": "google-bert/bert-base-uncased"}
    assert "not the paper's" not in model_remark(data)


def test_only_errors_of_heads_are_asked():
    """No whole layers, no bias or fluctuation, no spectral norm."""
    table = error_fits(model_rates(heuristic))
    assert len(table) == 2 * 10
    assert set(table["statistic"]) == {"mean", "cov"} and set(table["part"]) == {"error"}
    assert "all" not in set(table["head"])
