"""Laws of tokens: their limits and limit processes, against quadrature of the definitions."""

import numpy as np
import pytest

from attnlimit.questions.uniform.laws import LAWS, circle_edge_deviation, gaussian_edge_deviation
from support.quadrature import gaussian_grid, softmax_mean

LINE, PLANE, INTERVAL, CIRCLE = (law for laws in LAWS.values() for law in laws)
ALL = (LINE, PLANE, INTERVAL, CIRCLE)


def quadrature(law):
    """Nodes (node, dimension) and weights, finer than the law's own."""
    if law.name == "gaussian":
        return gaussian_grid(np.zeros(law.dimension), np.eye(law.dimension))
    if law.name == "interval":
        nodes, weights = np.polynomial.legendre.leggauss(200)
        return nodes[:, None], weights / 2
    angles = 2 * np.pi * (np.arange(300) + 0.3) / 300
    return np.column_stack([np.cos(angles), np.sin(angles)]), np.full(300, 1 / 300)


def influence(law, tilt):
    """e^{<t,X>} (X - Gamma(t)) / E e^{<t,X>} at the nodes (node, dimension), Gamma by quadrature; and the weights."""
    nodes, weights = quadrature(law)
    exponential = np.exp(nodes @ tilt)
    centre = softmax_mean(tilt[None], nodes, weights)[0]
    return (exponential / (weights @ exponential))[:, None] * (nodes - centre), weights


@pytest.mark.parametrize("law", ALL, ids=lambda law: law.label)
def test_the_limit_is_the_softmax_mean(law):
    nodes, weights = quadrature(law)
    points = np.random.default_rng(0).uniform(-3, 3, (20, law.dimension))
    np.testing.assert_allclose(law.limit(points), softmax_mean(points, nodes, weights), rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(law.limit(np.zeros((2, 3, law.dimension))), np.zeros((2, 3, law.dimension)))


@pytest.mark.parametrize("law", ALL, ids=lambda law: law.label)
def test_draws_have_the_moments_of_the_law(law):
    nodes, weights = quadrature(law)
    tokens = law.draw(np.random.default_rng(1), 40_000)
    assert tokens.shape == (40_000, law.dimension)
    for power in (1, 2, 4):
        expected = weights @ nodes**power
        drawn = tokens**power
        assert (np.abs(drawn.mean(0) - expected) < 4.5 * drawn.std(0) / 200).all()
    if law.compact:
        assert np.linalg.norm(tokens, axis=1).max() <= 1 + 1e-12


@pytest.mark.parametrize("law", ALL, ids=lambda law: law.label)
@pytest.mark.parametrize("radius", [0, 0.7, 1.5])
def test_edge_deviation_is_that_of_the_influence_function(law, radius):
    drawn, weights = influence(law, radius * np.eye(law.dimension)[0])
    assert law.edge_deviation(radius) == pytest.approx(np.sqrt(weights @ (drawn**2).sum(1)), rel=1e-9)


@pytest.mark.parametrize("law", [INTERVAL, CIRCLE], ids=lambda law: law.label)
@pytest.mark.parametrize("radius", [4, 8, 16])
def test_far_from_the_centre_too(law, radius):
    drawn, weights = influence(law, radius * np.eye(law.dimension)[0])
    assert law.edge_deviation(radius) == pytest.approx(np.sqrt(weights @ (drawn**2).sum(1)), rel=1e-9)


@pytest.mark.parametrize("dimension", [1, 2])
def test_the_edge_of_a_gaussian_outgrows_every_exponential(dimension):
    radius = np.array([0, 0.7, 1.5, 4])
    expected = np.exp(radius**2 / 2) * np.hypot(dimension**0.5, radius)
    assert [gaussian_edge_deviation(each, dimension) for each in radius] == pytest.approx(expected)


def test_the_edge_of_the_circle_falls_like_a_fourth_root():
    """Its square tends to sqrt(pi / (4 R)); at zero it is the variance of the tokens."""
    assert circle_edge_deviation(0) == pytest.approx(1)
    assert circle_edge_deviation(200) == pytest.approx((np.pi / 800) ** 0.25, rel=0.01)


POINTS = {
    1: np.array([[1.5], [-0.8], [0.0]]),
    2: np.array([[0.5, -0.3], [0.1, 0.5], [-0.4, 0.0]]),
}


@pytest.mark.parametrize("law", ALL, ids=lambda law: law.label)
def test_the_limit_process_has_the_covariance_of_the_influence_function(law):
    """One draw for each unit coefficient: the products of their values, summed, are the covariance without noise."""
    points = POINTS[law.dimension] * (8 if law.compact else 1)
    shape = {"gaussian, d = 1": (60,), "gaussian, d = 2": (18, 18)}.get(law.label, law.coefficients)
    units = np.eye(np.prod(shape)).reshape(-1, *shape)
    values = law.process(units, points)  # (draw, point, dimension)
    covariance = np.einsum("npi,nqj->piqj", values, values)
    drawn = np.stack([influence(law, point)[0] for point in points])  # (point, node, dimension)
    expected = np.einsum("pni,qnj,n->piqj", drawn, drawn, quadrature(law)[1])
    np.testing.assert_allclose(covariance, expected, rtol=1e-9, atol=1e-10)
    for number, point in enumerate(points):
        variance = np.trace(covariance[number, :, number])
        assert np.sqrt(variance) == pytest.approx(law.edge_deviation(np.linalg.norm(point)), rel=1e-9)
