"""The largest error over a ball, against hand-made maps, quadrature and exact expectations."""

import numpy as np
import pytest

from attnlimit.questions.uniform import measure as uniform
from attnlimit.questions.uniform.laws import LAWS
from attnlimit.questions.uniform.measure import (
    Balls,
    Grid,
    balls_of,
    errors_on_balls,
    limit_suprema,
    outputs_on_circles,
    replicate,
    simulate,
)
from support.configs import DEFAULT

GRID = Grid(0.125, 16)
RADII = [0.25, 0.5, 1, 2]
ALL = [law for laws in LAWS.values() for law in laws]


def gaussian(dimension, radii=RADII, grid=GRID):
    return Balls(LAWS["gaussian"][dimension - 1], radii, grid)


@pytest.mark.parametrize("dimension", [1, 2])
@pytest.mark.parametrize("at_once", [2**15, 160])
def test_the_power_recursion_is_the_softmax(dimension, at_once, monkeypatch):
    """In one block of tokens and in several, the last one shorter."""
    monkeypatch.setattr(uniform, "NUMBERS_AT_ONCE", at_once)
    tokens = 3 + 2 * np.random.default_rng(0).normal(size=(97, dimension))
    rays, edges = GRID.rays(dimension), GRID.circles([0.5, 4])
    outputs, effective = outputs_on_circles(tokens, rays, GRID.step, edges)
    assert outputs.shape == (33, len(rays), dimension)
    for circle in (0, 1, 4, 17, 32):
        scores = GRID.step * circle * tokens @ rays.T  # (token, ray)
        weights = np.exp(scores - scores.max(0))
        weights /= weights.sum(0)
        np.testing.assert_allclose(outputs[circle], weights.T @ tokens, rtol=1e-12)
        if circle in edges:
            np.testing.assert_allclose(effective[list(edges).index(circle)], 1 / (weights**2).sum(0), rtol=1e-12)


@pytest.mark.parametrize("dimension", [1, 2])
def test_one_token_is_everyone_s_output(dimension):
    """Gamma_1 = X, so that the error is largest at -R X / |X|: R + |X|. This token lies on a ray of the grid."""
    found = errors_on_balls(np.eye(1, dimension) * -0.7, gaussian(dimension))
    np.testing.assert_allclose(found["sup"], 0.7 + np.array(RADII))
    np.testing.assert_allclose(found["sup_coarse"], found["sup"])
    np.testing.assert_allclose(found["effective"], 1)


@pytest.mark.parametrize("step", [0.25, 0.125, 0.0625])
def test_the_grid_misses_the_square_of_its_step(step):
    """Tokens a and -a give Gamma_2(x) = a tanh(a x). For a = 2 the error a tanh(a x) - x is largest within the ball,
    where cosh(a x) = a; its second derivative is -2 a tanh(a x) there: a grid misses at most that times step^2 / 8.
    """
    a, radius = 2.0, 1.5
    top = np.arccosh(a) / a
    largest = a * np.tanh(a * top) - top
    found = errors_on_balls(np.array([[a], [-a]]), gaussian(1, [radius], Grid(step, 4)))
    fine, coarse = found["sup"][0], found["sup_coarse"][0]
    missed = 1.1 * 2 * a * np.tanh(a * top) * step**2 / 8  # a tenth for the next order
    assert largest - missed <= fine <= largest
    assert largest - 4 * missed <= coarse <= fine


def test_a_finer_grid_finds_more_and_the_gap_foretells_it():
    """On 40 samples in a plane: what the fine grid misses is about a third of its gain on the coarse one."""
    tokens = [np.random.default_rng([1, number]).normal(size=(200, 2)) for number in range(40)]
    found = [errors_on_balls(sample, gaussian(2, [1.5], Grid(0.125, 32))) for sample in tokens]
    fine, coarse = (np.array([sample[name][0] for sample in found]) for name in ("sup", "sup_coarse"))
    fine_grid = gaussian(2, [1.5], Grid(0.03125, 128))
    finest = np.array([errors_on_balls(sample, fine_grid)["sup"][0] for sample in tokens])
    assert (coarse <= fine).all() and (fine <= finest * (1 + 1e-12)).all()  # rounding of another recursion
    gap, missed = (1 - coarse / fine).mean(), (1 - fine / finest).mean()
    assert 0 < missed < gap < 0.03
    assert missed == pytest.approx(gap / 3, rel=0.6)


def test_radii_off_the_grid_are_refused():
    for radii in ([0.25, 0.3], [0.125]):
        with pytest.raises(ValueError, match="multiples of 0.25"):
            GRID.circles(radii)


@pytest.mark.parametrize("law", ALL, ids=lambda law: law.label)
def test_balls_beyond_the_limit_process_are_refused(law):
    with pytest.raises(ValueError, match=f"{law.label} goes up to {law.largest_radius}"):
        Balls(law, [1, law.largest_radius + 0.25], GRID)


@pytest.mark.parametrize("law", ALL, ids=lambda law: law.label)
def test_another_radius_changes_no_other_number(law):
    more = [0.25, 0.5, 0.75, 1, 2, 3.5]
    common = [more.index(radius) for radius in RADII]
    both = [Balls(law, radii, GRID) for radii in (RADII, more)]
    few, many = (replicate(5, balls, 300, 7) for balls in both)
    for name, numbers in few.items():
        np.testing.assert_array_equal(numbers, many[name][common])
    few, many = (limit_suprema(5, balls, 3) for balls in both)
    np.testing.assert_array_equal(few, many[:, common])
    np.testing.assert_allclose(few, limit_suprema(5, both[0], 5)[:3], rtol=1e-12)


