"""Uniform error of the attention map: its largest distance to the limit over the ball |x| <= R.

Tokens N(0, I) on a line or in a plane, A = V = I, so that the tilt is t(x) = x and the limit Gamma(x) = x. On a line
this is every Gaussian in other units: only sigma |A| R counts.
"""

from typing import NamedTuple

import numpy as np
import xarray as xr

from attnlimit.log import bar
from attnlimit.seeds import generator
from attnlimit.theory.gaussian import gaussian_clt

NUMBERS_AT_ONCE = 2**15  # weights that fit a processor's cache
TERMS = 128  # of the limit process along each axis, enough up to LARGEST_RADIUS
LARGEST_RADIUS = 6


class Grid(NamedTuple):
    """Circles at the multiples of step, crossed by evenly spread rays; on a line there are two rays.

    Every second circle and ray make the coarse grid.  A maximum over points is too small by about the square of
    their distance, so that the fine grid misses a third of what it gains on the coarse one.
    """

    step: float
    angles: int

    def rays(self, dimension: int) -> np.ndarray:
        """Unit vectors (ray, dimension)."""
        if dimension == 1:
            return np.array([[1.0], [-1.0]])
        angle = 2 * np.pi * np.arange(self.angles) / self.angles
        return np.column_stack([np.cos(angle), np.sin(angle)])

    def circles(self, radii: list[float]) -> np.ndarray:
        """Numbers of the circles that bound the balls."""
        numbers = np.round(np.array(radii) / self.step).astype(int)
        if not np.allclose(numbers * self.step, radii) or (numbers % 2).any() or max(radii) > LARGEST_RADIUS:
            raise ValueError(f"radii {radii}: not all multiples of {2 * self.step} up to {LARGEST_RADIUS}")
        return numbers

    def suprema(self, errors: np.ndarray, radii: list[float]) -> tuple[np.ndarray, np.ndarray]:
        """Largest error within each radius, on the fine and on the coarse grid: (…, circle, ray) -> (…, radius)."""
        edges = self.circles(radii)
        every = 2 if errors.shape[-1] > 2 else 1
        fine = np.maximum.accumulate(errors.max(-1), -1)[..., edges]
        coarse = np.maximum.accumulate(errors[..., ::2, ::every].max(-1), -1)[..., edges // 2]
        return fine, coarse


def replicate(
    seed: int, dimension: int, size: int, number: int, radii: list[float], grid: Grid
) -> dict[str, np.ndarray]:
    """Uniform errors of one sample, as `errors_on_balls` gives them; the sample serves all radii."""
    stream = generator(seed, "simulate_uniform", dimension, size, number)
    return errors_on_balls(stream.standard_normal((size, dimension)), radii, grid)


def errors_on_balls(tokens: np.ndarray, radii: list[float], grid: Grid) -> dict[str, np.ndarray]:
    """Uniform errors of one sample (token, dimension), one for each radius.

    sup, sup_coarse: max |Gamma_n(x) - x| over the fine and the coarse grid;  effective: Kish's effective sample size
    1 / sum_i w_i^2 at |x| = R, its mean over the rays.
    """
    rays, edges = grid.rays(tokens.shape[1]), grid.circles(radii)
    outputs, effective = outputs_on_circles(tokens, rays, grid.step, edges)
    points = grid.step * np.arange(len(outputs))[:, None, None] * rays  # (circle, ray, dimension)
    fine, coarse = grid.suprema(np.linalg.norm(outputs - points, axis=-1), radii)
    return {"sup": fine, "sup_coarse": coarse, "effective": effective.mean(-1)}


def outputs_on_circles(
    tokens: np.ndarray, rays: np.ndarray, step: float, edges: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Gamma_n (circle, ray, dimension) at x = k step u, u a ray, k up to the last edge; 1 / sum_i w_i^2 (edge, ray).

    w_i is proportional to exp(k step <u, X_i>), a power of the weight on the first circle: one product takes it from
    a circle to the next, several times as fast as an exponential.
    """
    scores = rays @ tokens.T  # (ray, token)
    scores -= scores.max(1, keepdims=True)  # powers of numbers up to one cannot overflow
    columns = np.column_stack([np.ones(len(tokens)), tokens])  # (token, 1 + dimension)
    sums = np.zeros((max(edges) + 1, len(rays), columns.shape[1]))  # sum of w, sum of w X
    squares = {edge: np.zeros(len(rays)) for edge in edges}  # sum of w^2
    block = NUMBERS_AT_ONCE // len(rays)
    for start in range(0, len(tokens), block):
        factor = np.exp(step * scores[:, start : start + block])
        weights = np.ones_like(factor)
        for circle, total in enumerate(sums):
            total += weights @ columns[start : start + block]
            if circle in squares:
                squares[circle] += np.einsum("rt,rt->r", weights, weights)
            weights *= factor
    effective = np.stack([sums[edge, :, 0] ** 2 / squares[edge] for edge in edges])
    return sums[..., 1:] / sums[..., :1], effective


def edge_deviation(radius: float, dimension: int) -> float:
    """Root mean square of sqrt(n) |Gamma_n(x) - x| at one x with |x| = R, n to infinity: e^{R^2/2} sqrt(d + R^2).

    The trace of the pointwise CLT covariance.  It outgrows every exponential e^{cR}.
    """
    tilt = np.append(radius, np.zeros(dimension - 1))
    covariance, _ = gaussian_clt(tilt, np.eye(dimension), np.eye(dimension))
    return float(np.sqrt(np.trace(covariance)))


def limit_process(coefficients: np.ndarray, points: np.ndarray) -> np.ndarray:
    """The process Z that sqrt(n) (Gamma_n - Gamma) tends to, at points (point, dimension) -> (draw, point, dimension).

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


def limit_suprema(seed: int, dimension: int, draws: int, radii: list[float], grid: Grid) -> np.ndarray:
    """max |Z(x)| over |x| <= R on the fine grid, for draws of the limit process: (draw, radius)."""
    streams = [generator(seed, "simulate_uniform limit", dimension, draw) for draw in range(draws)]
    coefficients = np.stack([stream.standard_normal((TERMS,) * dimension) for stream in streams])  # (draw, term, …)
    rays = grid.rays(dimension)
    circles = [grid.step * number * rays for number in range(max(grid.circles(radii)) + 1)]
    lengths = [np.linalg.norm(limit_process(coefficients, points), axis=-1) for points in circles]
    fine, _ = grid.suprema(np.stack(lengths, 1), radii)  # (draw, circle, ray) -> (draw, radius)
    return fine


def simulate(
    sizes: list[int],
    largest_in_plane: int,
    radii: list[float],
    replicates: int,
    limit_draws: int,
    grid: Grid,
    seed: int,
) -> xr.Dataset:
    """Suprema of all samples on a line and in a plane, and those of the limit process; a setting a ball.

    sup, sup_coarse, effective (setting, replicate, n) are NaN where a size is too large for a plane.
    """
    kept = np.full((3, 2, len(radii), replicates, len(sizes)), np.nan)  # (quantity, dimension, radius, replicate, n)
    samples = [
        (dimension, i, number)
        for dimension in (1, 2)
        for i, size in enumerate(sizes)
        if dimension == 1 or size <= largest_in_plane
        for number in range(replicates)
    ]
    for dimension, i, number in bar(samples, total=len(samples), unit="samples", name="uniform"):
        measured = replicate(seed, dimension, sizes[i], number, radii, grid)
        kept[:, dimension - 1, :, number, i] = [measured[name] for name in ("sup", "sup_coarse", "effective")]
    balls = [(dimension, float(radius)) for dimension in (1, 2) for radius in radii]
    limit = [limit_suprema(seed, dimension, limit_draws, radii, grid) for dimension in (1, 2)]
    joined = np.concatenate(limit, axis=1)  # (draw, setting)
    raw = kept.reshape(3, len(balls), replicates, len(sizes))
    return xr.Dataset(
        {
            "sup": (("setting", "replicate", "n"), raw[0]),
            "sup_coarse": (("setting", "replicate", "n"), raw[1]),
            "effective": (("setting", "replicate", "n"), raw[2]),
            "dimension": ("setting", [dimension for dimension, _ in balls]),
            "radius": ("setting", [radius for _, radius in balls]),
            "clt_edge": ("setting", [edge_deviation(radius, dimension) for dimension, radius in balls]),
            "clt_sup": ("setting", joined.mean(0)),
            "clt_sup_se": ("setting", joined.std(0) / np.sqrt(limit_draws)),
        },
        coords={"setting": [f"d = {dimension}, R = {radius:g}" for dimension, radius in balls]}
        | {"replicate": range(replicates), "n": sizes},
    )
