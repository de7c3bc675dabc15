"""Tokens on a sphere: the law of the draws, the closed-form limit against simulation, addresses."""

import numpy as np
import pytest

from attnlimit.questions.sphere.fit import exact_constants
from attnlimit.questions.sphere.measure import (
    Setting,
    attended,
    choose_settings,
    errors_at,
    errors_of,
    scaled,
    simulate,
    simulate_constants,
    tilt,
    token_covariance,
    unit_heads,
)
from attnlimit.sampling.layout import measure_settings
from attnlimit.sampling.protocol import Protocol
from attnlimit.stats.fits import fit_errors
from attnlimit.stats.power_law import Bootstrap
from attnlimit.theory.geometry import horizons
from attnlimit.theory.sphere import sphere_moments

PROTOCOL = Protocol([20, 40, 80], replicates=6, group=2, nested=True, seed=7, device="cpu", dtype="float64")
RADIUS = 1.5


def test_tokens_are_uniform_on_the_sphere():
    (setting,) = choose_settings(unit_heads(4, seed=3), RADIUS, [1], [])
    tokens = setting.draw(np.random.default_rng(0), 20_000)
    np.testing.assert_allclose(np.linalg.norm(tokens, axis=1), RADIUS)
    # Coordinates have variance R^2/d and fourth moment 3 R^4 / (d (d + 2)): standard errors follow.
    assert np.abs(tokens.mean(0)).max() < 4 * RADIUS / np.sqrt(4 * 20_000)
    squares = np.sqrt(3 / 24 - 1 / 16) * RADIUS**2 / np.sqrt(20_000)
    covariance = tokens.T @ tokens / len(tokens)
    assert np.abs(covariance - token_covariance(4, RADIUS)).max() < 4.5 * squares


def test_settings_have_the_horizons_asked_for():
    heads = unit_heads(6, seed=3)
    settings = choose_settings(heads, RADIUS, [0.05, 2], [10])
    assert [setting.name for setting in settings] == ["horizon 0.05", "horizon 2", "scale 10"]
    found = [horizons(setting.covariance, tilt(setting.heads))["horizon"] for setting in settings]
    assert found[:2] == pytest.approx([0.05, 2], rel=1e-12)
    key, query = heads.key_weight[0], heads.query_weight[0]
    by_hand = RADIUS**2 / 6 * np.linalg.norm(100 * key.T @ query / np.sqrt(6), 2)
    assert found[2] == pytest.approx(by_hand, rel=1e-12)
    assert [setting.labels["published"] for setting in settings] == [False, False, True]
    assert settings[2].labels["scale"] == 10


def test_simulation_reaches_the_closed_form():
    """Moments at n and 2n extrapolated to 1/n = 0, which removes the bias of order 1/n: within 4 standard errors."""
    heads = unit_heads(4, seed=5)
    (setting,) = choose_settings(heads, RADIUS, [0.6], [])
    protocol = PROTOCOL._replace(sizes=[1000, 2000], replicates=100)
    mean, covariance = sphere_moments(RADIUS, tilt(setting.heads), heads.value_weight[0])
    extrapolated = []
    for half, full in simulate(setting, protocol):
        differences = 2 * full.covariance - half.covariance - covariance
        extrapolated.append([*(2 * full.mean - half.mean - mean), *differences[np.triu_indices(4)]])
    extrapolated = np.array(extrapolated)
    z = extrapolated.mean(0) / (extrapolated.std(0, ddof=1) / np.sqrt(len(extrapolated)))
    assert len(z) == 14
    assert np.abs(z).max() < 4
    # The check has teeth: the standard errors are small against the limit.
    assert extrapolated.std(0).max() / 10 < 0.05 * np.linalg.norm(covariance, 2)