def test_each_law_size_and_number_has_its_own_sample():
    addresses = [(5, law, 300, 7) for law in ALL] + [(6, ALL[0], 300, 7), (5, ALL[0], 301, 7), (5, ALL[0], 300, 8)]
    suprema = {
        float(replicate(seed, Balls(law, [1], GRID), size, number)["sup"][0]) for seed, law, size, number in addresses
    }
    assert len(suprema) == len(addresses)
    first = {ball.stream(5, purpose, 300).random() for ball in map(gaussian, (1, 2)) for purpose in ("", "limit")}
    first |= {Balls(law, [1], GRID).stream(5, purpose, 300).random() for law in ALL[2:] for purpose in ("", "limit")}
    assert len(first) == 2 * len(ALL)


@pytest.mark.parametrize("law", ALL, ids=lambda law: law.label)
def test_in_a_tiny_ball_the_error_is_that_of_the_mean(law):
    """sqrt(n) |mean| is about |N(0, S)|, S the tokens' covariance, and so is the limit process at zero, exactly."""
    variance = {"gaussian": 1, "interval": 1 / 3, "circle": 1 / 2}[law.name]
    expected = np.sqrt(variance * {1: 2 / np.pi, 2: np.pi / 2}[law.dimension])
    balls = Balls(law, [2e-6], Grid(1e-6, 4))
    sup = np.array([replicate(0, balls, 50, number)["sup"][0] for number in range(1000)]) * 50**0.5
    assert abs(sup.mean() - expected) < 4 * sup.std() / 1000**0.5
    sup = limit_suprema(0, balls, 2000)
    assert abs(sup.mean() - expected) < 4 * sup.std() / 2000**0.5


@pytest.mark.parametrize("law", ALL, ids=lambda law: law.label)
def test_the_error_reaches_the_limit_process(law):
    """At n = 2000 the constant is the limit's within noise; of a compact law at a much larger radius."""
    radius, grid = (4, Grid(0.25, 32)) if law.compact else (0.75, GRID)
    size, count, balls = 2000, 300, Balls(law, [radius], grid)
    sup = np.array([replicate(1, balls, size, number)["sup"][0] for number in range(count)]) * np.sqrt(size)
    limit = limit_suprema(1, balls, 2000)
    assert abs(sup.mean() - limit.mean()) < 4 * np.hypot(sup.std() / count**0.5, limit.std() / 2000**0.5)
    assert sup.std() / count**0.5 < 0.05 * sup.mean()


def test_the_constant_of_the_interval_is_bounded():
    """C(R) = .610, .655, .676, .682 at R = 1, 2, 4, 8: 12,000 samples of n = 1000 by plain softmax, each +- .003."""
    limit = limit_suprema(1, Balls(LAWS["interval"][0], [1, 2, 4, 8], Grid(0.125, 4)), 4000)
    error = np.hypot(limit.std(0) / np.sqrt(len(limit)), 0.003)
    assert (np.abs(limit.mean(0) - [0.6105, 0.6554, 0.6761, 0.6820]) < 4 * error).all()
    assert (4 * error < 0.03).all()


def test_the_store_holds_every_sample_of_every_law():
    """NaN where a size is too large for a plane; the limit process and the edge beside them."""
    sizes, radii = [50, 100, 200], [0.5, 1.0]
    of_laws = [Balls(law, radii, GRID) for law in ALL]
    raw = simulate(of_laws, sizes, 100, 4, 30, seed=5)
    assert raw["sup"].dims == ("setting", "replicate", "n")
    labels = ["gaussian, d = 1", "gaussian, d = 2", "interval, d = 1", "circle, d = 2"]
    np.testing.assert_array_equal(raw["law"], np.repeat(labels, 2))
    np.testing.assert_array_equal(raw["setting"], [f"{label}, R = {radius:g}" for label in labels for radius in radii])
    np.testing.assert_array_equal(raw["dimension"], [1, 1, 2, 2, 1, 1, 2, 2])
    np.testing.assert_array_equal(raw["radius"], radii * 4)
    np.testing.assert_array_equal(raw["compact"], [False] * 4 + [True] * 4)
    missing = np.isnan(raw["sup"]).transpose("n", "setting", "replicate")
    assert not missing[:2].any()
    np.testing.assert_array_equal(missing[2].all("replicate"), raw["dimension"] == 2)
    np.testing.assert_array_equal(missing[2].any("replicate"), raw["dimension"] == 2)
    for setting, (balls, place) in enumerate((balls, place) for balls in of_laws for place in range(2)):
        own = replicate(5, balls, 100, 3)
        for name in ("sup", "sup_coarse", "effective"):
            assert raw[name].isel(setting=setting).sel(replicate=3, n=100) == own[name][place]
        limit = limit_suprema(5, balls, 30)[:, place]
        assert raw["clt_sup"][setting] == pytest.approx(limit.mean(), rel=1e-12)
        assert raw["clt_edge"][setting] == balls.law.edge_deviation(radii[place])


def test_laws_have_the_order_of_the_store_whatever_the_config_s():
    settings = DEFAULT["simulate_uniform"] | {"laws": ["circle", "gaussian"]}
    balls = balls_of(settings)
    assert [ball.law.label for ball in balls] == ["gaussian, d = 1", "gaussian, d = 2", "circle, d = 2"]
    assert [ball.radii for ball in balls] == [settings["radii"]] * 2 + [settings["compact_radii"]]
    assert [ball.grid.step for ball in balls] == [settings["step"]] * 2 + [settings["compact_step"]]
