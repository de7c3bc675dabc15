"""Laws of tokens for the uniform error: how to draw them, their limit with A = V = I, and its limit process.

sqrt(n) (Gamma_n - Gamma) tends to a Gaussian process Z, the sum of the tokens' influence functions
e^{<t,X>} (X - Gamma(t)) / E e^{<t,X>}.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from attnlimit.theory.gaussian import gaussian_clt
from attnlimit.theory.interval import interval_clt, interval_map
from attnlimit.theory.sphere import bessel_ratio, sphere_map

TERMS = 128  # of a Gaussian's limit process along each axis, enough up to its largest radius
NODES = 128  # of a compact law's; its integrands, e^{<s+t,x>} times a square, are entire: exact to rounding
GAUSSIAN_RADIUS, COMPACT_RADIUS = 6, 16  # largest that the limit processes serve


class Law(NamedTuple):
    """A law of tokens in one dimension; points and tokens are (…, dimension)."""

    name: str
    dimension: int
    compact: bool
    largest_radius: float
    draw: Callable[[np.random.Generator, int], np.ndarray]  # n tokens
    limit: Callable[[np.ndarray], np.ndarray]  # Gamma at points
    edge_deviation: Callable[[float], float]  # root mean square of |Z(x)|, |x| = R
    coefficients: tuple[int, ...]  # how many standard normals make one draw of Z
    process: Callable[[np.ndarray, np.ndarray], np.ndarray]  # (draw, *coefficients), points -> (draw, point, dimension)

    @property
    def label(self) -> str:
        return f"{self.name}, d = {self.dimension}"


def gaussian_law(dimension: int) -> Law:
    """N(0, I), with Gamma(x) = x. On a line it is every Gaussian in other units: only sigma |A| R counts."""
    return Law(
        "gaussian",
        dimension,
        compact=False,
        largest_radius=GAUSSIAN_RADIUS,
        draw=lambda stream, size: stream.standard_normal((size, dimension)),
        limit=lambda points: points,
        edge_deviation=partial(gaussian_edge_deviation, dimension=dimension),
        coefficients=(TERMS,) * dimension,
        process=gaussian_process,
    )


def interval_law() -> Law:
    """Uniform on [-1, 1]."""
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    return Law(
        "interval",
        1,
        compact=True,
        largest_radius=COMPACT_RADIUS,
        draw=lambda stream, size: stream.uniform(-1, 1, (size, 1)),
        limit=interval_map,
        edge_deviation=lambda radius: float(np.sqrt(interval_clt(radius))),
        coefficients=(NODES,),
        process=partial(compact_process, limit=interval_map, nodes=nodes[:, None], weights=weights / 2),
    )


def circle_law() -> Law:
    """Uniform on the circle |x| = 1."""
    limit = partial(sphere_map, radius=1.0, tilt_matrix=np.eye(2), values=np.eye(2))
    nodes = on_circle(2 * np.pi * np.arange(NODES) / NODES)
    return Law(
        "circle",
        2,
        compact=True,
        largest_radius=COMPACT_RADIUS,
        draw=lambda stream, size: on_circle(stream.uniform(0, 2 * np.pi, size)),
        limit=limit,
        edge_deviation=circle_edge_deviation,
        coefficients=(NODES,),
        process=partial(compact_process, limit=limit, nodes=nodes, weights=np.full(NODES, 1 / NODES)),
    )


def on_circle(angles: np.ndarray) -> np.ndarray:
    return np.column_stack([np.cos(angles), np.sin(angles)])


def gaussian_edge_deviation(radius: float, dimension: int) -> float:
    """Root mean square of |Z(x)| at one x with |x| = R: e^{R^2/2} sqrt(d + R^2).

    The trace of the pointwise CLT covariance.  It outgrows every exponential e^{cR}.
    """
    tilt = np.append(radius, np.zeros(dimension - 1))
    covariance, _ = gaussian_clt(tilt, np.eye(dimension), np.eye(dimension))
    return float(np.sqrt(np.trace(covariance)))


def circle_edge_deviation(radius: float) -> float:
    """The same on the circle: its square is I_0(2R) / I_0(R)^2 (1 - 2 a(2R) a(R) + a(R)^2), a = I_1 / I_0.

    E[e^2] / E[e]^2 with e = exp<t, X>, times the mean of |X - Gamma(t)|^2 under e^2, where X has the mean Gamma(2t).
    """
    near, far = bessel_ratio(2, np.array([radius, 2 * radius]))
    return float(np.sqrt(np.i0(2 * radius) / np.i0(radius) ** 2 * (1 - 2 * far * near + near**2)))


def gaussian_process(coefficients: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Z of N(0, I) at points (point, dimension) -> (draw, point, dimension).

    Standard normal coefficients c, (draw, term) on a line and (draw, term, term_2) in a plane, make one draw each.
    sqrt(n) (K_n - K) of the log moment generating functions has the influence function e^{<t,X> - K(t)} - 1, whose
    covariance at s and t is e^{<s,t>} - 1: its limit is the random power series
    G(t) = sum_k c_k prod_i t_i^{k_i} / sqrt(k_i!) without its constant term.  Gamma = grad K makes Z = grad G, hence
    Cov(Z(s), Z(t)) = e^{<s,t>} (I + t s'), at s = t the pointwise CLT.
    """
    dimension = points.shape[1]
    reach = np.abs(points).max()
    terms = int(np.ceil(reach**2 + 10 * reach + 12))  # the rest, a Poisson tail, is below 1e-16
    order = np.arange(1, terms)
    steps = points[..., None] / np.sqrt(order)  # (point, dimension, term - 1)
    powers = np.cumprod(np.insert(steps, 0, 1, axis=-1), axis=-1)  # t^k / sqrt(k!)
    slopes = np.insert(powers[..., :-1] * np.sqrt(order), 0, 0, axis=-1)  # their derivatives
    used = coefficients[(slice(None), *[slice(terms)] * dimension)]
    sums = {1: "nj,pj->np", 2: "njk,pj,pk->np"}[dimension]
    components = []
    for axis in range(dimension):
        factors = [(slopes if axis == other else powers)[:, other] for other in range(dimension)]
        components.append(np.einsum(sums, used, *factors, optimize=True))
    return np.stack(components, -1)


def compact_process(
    coefficients: np.ndarray,
    points: np.ndarray,
    limit: Callable[[np.ndarray], np.ndarray],
    nodes: np.ndarray,
    weights: np.ndarray,
) -> np.ndarray:
    """Z of a law with a quadrature (node, dimension), (node,) at points (point, dimension) -> (draw, point, dimension).

    Z(t) = sum_j c_j sqrt(w_j) e^{<t,x_j>} (x_j - Gamma(t)) / sum_k w_k e^{<t,x_k>}: white noise c, (draw, node),
    through the influence function.  Cov(Z(s), Z(t)) is then the quadrature of the product of two influences.
    """
    exponentials = np.exp(points @ nodes.T)  # (point, node)
    mass = exponentials / (exponentials @ weights)[:, None] * np.sqrt(weights)
    influence = mass[..., None] * (nodes - limit(points)[:, None])  # (point, node, dimension)
    return np.tensordot(coefficients, influence, (1, 1))


LAWS = {  # by the names of the config, in the order of the store
    "gaussian": (gaussian_law(1), gaussian_law(2)),
    "interval": (interval_law(),),
    "circle": (circle_law(),),
}
