"""Claims on rates with exact limits: fits made to fall, to stay flat, to lie below a bound get that verdict."""

import numpy as np
import pytest

from attnlimit.questions.gaussian.claims import (
    bound_curve,
    gaussian_reference,
    horizon_dependence,
    moment_rate,
    reference_change,
    same_horizon,
    through_origin,
    untilted,
)
from attnlimit.questions.gaussian.power import POWER
from attnlimit.stats.claim import Finding, error_fits
from attnlimit.stats.horizon_tests import coefficient, falls_with_horizon, stays_above
from attnlimit.stats.verdicts import FAILS, HOLDS, UNDECIDED
from support.claims import HORIZONS, THRESHOLDS, curve, fits, heuristic, judged, rates


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


FALLING = [
    (heuristic, {}, HOLDS),
    (lambda h: 0.5 - 0.3 * (0.5 - curve(h)), {}, HOLDS),
    (lambda h: 0.5 + 0 * h, {}, FAILS),
    (lambda h: 1 - heuristic(h), {}, FAILS),  # rises
    (heuristic, {"horizon": HORIZONS[:5]}, UNDECIDED),
    (heuristic, {"saturated": True}, UNDECIDED),
    (heuristic, {"uncertain": True}, UNDECIDED),
    (heuristic, {"horizon": np.linspace(1.5, 1.6, 12), "half": 0.05}, UNDECIDED),  # horizons too alike
    (heuristic, {"half": 0.5}, UNDECIDED),
]


@pytest.mark.parametrize(("beta", "changes", "verdict"), FALLING)
def test_a_rate_that_falls_with_the_horizon(beta, changes, verdict):
    table = fits(beta, **changes)
    assert dependence(table).verdict == verdict
    one = table[table["statistic"] == "mean"]
    assert falls_with_horizon(one, THRESHOLDS).verdict == verdict


def dependence(gaussian, **others) -> Finding:
    tables = {
        "gaussian_asymptotic": gaussian,
        "gaussian": gaussian.assign(dimension=2, isotropic=True),
        "gaussian_published": gaussian.assign(exact=True),
        "sphere": gaussian,
    }
    return judged(horizon_dependence, **(tables | others))


def test_one_simulation_without_a_fall_fails_the_claim_and_is_named():
    record = dependence(fits(heuristic), sphere=fits(lambda h: 0.5 + 0 * h))
    assert record.verdict == FAILS and record.p < 0.001
    assert record.measured["sphere"]["mean"]["high"] < THRESHOLDS["weakest_coefficient"]
    assert "sphere: mean +0.00" in record.why


@pytest.mark.parametrize("planted", [0.0, 0.4, 1.0])
def test_the_coefficient_is_the_planted_one_with_any_constant(planted):
    """beta = a - c (1/2 - curve): exact for every a if it is free, for a = 1/2 if it is not; by group, each its own."""
    one = fits(lambda h: 0.5 - planted * (0.5 - curve(h)))
    moved = one.assign(beta=one["beta"] + 0.1 * (one["statistic"] == "mean"))
    assert coefficient(one).value == pytest.approx(planted) == coefficient(one, half=True).value
    assert coefficient(moved, ["statistic"]).value == pytest.approx(planted)
    assert coefficient(moved, half=True).value != pytest.approx(planted)


def test_the_interval_of_a_coefficient_holds_the_truth_in_95_of_100():
    """With scatter beyond the noise of the fits, too, unless it is asked of these fits alone."""
    stream, held = np.random.default_rng(4), {False: 0, True: 0}
    table = fits(curve)
    table = table[table["statistic"] == "mean"].reset_index(drop=True)
    sd = 0.01 / 1.96
    for _ in range(2000):
        for extra in held:
            noise = stream.normal(size=len(table)) * sd * (3 if extra else 1)
            found = coefficient(
                table.assign(beta=table["beta"] + noise, beta_low=-0.01, beta_high=0.01), these=not extra
            )
            held[extra] += found.low < 1 < found.high
    assert held[False] / 2000 == pytest.approx(0.95, abs=0.02)
    assert held[True] / 2000 == pytest.approx(0.95, abs=0.02)


def test_horizons_at_which_the_curve_is_one_half_do_not_count():
    """Eight weak settings with odd rates."""
    weak, strong = np.linspace(0.001, 0.09, 8), np.linspace(0.5, 3, 8)
    table = fits(lambda h: np.concatenate([0.3 + weak, heuristic(strong)]), horizon=np.concatenate([weak, strong]))
    record = dependence(table)
    assert (record.verdict, record.measured["sphere"]["mean"]["fits"]) == (HOLDS, 8)


