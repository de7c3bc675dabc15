"""The largest error over a ball, against hand-made maps, quadrature and exact expectations."""

import numpy as np
import pytest

from attnlimit.experiments import uniform
from attnlimit.experiments.uniform import (
    Grid,
    edge_deviation,
    errors_on_balls,
    limit_process,
    limit_suprema,
    outputs_on_circles,
    replicate,
    simulate,
)
from support.quadrature import gaussian_grid

GRID = Grid(0.125, 16)
RADII = [0.25, 0.5, 1, 2]


def influence(tilt, tokens):
    """e^{<t,X> - K(t)} (X - Gamma(t)) for N(0, I)."""
    return np.exp(tokens @ tilt - tilt @ tilt / 2)[:, None] * (tokens - tilt)


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
    found = errors_on_balls(np.eye(1, dimension) * -0.7, RADII, GRID)
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
    found = errors_on_balls(np.array([[a], [-a]]), [radius], Grid(step, 4))
    fine, coarse = found["sup"][0], found["sup_coarse"][0]
    missed = 1.1 * 2 * a * np.tanh(a * top) * step**2 / 8  # a tenth for the next order
    assert largest - missed <= fine <= largest
    assert largest - 4 * missed <= coarse <= fine


def test_a_finer_grid_finds_more_and_the_gap_foretells_it():
    """On 40 samples in a plane: what the fine grid misses is about a third of its gain on the coarse one."""
    tokens = [np.random.default_rng([1, number]).normal(size=(200, 2)) for number in range(40)]
    found = [errors_on_balls(sample, [1.5], Grid(0.125, 32)) for sample in tokens]
    fine, coarse = (np.array([sample[name][0] for sample in found]) for name in ("sup", "sup_coarse"))
    finest = np.array([errors_on_balls(sample, [1.5], Grid(0.03125, 128))["sup"][0] for sample in tokens])
    assert (coarse <= fine).all() and (fine <= finest * (1 + 1e-12)).all()  # rounding of another recursion
    gap, missed = (1 - coarse / fine).mean(), (1 - fine / finest).mean()
    assert 0 < missed < gap < 0.03
    assert missed == pytest.approx(gap / 3, rel=0.6)


def test_radii_off_the_grid_are_refused():
    for radii in ([0.25, 0.3], [0.125], [6.25]):
        with pytest.raises(ValueError, match="multiples of 0.25"):
            GRID.circles(radii)


@pytest.mark.parametrize("dimension", [1, 2])
def test_another_radius_changes_no_other_number(dimension):
    more = [0.25, 0.5, 0.75, 1, 2, 3.5]
    common = [more.index(radius) for radius in RADII]
    few, many = (replicate(5, dimension, 300, 7, radii, GRID) for radii in (RADII, more))
    for name, numbers in few.items():
        np.testing.assert_array_equal(numbers, many[name][common])
    few, many = (limit_suprema(5, dimension, 3, radii, GRID) for radii in (RADII, more))
    np.testing.assert_array_equal(few, many[:, common])
    np.testing.assert_allclose(few, limit_suprema(5, dimension, 5, RADII, GRID)[:3], rtol=1e-12)


def test_each_dimension_size_and_number_has_its_own_sample():
    addresses = [(5, 1, 300, 7), (6, 1, 300, 7), (5, 2, 300, 7), (5, 1, 301, 7), (5, 1, 300, 8)]
    assert len({float(replicate(*address, [1], GRID)["sup"][0]) for address in addresses}) == len(addresses)


@pytest.mark.parametrize("dimension", [1, 2])
@pytest.mark.parametrize("radius", [0, 0.7, 1.5])
def test_edge_deviation_is_that_of_the_influence_function(dimension, radius):
    nodes, weights = gaussian_grid(np.zeros(dimension), np.eye(dimension))
    squares = (influence(radius * np.eye(dimension)[0], nodes) ** 2).sum(1)
    assert edge_deviation(radius, dimension) == pytest.approx(np.sqrt(weights @ squares), rel=1e-9)
    assert edge_deviation(radius, dimension) == pytest.approx(np.exp(radius**2 / 2) * np.hypot(dimension**0.5, radius))


