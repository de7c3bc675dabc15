"""Claims on rates with exact limits: fits made to fall, to stay flat, to lie below a bound get that verdict."""

import numpy as np
import pytest

from attnlimit.questions.gaussian.claims import (
    bound_curve,
    bound_theorem,
    finite_reference_slope,
    gaussian_exact_above,
    gaussian_exact_falls,
    gaussian_published_above,
    gaussian_published_falls,
    horizon_dependence,
    moment_rate,
    same_horizon,
    untilted,
)
from attnlimit.stats.verdicts import FAILS, HARDLY, HOLDS, UNDECIDED
from support.claims import HORIZONS, curve, fits, heuristic, judged, rates


@pytest.mark.parametrize(
    ("beta", "changes", "verdict"),
    [
        (heuristic, {}, HOLDS),
        (lambda h: 0.5 + 0 * h, {}, FAILS),
        (lambda h: 0.48 + 0 * h, {}, FAILS),  # below 1/2, but not by more than the tolerance
        (heuristic, {"half": 0.3}, UNDECIDED),
        (heuristic, {"n": (100, 1000, 10000)}, UNDECIDED),
        (heuristic, {"horizon": np.array([0.3, 1.2])}, UNDECIDED),
        (heuristic, {"saturated": True}, UNDECIDED),
        (heuristic, {"uncertain": True}, UNDECIDED),
    ],
)
def test_moment_rate(beta, changes, verdict):
    changes = {"half": 0.025} | changes
    assert judged(moment_rate, rates(beta, **changes)).verdict == verdict


NOISE = 0.01 * np.array([3, -2, 1, -1, 2, -3, 2, 0, -1, 1])  # of no order


FALLING = [
    (lambda h: heuristic(h) + NOISE[: len(h)], {}, HOLDS),
    (lambda h: 0.5 - heuristic(h) + NOISE[: len(h)], {}, FAILS),
    (
        lambda h: 0.5 + np.tile([0.01, -0.02, 0.02, -0.01], len(h))[: len(h)],
        {"horizon": np.linspace(0.1, 3, 40)},
        FAILS,
    ),
    (lambda h: 0.5 + np.tile([0.02, -0.01, 0.01, -0.03], len(h))[: len(h)], {}, UNDECIDED),  # ten fits decide nothing
    (heuristic, {"horizon": HORIZONS[:5]}, UNDECIDED),
    (heuristic, {"saturated": True}, UNDECIDED),
    (heuristic, {"uncertain": True}, UNDECIDED),
    (heuristic, {"horizon": np.linspace(1.5, 1.6, 12)}, UNDECIDED),  # horizons too alike
    (heuristic, {"half": 0.3}, UNDECIDED),
]


@pytest.mark.parametrize(("beta", "changes", "verdict"), FALLING)
def test_a_rate_that_falls_with_the_horizon(beta, changes, verdict):
    table = fits(beta, **changes)
    assert judged(gaussian_exact_falls, gaussian_published=table.assign(exact=True)).verdict == verdict
    assert dependence(table, table).verdict == verdict


def dependence(gaussian, sphere):
    drawn = gaussian.assign(dimension=2, isotropic=True)
    return judged(horizon_dependence, gaussian_asymptotic=gaussian, gaussian=drawn, sphere=sphere)


def test_one_simulation_without_a_fall_fails_the_claim():
    assert dependence(fits(heuristic), fits(lambda h: 0.5 - heuristic(h))).verdict == FAILS


def test_horizons_at_which_the_curve_is_one_half_are_not_ranked():
    """Eight weak settings in rising order would hide the fall of the others."""
    weak, strong = np.linspace(0.001, 0.09, 8), np.linspace(0.5, 3, 8)
    table = fits(lambda h: np.concatenate([0.3 + weak, heuristic(strong)]), horizon=np.concatenate([weak, strong]))
    record = judged(gaussian_exact_falls, gaussian_published=table.assign(exact=True))
    assert (record.verdict, record.measured["mean"]["fits"]) == (HOLDS, 8)


def lowered(number, by):
    """The paper's curve, less 0.02 to clear it, with some fits below it."""

    def beta(horizon):
        found = curve(horizon) + 0.02
        found[:number] -= by
        return found

    return beta


PUBLISHED_SIZES = np.array([250, 500, 1000, 2000, 4000])
MANY = np.tile(np.linspace(0.05, 1, 20), 5)


BOUNDED = [
    (lowered(0, 0), {}, HOLDS),
    (lowered(10, 0.2), {"horizon": MANY}, FAILS),
    (lowered(1, 0.2), {"horizon": MANY}, FAILS),  # one in a hundred, but surely below
    (lowered(1, 0.031), {"horizon": MANY}, UNDECIDED),  # one in a hundred, hardly below: chance
    (lowered(0, 0), {"horizon": HORIZONS[:2]}, UNDECIDED),
    (lowered(0, 0), {"half": 0.6}, UNDECIDED),  # not even a flat error would be seen below
    (lowered(100, 0.2), {"horizon": MANY, "saturated": True}, UNDECIDED),
    (lowered(100, 0.2), {"horizon": MANY, "uncertain": True}, UNDECIDED),
]


@pytest.mark.parametrize(("beta", "changes", "verdict"), BOUNDED)
def test_a_rate_that_stays_above_the_curve(beta, changes, verdict):
    table = fits(beta, **changes)
    assert judged(bound_curve, gaussian=table).verdict == verdict
    assert judged(gaussian_exact_above, gaussian_published=table.assign(exact=True)).verdict == verdict


