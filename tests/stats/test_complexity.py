"""n(eps) of curves whose crossing is known, and the kinds of answer at the ends of the measured range."""

import numpy as np
import pytest

from attnlimit.stats.complexity import SHARES, token_complexity, tokens_needed
from attnlimit.stats.power_law import Bootstrap, Curve, error_curve

SIZES = np.array([64, 128, 256, 512, 1024])


def needed(value, level) -> float:
    return float(tokens_needed(SIZES, np.asarray(value, float), np.asarray(level, float)))


@pytest.mark.parametrize("beta", [0.2, 0.5, 1.0])
@pytest.mark.parametrize("tokens", [64.5, 100, 512, 1023, 1500, 10_000])
def test_a_power_law_gives_its_exact_crossing_inside_and_beyond(beta, tokens):
    """c n^-beta = eps at n = (c / eps)^(1 / beta)."""
    level = 3 * tokens**-beta
    assert needed(3 * SIZES**-beta, level) == pytest.approx((3 / level) ** (1 / beta), rel=1e-10)
    assert needed(3 * SIZES**-beta, level) == pytest.approx(tokens, rel=1e-10)


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [(64, 64), (10, 64), (1024 * 9.99, 1024 * 9.99), (1024 * 10.01, np.inf), (1e9, np.inf)],
)
def test_ends_of_what_is_said(tokens, expected):
    """At most the smallest size; extrapolated up to ten times the largest; more than that."""
    assert needed(SIZES**-0.5, tokens**-0.5) == pytest.approx(expected)


def test_between_two_sizes_the_logarithms_are_linear():
    """From 8 at 128 to 2 at 256 the value passes 4 half way in log n; the rest of the curve does not matter."""
    assert needed([100, 8, 2, 1.9, 0.1], 4) == pytest.approx(128 * np.sqrt(2))
    assert needed([9, 8, 2, 2, 2], 4) == pytest.approx(128 * np.sqrt(2))


def test_an_error_that_rises_again_has_not_come_to_stay():
    assert needed([8, 2, 8, 2, 1], 4) == pytest.approx(256 * np.sqrt(2))
    assert needed([2, 2, 2, 8, 2], 4) == pytest.approx(512 * np.sqrt(2))
    assert needed([2, 2, 2, 2, 2], 2) == 64


def test_beyond_the_largest_size_the_slope_is_that_of_a_factor_of_three_or_more():
    """256 is the nearest size three times below 1024: from 8 to 4 over a factor of 4, a slope of 1/2."""
    assert needed([99, 20, 8, 3.9, 4], 2) == pytest.approx(4096)


@pytest.mark.parametrize("value", [[5, 5, 5, 5, 5], [1, 1, 5, 5, 6], [8, 7, 5, 4, 5]])
def test_a_curve_that_does_not_fall_is_never_done(value):
    assert needed(value, 3) == np.inf


def test_a_curve_or_a_scale_that_is_not_known_has_no_answer():
    assert np.isnan(needed([8, np.nan, 2, 1, 1], 4))
    assert np.isnan(needed([8, 4, 2, 1, 1], np.nan))


def test_an_error_of_zero_is_below_every_level():
    assert needed([8, 4, 2, 0, 0], 1) == pytest.approx(256)
    assert needed([0, 0, 0, 0, 0], 1) == 64


def noisy(scatter, replicates=50, units=4):
    rng = np.random.default_rng(0)
    errors = SIZES**-0.5 * np.exp(scatter * rng.normal(size=(units, replicates, len(SIZES))))
    return error_curve(errors, Bootstrap(500, True, rng))


def test_units_have_their_own_scales_and_each_share_its_tokens():
    """n^-1/2 is eps times the scale at n = (eps scale)^-2."""
    scale = np.array([0.4, 0.5, 1.0, 10.0])
    found = token_complexity(SIZES, noisy(0), scale)
    expected = (np.array(SHARES)[:, None] * scale) ** -2.0
    expected[expected < 64], expected[expected > 10_240] = 64, np.inf
    np.testing.assert_allclose(found["tokens_needed"], expected)
    for end in ("tokens_needed_low", "tokens_needed_high"):
        np.testing.assert_allclose(found[end], expected)  # without noise an interval has no width
    np.testing.assert_array_equal(found["tokens_needed_extrapolated"], (expected > 1024) & np.isfinite(expected))


def test_an_interval_may_have_no_upper_end_where_the_estimate_is_finite():
    """Close to ten times the largest size some draws need more, and the interval says so."""
    found = token_complexity(SIZES, noisy(0.3, replicates=30, units=40), np.full(40, 9500**-0.5 / SHARES[0]))
    open_ended = np.isfinite(found["tokens_needed"][0]) & np.isinf(found["tokens_needed_high"][0])
    assert open_ended.any()
    assert np.isfinite(found["tokens_needed_low"][0][open_ended]).all()
    assert (found["tokens_needed_low"] <= found["tokens_needed"]).all() and (
        found["tokens_needed"] <= found["tokens_needed_high"]
    ).all()


def test_draws_are_those_of_the_curve():
    """An interval whose draws are two curves, one half and one twice the error, spans a factor of four in each."""
    value = SIZES**-0.5 * np.ones((1, 1))
    drawn = np.repeat(np.array([0.5, 2.0])[:, None, None] * value, 100, axis=0)
    curve = Curve(value, 0 * value, drawn, 0 * drawn, items=30, joint=True)
    found = token_complexity(SIZES, curve, np.array([300**-0.5 / SHARES[0]]))
    ends = [float(found[name][0, 0]) for name in ("tokens_needed_low", "tokens_needed", "tokens_needed_high")]
    assert ends == pytest.approx([75, 300, 1200])
