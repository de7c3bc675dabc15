"""The limit on a sphere, against quadrature, other formulas and 40-digit arithmetic."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import beta, ive, roots_jacobi, roots_legendre

from attnlimit.theory.sphere import (
    bessel_ratio,
    sphere_constants,
    sphere_eigenvalues,
    sphere_map,
    sphere_moments,
)
from support.quadrature import softmax_mean

steady = settings(max_examples=12, deadline=None, derandomize=True)


RADII = np.logspace(-6, 12, 73)


def test_bessel_ratio_in_one_and_three_dimensions():
    np.testing.assert_allclose(bessel_ratio(1, RADII), np.tanh(RADII), rtol=1e-13)
    r = RADII[RADII > 0.5]
    np.testing.assert_allclose(bessel_ratio(3, r), 1 / np.tanh(r) - 1 / r, rtol=1e-13)


@pytest.mark.parametrize("d", [2, 3, 50, 768])
def test_bessel_ratio_against_scipy(d):
    top, bottom = ive(d / 2, RADII), ive(d / 2 - 1, RADII)
    usable = np.isfinite(top) & (top > 1e-290)
    assert usable.sum() > 25  # at d = 768 ive gives 0 below r = 54, and nan above 1e9
    np.testing.assert_allclose(bessel_ratio(d, RADII[usable]), top[usable] / bottom[usable], rtol=2e-13)


@pytest.mark.parametrize(
    ("d", "r", "expected"),
    [  # 40-digit arithmetic
        (2, 7.5, 0.93072473434912708691),
        (50, 20.0, 0.35196610465253602722),
        (50, 1e4, 0.99755287903377294302),
        (768, 1.0, 0.0013020811314952971635),
        (768, 54.0, 0.069969157739353837879),
        (768, 1e3, 0.68739958031343785719),
        (768, 1e5, 0.99617233448394760984),
        (4096, 3e3, 0.52816386153771128305),
    ],
)
def test_bessel_ratio_to_all_digits(d, r, expected):
    assert bessel_ratio(d, r) == pytest.approx(expected, rel=3e-14)


@pytest.mark.parametrize("d", [1, 2, 3, 50, 768])
def test_bessel_ratio_solves_its_equation(d):
    r = RADII[RADII < 1e7]
    step = 1e-20 * r  # a complex step: the derivative without a difference
    slope = bessel_ratio(d, r + 1j * step).imag / step
    a = bessel_ratio(d, r)
    np.testing.assert_allclose(slope + a**2 + (d - 1) * a / r, 1, rtol=1e-12)


@pytest.mark.parametrize("d", [1, 2, 3, 50, 768])
def test_bessel_ratio_at_both_ends(d):
    small = np.array([1e-6, 1e-4, 1e-3])
    np.testing.assert_allclose(bessel_ratio(d, small), small / d * (1 - small**2 / (d * (d + 2))), rtol=1e-12)
    large = np.array([1e8, 1e10, 1e12])
    expected = 1 - (d - 1) / (2 * large) + (d - 1) * (d - 3) / (8 * large**2)
    np.testing.assert_allclose(bessel_ratio(d, large), expected, rtol=2e-14)
    assert bessel_ratio(d, 0.0) == 0


@steady
@given(d=st.integers(2, 2000), r=st.floats(1e-6, 1e12))
def test_bessel_ratio_lies_between_amos_bounds(d, r):
    half = (d - 1) / 2
    lower, upper = r / (half + np.hypot(half + 1, r)), r / (half + np.hypot(half, r))
    assert lower * (1 - 1e-13) <= bessel_ratio(d, r) <= upper * (1 + 1e-13)


def gain(q, d, radius):
    return bessel_ratio(d, radius**2 * np.sqrt(q)) ** 2 / q


def sphere_grid(radius, height=100, turns=100):
    """Nodes and weights on the sphere in R^3: Gauss-Legendre in the height, equal steps around the axis."""
    z, weight = roots_legendre(height)
    phi = 2 * np.pi * (np.arange(turns) + 0.5) / turns
    ring = np.sqrt(1 - z**2)[:, None]
    points = np.stack([ring * np.cos(phi), ring * np.sin(phi), z[:, None] + 0 * phi], axis=-1)
    return radius * points.reshape(-1, 3), np.repeat(weight / 2 / turns, turns)


@pytest.mark.parametrize("spectrum", [[1, 0.7, 0.2], [1, 0.5, 0.5], [1, 0.999999, 0.4], [1, 0.6, 0]])
@pytest.mark.parametrize("scale", [0.02, 1, 6])
def test_sphere_eigenvalues_in_three_dimensions(spectrum, scale):
    radius, s = 1.3, scale * np.array(spectrum)
    points, weights = sphere_grid(radius)
    shares = (points / radius) ** 2  # (g, 3)
    expected = radius**2 * s**2 * ((weights * gain(shares @ s**2, 3, radius)) @ shares)
    np.testing.assert_allclose(sphere_eigenvalues(s, radius), expected, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("scale", [1e-3, 1, 8, 60])
def test_sphere_eigenvalues_in_the_plane(scale):
    s = scale * np.array([0.4, 1.0])
    phi = np.pi * (np.arange(4000) + 0.5) / 2000
    shares = np.stack([np.cos(phi) ** 2, np.sin(phi) ** 2], axis=1)
    expected = s**2 * np.mean(gain(shares @ s**2, 2, 1.0)[:, None] * shares, axis=0)
    np.testing.assert_allclose(sphere_eigenvalues(s, 1.0), expected, rtol=1e-12)


@pytest.mark.parametrize("scale", [0.1, 20, 3000])
@pytest.mark.parametrize("second", [0.3, 0.0])
def test_sphere_eigenvalues_of_two_groups(scale, second):
    """20 equal singular values and 30 others: T_1 + ... + T_20 is Beta(10, 15), one Jacobi rule."""
    s = scale * np.repeat([1.0, second], [20, 30])
    nodes, weights = roots_jacobi(400, 14, 9)
    t, weights = (1 + nodes) / 2, weights / 2**24 / beta(10, 15)
    q = s[0] ** 2 * t + s[-1] ** 2 * (1 - t)
    first = s[0] ** 2 / 20 * weights @ (gain(q, 50, 1.0) * t)
    other = s[-1] ** 2 / 30 * weights @ (gain(q, 50, 1.0) * (1 - t))
    found = sphere_eigenvalues(s, 1.0)
    np.testing.assert_allclose(found, np.repeat([first, other], [20, 30]), rtol=1e-11, atol=1e-300)
    # The trace of the covariance is the mean squared length of the output.
    assert found.sum() == pytest.approx(weights @ bessel_ratio(50, np.sqrt(q)) ** 2, rel=1e-11)


def imhof_eigenvalue(i, s, radius):
    """lambda_i by Imhof's formula on the real axis, with F_i the law of q weighted by T_i.

    lambda_i = R^2 s_i^2 / d * (g(q_max) - int g' F_i dq), smooth enough for one Gauss rule when d = 50.
    """
    d, squares = len(s), s**2
    low, high = squares.min(), squares.max()
    nodes, weights = roots_legendre(120)
    q = low + (high - low) * (1 + nodes) / 2  # (q,)
    log_v = np.arange(-34, 6, 0.08)
    v = np.exp(log_v)[:, None, None] / high  # (v, 1, 1)
    freedom = 1.0 + 2.0 * (np.arange(d) == i)
    turns = v * (squares - q[:, None])  # (v, q, d)
    theta = 0.5 * np.arctan(turns) @ freedom
    log_rho = 0.25 * np.log1p(turns**2) @ freedom
    law = 0.5 - 0.08 / np.pi * (np.sin(theta) * np.exp(-log_rho)).sum(axis=0)  # (q,)
    r = radius**2 * np.sqrt(q)
    a = bessel_ratio(d, r)
    slope = (a * (1 - a**2 - (d - 1) * a / r) * r - a**2) / q**2
    integral = (high - low) / 2 * weights @ (slope * law)
    return radius**2 * squares[i] / d * (gain(high, d, radius) - integral)


@pytest.mark.parametrize("scale", [0.5, 20])
def test_sphere_eigenvalues_in_fifty_dimensions_against_imhof(scale):
    s = scale * np.random.default_rng(3).uniform(0.5, 1.0, size=50)
    found = sphere_eigenvalues(s, 1.2)
    for i in (np.argmin(s), np.argmax(s)):
        assert found[i] == pytest.approx(imhof_eigenvalue(i, s, 1.2), rel=1e-10)


@pytest.mark.parametrize("d", [1, 2, 30])
@pytest.mark.parametrize("scale", [1e-6, 4.0, 1e5, 1e12])
def test_sphere_eigenvalues_isotropic(d, scale):
    expected = 1.5**2 * bessel_ratio(d, 1.5**2 * scale) ** 2 / d
    np.testing.assert_allclose(sphere_eigenvalues(np.full(d, scale), 1.5), expected, rtol=1e-12)


@pytest.mark.parametrize("d", [2, 5, 50])
def test_sphere_eigenvalues_at_small_scale(d):
    """a_d(r) = r/d - r^3/(d^2 (d+2)) and E[T_i q] = (sum s^2 + 2 s_i^2) / (d (d+2)) give two orders."""
    radius, s = 2.0, 2e-4 * np.linspace(0.1, 1, d)
    correction = 2 * radius**4 * (np.sum(s**2) + 2 * s**2) / (d * (d + 2) ** 2)
    expected = radius**2 * (radius**2 * s) ** 2 / d**3 * (1 - correction)
    assert correction.max() > 1e-11
    np.testing.assert_allclose(sphere_eigenvalues(s, radius), expected, rtol=1e-12)


def test_eigenvalues_in_the_plane_saturate():
    """At large scale E[s_1^2 cos^2 / (s_1^2 cos^2 + s_2^2 sin^2)] = s_1 / (s_1 + s_2)."""
    for ratio in (1, 0.5, 1e-3, 0):
        found = sphere_eigenvalues(1e24 * np.array([2.0, 2.0 * ratio]), 3.0)
        np.testing.assert_allclose(found, 9 * np.array([1, ratio]) / (1 + ratio), rtol=1e-11)


spectra = st.lists(st.floats(1e-6, 1e3) | st.just(0.0), min_size=1, max_size=30).filter(any)


@steady
@given(spectrum=spectra.map(lambda s: s[:5]).filter(any), radius=st.floats(0.1, 10))
def test_sphere_eigenvalues_order_scale_and_bound(spectrum, radius):
    s = np.array(spectrum)
    eigenvalues = sphere_eigenvalues(s, radius)
    mirrored = radius**2 * sphere_eigenvalues(radius**2 * s[::-1], 1.0)
    np.testing.assert_allclose(mirrored[::-1], eigenvalues, rtol=1e-11)
    assert eigenvalues.sum() <= radius**2 * bessel_ratio(len(s), radius**2 * s.max()) ** 2 * (1 + 1e-12)


def test_no_tilt():
    np.testing.assert_array_equal(sphere_eigenvalues(np.zeros(4), 2.0), np.zeros(4))
    outputs = sphere_map(np.ones((2, 4)), 2.0, np.zeros((4, 4)), np.eye(4))
    np.testing.assert_array_equal(outputs, np.zeros((2, 4)))


def test_sphere_map_and_moments_by_quadrature():
    rng = np.random.default_rng(4)
    matrix, values, radius = rng.normal(size=(3, 3)), rng.normal(size=(2, 3)), 1.4
    nodes, weights = sphere_grid(radius, 60, 60)
    outputs = sphere_map(nodes, radius, matrix, values)
    expected = softmax_mean(nodes[::500] @ matrix.T, nodes, weights) @ values.T
    np.testing.assert_allclose(outputs[::500], expected, rtol=1e-10, atol=1e-12)
    mean, covariance = sphere_moments(radius, matrix, values)
    np.testing.assert_allclose(mean, weights @ outputs, atol=1e-12)
    np.testing.assert_allclose(covariance, (outputs.T * weights) @ outputs, rtol=1e-10)


@pytest.mark.parametrize(("dimension", "radius"), [(2, 0.7), (2, 2.0), (3, 1.0), (3, 3.0)])
def test_constants_are_the_norms_of_the_influence_functions(dimension, radius):
    """psi and psiC of one token by quadrature over the queries: on a circle, and on the sphere in R^3."""
    if dimension == 2:
        angle = 2 * np.pi * (np.arange(400) + 0.5) / 400
        points, shares = radius * np.column_stack([np.cos(angle), np.sin(angle)]), np.full(400, 1 / 400)
    else:
        height, shares = np.polynomial.legendre.leggauss(60)
        angle = 2 * np.pi * np.arange(60) / 60
        ring = np.sqrt(1 - height**2)[:, None]
        points = np.stack([ring * np.cos(angle), ring * np.sin(angle), height[:, None] + 0 * angle], -1).reshape(-1, 3)
        points, shares = radius * points, np.repeat(shares / 2 / 60, 60)
    token = radius * np.eye(dimension)[-1]
    outputs = sphere_map(points, radius, np.eye(dimension), np.eye(dimension))  # (query, d)
    own = sphere_map(token, radius, np.eye(dimension), np.eye(dimension))
    weights = np.exp(points @ token)
    weights /= shares @ weights  # by symmetry the mean over tokens is that over queries
    phi = weights[:, None] * (token - outputs)
    psi = own + shares @ phi
    cross = np.einsum("q,qi,qj->ij", shares, phi, outputs)
    covariance = np.einsum("q,qi,qj->ij", shares, outputs, outputs)
    psi_cov = np.outer(own, own) - covariance + cross + cross.T
    found = sphere_constants(dimension, radius)
    np.testing.assert_allclose(found, [np.linalg.norm(psi), np.linalg.norm(psi_cov)], rtol=1e-8)


def test_constants_end_as_powers_one_and_two():
    mean, covariance = sphere_constants(50, 5000.0)
    assert mean == pytest.approx(5000, rel=1e-5) and covariance == pytest.approx(5000**2 * np.sqrt(0.98), rel=1e-4)
