"""Claims on rates: fits made to fall, to stay flat, to lie below a bound must get that verdict."""

import numpy as np
import pytest

from attnlimit.stats.moment_claims import (
    bound,
    error_fits,
    experiment_above,
    experiment_falls,
    finite_reference_slope,
    horizon_dependence,
    model_remark,
    moment_rate,
    same_horizon,
    untilted,
)
from attnlimit.stats.verdicts import (
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
        (heuristic, {"uncertain": True}, UNTESTED),
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
    (heuristic, {"uncertain": True}, UNTESTED),
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
    (lowered(100, 0.2), {"horizon": MANY, "uncertain": True}, UNTESTED),
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
    assert "someone/small-model, which is not the paper's bert-base-uncased, on 50,000 tokens" in model_remark(data)
    data.attrs["model"] = {"name": "google-bert/bert-base-uncased"}
    assert "not the paper's" not in model_remark(data)


def test_only_errors_of_heads_are_asked():
    """No whole layers, no bias or fluctuation, no spectral norm."""
    table = error_fits(model_rates(heuristic))
    assert len(table) == 2 * 10
    assert set(table["statistic"]) == {"mean", "cov"} and set(table["part"]) == {"error"}
    assert "all" not in set(table["head"])


def test_fits_to_uncertain_limits_are_no_evidence_and_are_counted():
    """20 rates far below the curve: they fail it, unless their limits are too uncertain; one is saturated as well."""
    table = fits(lowered(20, 0.2), horizon=MANY)
    table = table[table["statistic"] == "mean"].reset_index(drop=True)
    below = table["beta_high"] < table["bound_v3"]
    assert bound("id", "bound_v3", "curve", {"heads": table}, THRESHOLDS).verdict == FAILS
    table["limit_uncertain"] = below
    table.loc[below.idxmax(), "saturated"] = True
    record = bound("id", "bound_v3", "curve", {"heads": table}, THRESHOLDS)
    count = int(below.sum())
    assert record.verdict == HOLDS and f"limit uncertain and left out: {count}" in record.in_short
    assert record.measured["limit_uncertain"] == count > 10
    assert record.measured["saturated"] == 0 and record.measured["fits"] == len(table) - count


def test_saturated_and_noisy_fits_are_counted_and_where_they_lie():
    """Of 100 fits 30 are saturated, 20 of these below the curve; 10 others are too noisy to count."""
    table = fits(lowered(0, 0), horizon=MANY)
    mine = table["statistic"] == "mean"
    table = table[mine].reset_index(drop=True)
    table.loc[:29, "saturated"] = True
    table.loc[:19, ["beta", "beta_low", "beta_high"]] -= 0.2
    table.loc[90:, "beta_high"] = table.loc[90:, "beta"] + 0.6
    record = bound("id", "bound_v3", "curve", {"gaussian": table}, THRESHOLDS)
    counted = {name: record.measured[name] for name in ("fits", "below", "saturated", "saturated_below", "too_noisy")}
    assert counted == {"fits": 60, "below": 0, "saturated": 30, "saturated_below": 20, "too_noisy": 10}
    assert record.verdict == HOLDS and "saturated and left out: 30, 20 of them below" in record.in_short
    assert record.could_fail.startswith("yes: 60 of 100 fits could have lain below")


def test_fits_with_an_unresolved_tilt_are_counted_apart():
    """s0 = 2 asks for e^8 = 2981 tokens: below the curve at n from 64 they do not count; at n from 1e6 they do."""
    for sizes, verdict, apart in (((64, 512, 4096), HOLDS, 20), ((10**6, 10**7, 10**8), FAILS, 0)):
        table = fits(
            lowered(10, 0.2), horizon=MANY, n=sizes, labels={"constant_tilt": np.where(np.arange(100) < 10, 2.0, 0)}
        )
        record = bound("id", "bound_v3", "curve", {"gaussian": table}, THRESHOLDS)
        assert (record.verdict, record.measured["apart"]) == (verdict, {"fits": apart, "below": apart})
        assert f"{apart} of {apart} fits below that have a constant tilt" in record.in_short
    model = experiment_above(
        "id",
        "claim",
        fits(lowered(10, 0.2), horizon=MANY, n=(64, 512, 4096), labels={"constant_tilt": np.full(100, 2.0)}),
        [],
        "",
        THRESHOLDS,
    )
    assert model.verdict == FAILS and model.measured["below_with_large_tilt"] == model.measured["below"] == 20


def test_a_violation_as_large_as_the_power_figure_is_seen():
    record = bound("id", "bound_v3", "curve", {"gaussian": fits(lowered(0, 0), horizon=MANY)}, THRESHOLDS)
    drop = record.measured["seen_from"]
    below = bound(
        "id", "bound_v3", "curve", {"gaussian": fits(lowered(50, 0.02 + 1.01 * drop), horizon=MANY)}, THRESHOLDS
    )
    assert below.verdict == FAILS


def test_a_bound_far_below_the_rates_could_hardly_fail():
    record = bound("id", "bound_v1_theorem", "theorem", {"gaussian": fits(heuristic, half=0.001)}, THRESHOLDS)
    assert record.verdict == HOLDS and record.could_fail.startswith("hardly: the median rate is")


def test_settings_with_a_constant_tilt_say_nothing_of_the_horizon():
    table = fits(heuristic, labels={"constant_tilt": np.where(np.arange(10) < 3, 1.0, 0)})
    assert len(untilted(table)) == 14 and (untilted(table)["constant_tilt"] == 0).all()
    assert len(untilted(fits(heuristic))) == 20  # none is known


def test_the_slope_of_a_finite_reference_alone():
    """.457 for n 250 to 4000 and 13,333 tokens; 1/2 against a reference without end."""
    sizes = np.array([250, 500, 1000, 2000, 4000])
    assert finite_reference_slope(sizes, 13333) == pytest.approx(0.457, abs=5e-4)
    assert finite_reference_slope(sizes, 10**12) == pytest.approx(0.5, abs=1e-6)


def test_no_rate_is_asked_to_lie_above_what_a_finite_reference_leaves():
    """Rates of .456 at weak attention lie below the curve there, and not below what the protocol allows."""
    table = fits(lambda h: np.minimum(curve(h) + 0.02, 0.456), horizon=np.linspace(0.01, 2, 20))
    assert experiment_above("id", "claim", table, [], "", THRESHOLDS).verdict == FAILS
    record = experiment_above("id", "claim", table, [], "", THRESHOLDS, 0.456)
    assert record.verdict == HOLDS and record.measured["below_the_curve_alone"] > 0
    low = fits(lambda h: np.minimum(curve(h), 0.456) - 0.05, horizon=np.linspace(0.01, 2, 20))
    assert experiment_above("id", "claim", low, [], "", THRESHOLDS, 0.456).verdict == FAILS
    few = fits(lambda h: curve(h), horizon=np.linspace(0.01, 2, 2))
    assert experiment_above("id", "claim", few, [], "", THRESHOLDS, 0.456).verdict == UNTESTED