@pytest.mark.parametrize("nested", [True, False])
def test_other_settings_change_no_number(nested):
    heads, protocol = unit_heads(5, seed=PROTOCOL.seed), PROTOCOL._replace(nested=nested)
    few = {setting.name: errors_of(setting, protocol) for setting in choose_settings(heads, 1.0, [1], [9])}
    many = choose_settings(heads, 1.0, [0.2, 1, 3], [2, 9, 50])
    for setting in many:
        if setting.name in few:
            again = errors_of(setting, protocol)
            assert all(np.array_equal(again[name], numbers) for name, numbers in few[setting.name].items())
    first, second = (errors_of(Setting(name, 1.0, heads, {}), protocol) for name in ("one", "other"))
    assert not np.isclose(first["error"][0], second["error"][0]).any()  # the same scale, other tokens


def test_more_replicates_leave_the_first_as_they_are():
    (setting,) = choose_settings(unit_heads(5, seed=PROTOCOL.seed), 1.0, [1], [])
    few, many = (errors_of(setting, PROTOCOL._replace(replicates=count)) for count in (6, 10))
    np.testing.assert_array_equal(many["error"][:, :6], few["error"])


def test_attention_at_a_published_scale_is_a_hardmax():
    heads = unit_heads(50, seed=1)
    flat, sharp = (Setting("", 1.0, scaled(heads, scale), {}) for scale in (0.0, 1e5))
    protocol = PROTOCOL._replace(sizes=[300])
    counts = [attended(setting, protocol) for setting in (flat, sharp)]
    assert counts == pytest.approx([300, 1], rel=1e-3)


def test_float32_serves_at_the_largest_published_scale():
    """Scores near 1e11 are rounded to thousands there, and still order the tokens as float64 does."""
    (setting,) = choose_settings(unit_heads(50, seed=1), 1.0, [], [1e5])
    protocol = PROTOCOL._replace(sizes=[100, 400])
    single, double = (errors_of(setting, protocol._replace(dtype=dtype)) for dtype in ("float32", "float64"))
    np.testing.assert_allclose(single["error"][1], double["error"][1], rtol=1e-4)


def test_store_is_what_the_fit_reads():
    heads = unit_heads(5, seed=2)
    settings = choose_settings(heads, 1.0, [0.3, 1], [10])
    errors = measure_settings(settings, errors_of, PROTOCOL, "test")
    assert errors["cov_gram"].dims == ("setting", "n", "group", "group_2")
    rates = fit_errors(
        errors,
        [Bootstrap(50, True, np.random.default_rng(number)) for number in range(3)],
        misfit=3,
        saturated=0.5,
    )
    assert rates["beta"].dims == ("statistic", "part", "setting")
    assert np.isfinite(rates["beta"].sel(part=["error", "fluctuation"], statistic=["mean", "cov"])).all()
    np.testing.assert_allclose(rates["horizon"][:2], [0.3, 1])
    np.testing.assert_array_equal(rates["published"], [False, False, True])
    np.testing.assert_array_equal(rates["attended"], errors["attended"])


@pytest.mark.parametrize(("dimension", "radius"), [(1, 0.5), (1, 2.0), (3, 2.0), (5, 1.5)])
def test_drawn_errors_have_the_exact_constants(dimension, radius):
    """sqrt(n) times the root mean square error at n = 300, against first order: within 4 standard errors, and 3 %."""
    squares = 300 * errors_at(dimension, radius, 300, 300, seed=5) ** 2  # (statistic, replicate)
    drawn, exact = squares.mean(1), np.array(exact_constants(dimension, radius)) ** 2
    assert (np.abs(drawn - exact) < 4 * squares.std(1) / np.sqrt(300) + 0.06 * exact).all()
    assert (np.abs(drawn - 2 * exact) > 4 * squares.std(1) / np.sqrt(300)).all()  # another constant would be seen


def test_drawn_constants_are_addressed_by_law_and_radius():
    options = {"dimension": 3, "radii": [0.5, 1], "size": 20, "replicates": 3}
    found = simulate_constants(options, seed=4)
    assert found["error"].shape == (4, 2, 3)
    np.testing.assert_array_equal(found["drawn_dimension"], [1, 1, 3, 3])
    fewer = simulate_constants(options | {"radii": [1], "replicates": 2}, seed=4)
    np.testing.assert_array_equal(fewer["error"], found["error"][[1, 3], :, :2])