def lowered(number, by):
    """The paper's curve, less 0.02 to clear it, with some fits below it."""

    def beta(horizon):
        found = curve(horizon) + 0.02
        found[:number] -= by
        return found

    return beta


PUBLISHED_SIZES = np.array([250, 500, 1000, 2000, 4000])
MANY = np.tile(np.linspace(0.1, 1, 20), 5)


def bounded(table, **others) -> Finding:
    nothing = fits(heuristic)[:0]
    tables = dict.fromkeys(("gaussian_asymptotic", "sphere"), nothing)
    return judged(bound_curve, gaussian=table, gaussian_published=nothing.assign(exact=True), **(tables | others))


BOUNDED = [
    (lowered(0, 0), {}, HOLDS),
    (lowered(10, 0.2), {"horizon": MANY}, FAILS),
    (lowered(1, 0.2), {"horizon": MANY}, FAILS),  # one in a hundred, but surely below
    (lowered(1, 0.031), {"horizon": MANY}, HOLDS),  # one in a hundred, hardly below: chance
    (lowered(12, 0.031), {"horizon": MANY}, FAILS),  # twelve of them are more than chance
    (lowered(0, 0), {"horizon": HORIZONS[:3]}, UNDECIDED),
    (lowered(0, 0), {"half": 0.6}, UNDECIDED),  # not even a flat error would be seen below
    (lowered(0, 0), {"half": 0.06}, UNDECIDED),  # no fit is precise to the tolerance
    (lowered(100, 0.04), {"horizon": MANY, "half": 0.04}, UNDECIDED),  # just below, and not seen to be
    (lowered(100, 0.2), {"horizon": MANY, "saturated": True}, UNDECIDED),
    (lowered(100, 0.2), {"horizon": MANY, "uncertain": True}, UNDECIDED),
]


@pytest.mark.parametrize(("beta", "changes", "verdict"), BOUNDED)
def test_a_rate_that_stays_above_the_curve(beta, changes, verdict):
    record = bounded(fits(beta, **changes))
    assert record.verdict == verdict, record.in_short
    assert (record.p <= 0.05) == (verdict != UNDECIDED)


def test_intervals_of_rates_are_95_percent_at_any_level():
    """On the curve, 1 in 40 of them lies below by chance, whatever the level of the verdict."""
    table = fits(lowered(12, 0.031), horizon=MANY)
    table = table[table["statistic"] == "mean"]
    for level in (0.9, 0.95, 0.99):
        part = stays_above(table, table["bound_v3"], THRESHOLDS | {"level": level})
        assert part.measured["below_by_chance"] == pytest.approx(part.measured["fits"] / 40)


def test_of_rates_on_the_curve_a_verdict_is_wrong_in_few():
    """Where allowed_below was a coin toss: a hundred rates on the edge fail in at most one of twenty."""
    stream, wrong = np.random.default_rng(8), 0
    for _ in range(200):
        noise = stream.normal(size=100) * 0.01 / 1.96
        wrong += bounded(fits(lambda h, noise=noise: curve(h) + noise, horizon=MANY)).verdict == FAILS
    assert wrong / 200 < 0.09


def test_the_bound_of_the_theorem_is_told_and_not_judged():
    """Above 1/(2(1+32 Psi)) and below 1/(2(1+H^2)); then below both."""
    below = fits(lambda h: 0.9 * curve(h), horizon=np.linspace(0.3, 0.6, 10), half=0.001)
    assert bounded(below).verdict == FAILS and bounded(below).measured["below_the_theorem"] == 0
    flat = fits(lambda h: 0 * h, horizon=np.linspace(0.1, 0.3, 10))
    assert bounded(flat).measured["below_the_theorem"] == 20


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
    assert bounded(table).verdict == FAILS
    table["limit_uncertain"] = below
    table.loc[below.idxmax(), "saturated"] = True
    record = bounded(table)
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
    record = bounded(table)
    counted = {name: record.measured[name] for name in ("fits", "below", "saturated", "saturated_below", "too_noisy")}
    assert counted == {"fits": 60, "below": 0, "saturated": 30, "saturated_below": 20, "too_noisy": 10}
    assert record.verdict == HOLDS


def test_fits_with_an_unresolved_tilt_are_counted_apart():
    """s0 = 2 asks for e^8 = 2981 tokens: below the curve at n from 64 they do not count; at n from 1e6 they do."""
    for sizes, verdict, apart in (((64, 512, 4096), HOLDS, 20), ((10**6, 10**7, 10**8), FAILS, 0)):
        table = fits(
            lowered(10, 0.2), horizon=MANY, n=sizes, labels={"constant_tilt": np.where(np.arange(100) < 10, 2.0, 0)}
        )
        record = bounded(table)
        assert (record.verdict, record.measured["apart"]) == (verdict, {"fits": apart, "below": apart})