def test_the_bound_of_the_theorem_is_the_one_that_is_asked():
    """Above 1/(2(1+32 Psi)) and below 1/(2(1+H^2))."""
    table = fits(lambda h: 0.9 * curve(h), horizon=np.linspace(0.3, 0.6, 10))
    assert judged(bound_theorem, gaussian=table).verdict == HOLDS
    assert judged(bound_curve, gaussian=table).verdict == FAILS
    below = fits(lambda h: 0 * h, horizon=np.linspace(0.05, 0.3, 10))
    assert judged(bound_theorem, gaussian=below).verdict == FAILS


def test_isotropic_and_anisotropic_pairs_by_hand():
    labels = {"dimension": [2, 2, 2, 2], "isotropic": [True, True, False, False]}
    table = fits(lambda h: np.array([0.5, 0.4, 0.51, 0.2]), horizon=np.array([1.0, 2, 1, 2]), labels=labels)
    found = same_horizon(table)  # differences 0.01 and 0.2 with half-intervals of 0.014, for each of two statistics
    assert (found["pairs"], found["differ"]) == (4, 2)
    assert found["largest_difference"] == pytest.approx(0.2)


def test_fits_to_uncertain_limits_are_no_evidence_and_are_counted():
    """20 rates far below the curve: they fail it, unless their limits are too uncertain; one is saturated as well."""
    table = fits(lowered(20, 0.2), horizon=MANY)
    table = table[table["statistic"] == "mean"].reset_index(drop=True)
    below = table["beta_high"] < table["bound_v3"]
    assert judged(bound_curve, heads=table).verdict == FAILS
    table["limit_uncertain"] = below
    table.loc[below.idxmax(), "saturated"] = True
    record = judged(bound_curve, heads=table)
    count = int(below.sum())
    assert record.verdict == HOLDS
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
    record = judged(bound_curve, gaussian=table)
    counted = {name: record.measured[name] for name in ("fits", "below", "saturated", "saturated_below", "too_noisy")}
    assert counted == {"fits": 60, "below": 0, "saturated": 30, "saturated_below": 20, "too_noisy": 10}
    assert record.verdict == HOLDS


def test_fits_with_an_unresolved_tilt_are_counted_apart():
    """s0 = 2 asks for e^8 = 2981 tokens: below the curve at n from 64 they do not count; at n from 1e6 they do."""
    for sizes, verdict, apart in (((64, 512, 4096), HOLDS, 20), ((10**6, 10**7, 10**8), FAILS, 0)):
        table = fits(
            lowered(10, 0.2), horizon=MANY, n=sizes, labels={"constant_tilt": np.where(np.arange(100) < 10, 2.0, 0)}
        )
        record = judged(bound_curve, gaussian=table)
        assert (record.verdict, record.measured["apart"]) == (verdict, {"fits": apart, "below": apart})
    tilted = fits(lowered(10, 0.2), horizon=MANY, n=(64, 512, 4096), labels={"constant_tilt": np.full(100, 2.0)})
    model = judged(gaussian_exact_above, gaussian_published=tilted.assign(exact=True))
    assert model.verdict == FAILS and model.measured["below_with_large_tilt"] == model.measured["below"] == 20


def test_a_violation_as_large_as_the_power_figure_is_seen():
    record = judged(bound_curve, gaussian=fits(lowered(0, 0), horizon=MANY))
    drop = record.measured["seen_from"]
    below = judged(bound_curve, gaussian=fits(lowered(50, 0.02 + 1.01 * drop), horizon=MANY))
    assert below.verdict == FAILS


def test_a_bound_far_below_the_rates_could_hardly_fail():
    record = judged(bound_theorem, gaussian=fits(heuristic, half=0.001))
    assert record.verdict == HOLDS and record.could_fail.startswith(HARDLY)


def test_settings_with_a_constant_tilt_say_nothing_of_the_horizon():
    table = fits(heuristic, labels={"constant_tilt": np.where(np.arange(10) < 3, 1.0, 0)})
    assert len(untilted(table)) == 14 and (untilted(table)["constant_tilt"] == 0).all()
    assert len(untilted(fits(heuristic))) == 20  # none is known


def test_the_slope_of_a_finite_reference_alone():
    """.457 for n 250 to 4000 and 13,333 tokens; 1/2 against a reference without end."""
    assert finite_reference_slope(PUBLISHED_SIZES, 13333) == pytest.approx(0.457, abs=5e-4)
    assert finite_reference_slope(PUBLISHED_SIZES, 10**12) == pytest.approx(0.5, abs=1e-6)


def published(beta, count=20, tokens=13333):
    """Errors to a reference of so many tokens, which imposes a slope of 0.457 on these n."""
    data = rates(beta, horizon=np.linspace(0.01, 2, count), labels={"exact": np.zeros(count, bool)}, n=PUBLISHED_SIZES)
    return data.assign_attrs(reference_tokens=tokens)


def test_no_rate_is_asked_to_lie_above_what_a_finite_reference_imposes():
    """Rates of .456 at weak attention lie below the curve there, and not below what the protocol allows."""
    flattened = published(lambda h: np.minimum(curve(h) + 0.02, 0.456))
    record = judged(gaussian_published_above, flattened)
    assert record.verdict == HOLDS and record.measured["below_the_curve_alone"] > 0
    assert judged(gaussian_published_above, flattened.assign_attrs(reference_tokens=10**12)).verdict == FAILS
    assert judged(gaussian_published_above, published(lambda h: np.minimum(curve(h), 0.456) - 0.05)).verdict == FAILS
    assert judged(gaussian_published_above, published(curve, 2)).verdict == UNDECIDED


def test_errors_to_a_finite_reference_fall_too_or_do_not():
    assert judged(gaussian_published_falls, published(heuristic)).verdict == HOLDS
    assert judged(gaussian_published_falls, published(lambda h: 0.5 - heuristic(h))).verdict == FAILS