@pytest.mark.parametrize("points", [[[1.5], [-0.8], [0.0]], [[0.5, -0.3], [0.1, 0.5], [-0.4, 0.0]]])
def test_the_limit_process_has_the_covariance_of_the_influence_function(points):
    """One draw for each unit coefficient: the products of their values, summed, are the covariance without noise."""
    points = np.array(points)
    count, dimension = points.shape
    terms = 60 if dimension == 1 else 18
    units = np.eye(terms**dimension).reshape(-1, *(terms,) * dimension)
    values = limit_process(units, points)  # (draw, point, dimension)
    found = np.einsum("npi,nqj->piqj", values, values)
    nodes, weights = gaussian_grid(np.zeros(dimension), np.eye(dimension))
    drawn = np.stack([influence(point, nodes) for point in points])  # (point, node, dimension)
    np.testing.assert_allclose(found, np.einsum("pni,qnj,n->piqj", drawn, drawn, weights), rtol=1e-9, atol=1e-10)
    for point in range(count):
        variance = np.trace(found[point, :, point])
        assert np.sqrt(variance) == pytest.approx(edge_deviation(np.linalg.norm(points[point]), dimension), rel=1e-12)


@pytest.mark.parametrize(("dimension", "expected"), [(1, np.sqrt(2 / np.pi)), (2, np.sqrt(np.pi / 2))])
def test_in_a_tiny_ball_the_error_is_that_of_the_mean(dimension, expected):
    """sqrt(n) |mean| is exactly |N(0, I)|, and so is the limit process at zero."""
    grid = Grid(1e-6, 4)
    sup = np.array([replicate(0, dimension, 50, number, [2e-6], grid)["sup"][0] for number in range(1000)]) * 50**0.5
    assert abs(sup.mean() - expected) < 4 * sup.std() / 1000**0.5
    sup = limit_suprema(0, dimension, 2000, [2e-6], grid)
    assert abs(sup.mean() - expected) < 4 * sup.std() / 2000**0.5


@pytest.mark.parametrize("dimension", [1, 2])
def test_the_error_reaches_the_limit_process(dimension):
    """At R = 0.75 and n = 2000 the constant is the limit's within noise, and far from the edge deviation in a plane."""
    size, count = 2000, 300
    sup = np.array([replicate(1, dimension, size, number, [0.75], GRID)["sup"][0] for number in range(count)])
    sup *= np.sqrt(size)
    limit = limit_suprema(1, dimension, 2000, [0.75], GRID)
    assert abs(sup.mean() - limit.mean()) < 4 * np.hypot(sup.std() / count**0.5, limit.std() / 2000**0.5)
    assert sup.std() / count**0.5 < 0.05 * sup.mean()


def test_the_store_holds_every_sample_of_a_line_and_a_plane():
    """NaN where a size is too large for a plane; the limit process and the edge beside them."""
    sizes, radii = [50, 100, 200], [0.5, 1.0]
    raw = simulate(sizes, 100, radii, 4, 30, GRID, seed=5)
    assert raw["sup"].dims == ("setting", "replicate", "n")
    np.testing.assert_array_equal(raw["dimension"], [1, 1, 2, 2])
    np.testing.assert_array_equal(raw["radius"], [0.5, 1, 0.5, 1])
    missing = np.isnan(raw["sup"]).transpose("n", "setting", "replicate")
    assert missing[2, 2:].all() and not missing[:2].any() and not missing[2, :2].any()
    names = ["d = 1, R = 0.5", "d = 1, R = 1", "d = 2, R = 0.5", "d = 2, R = 1"]
    assert raw["setting"].values.tolist() == names
    for setting, name_of_ball in enumerate(names):
        dimension, place = 1 + setting // 2, setting % 2
        own = replicate(5, dimension, 100, 3, radii, GRID)
        for name in ("sup", "sup_coarse", "effective"):
            assert raw[name].sel(setting=name_of_ball, replicate=3, n=100) == own[name][place]
        limit = limit_suprema(5, dimension, 30, radii, GRID)[:, place]
        assert raw["clt_sup"][setting] == pytest.approx(limit.mean(), rel=1e-12)
        assert raw["clt_edge"][setting] == edge_deviation(radii[place], dimension)