def test_a_violation_as_large_as_the_power_figure_is_seen():
    record = bounded(fits(lowered(0, 0), horizon=MANY))
    drop = record.measured["seen_from"]
    below = bounded(fits(lowered(50, 0.02 + 1.01 * drop), horizon=MANY))
    assert below.verdict == FAILS


def test_settings_with_a_constant_tilt_say_nothing_of_the_horizon():
    table = fits(heuristic, labels={"constant_tilt": np.where(np.arange(10) < 3, 1.0, 0)})
    assert len(untilted(table)) == 14 and (untilted(table)["constant_tilt"] == 0).all()
    assert len(untilted(fits(heuristic))) == 20  # none is known


def test_what_a_finite_reference_takes_of_a_rate():
    """.457 is left for n 250 to 4000 and 13,333 tokens; nothing is lost to a reference without end."""
    assert 0.5 - reference_change(0.5, PUBLISHED_SIZES, 13333) == pytest.approx(0.457, abs=5e-4)
    assert reference_change(0.5, PUBLISHED_SIZES, 10**12) == pytest.approx(0, abs=1e-6)


def test_a_slope_through_the_origin_by_hand():
    slope, low, high = through_origin(np.array([1.0, 2.0]), np.array([1.0, 3.0]))
    assert slope == pytest.approx(7 / 5)
    assert (high - slope) == pytest.approx(12.706 * np.sqrt(((1 - 1.4) ** 2 + (3 - 2.8) ** 2) / 5), rel=1e-4)
    assert slope - low == pytest.approx(high - slope)


def referred(times, count=12, **changes):
    """Errors to a reference of 13,333 tokens, which takes so many times what quadrature does."""
    horizon = np.tile(np.linspace(0.1, 2, count), 2)
    beta = curve(horizon[:count])
    taken = np.array([reference_change(one, PUBLISHED_SIZES, 13333) for one in beta])
    taken *= times + 0.1 * np.resize([1, -1], count)
    labels = {"exact": np.arange(2 * count) < count, "scale": np.tile(np.arange(count), 2)}
    both = np.concatenate([beta, beta - taken])
    return rates(lambda h: both, horizon, labels=labels, n=PUBLISHED_SIZES, reference_tokens=13333, **changes)


@pytest.mark.parametrize(
    ("times", "changes", "verdict"),
    [
        (1, {}, HOLDS),
        (1.3, {}, HOLDS),
        (0, {}, FAILS),  # the reference is of no matter
        (2, {}, FAILS),
        (1.5, {}, UNDECIDED),
        (1, {"count": 4}, UNDECIDED),
        (1, {"saturated": True}, UNDECIDED),
    ],
)
def test_a_finite_reference_adds_its_own_error(times, changes, verdict):
    record = judged(gaussian_reference, referred(times, **changes))
    assert record.verdict == verdict
    assert ("of the change that quadrature gives" in record.number) == ("coefficient" in record.measured)


@pytest.mark.parametrize("name", ["moment_rate", "gaussian_reference"])
def test_planted_truths_are_told_apart(name):
    """One draw of each, as `make power` makes them."""
    claim = {"moment_rate": moment_rate, "gaussian_reference": gaussian_reference}[name]
    found = [
        judged(claim, *POWER[name][1](truth, np.random.default_rng(1)).values()).verdict for truth in (True, False)
    ]
    assert found == [HOLDS, FAILS]


def test_published_errors_have_two_rows_of_the_dependence():
    data = error_fits(referred(1))
    record = dependence(fits(heuristic), gaussian_published=data)
    assert {"published experiment, exact limit", "published experiment, finite reference"} <= set(record.measured)


def test_one_fit_that_carries_a_fall_is_not_enough():
    """Rates of 1/2 at every H but one, far out, that lies on the curve: the coefficient is about 1/2, and fails."""
    horizon = np.append(np.geomspace(0.2, 1.5, 20), 12.0)
    fits = error_fits(rates(lambda h: np.where(h > 10, 0.5 / (1 + h**2), 0.5), horizon))
    part = falls_with_horizon(fits[fits["statistic"] == "mean"], THRESHOLDS)
    assert part.measured["low"] > 0 and part.measured["coefficient"] > 0.4
    assert part.measured["least_high"] < THRESHOLDS["weakest_coefficient"]
    assert part.verdict == FAILS and part.p < 0.05
