"""Uniform error of the attention map: its largest distance to the limit over the ball |x| <= R.

Tokens of a law on a line or in a plane, A = V = I, so that the tilt is t(x) = x.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import xarray as xr

from attnlimit.base.log import bar
from attnlimit.base.seeds import generator
from attnlimit.questions.uniform.laws import LAWS, Law

NUMBERS_AT_ONCE = 2**15  # weights that fit a processor's cache
QUANTITIES = ("sup", "sup_coarse", "effective")


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
        if not np.allclose(numbers * self.step, radii) or (numbers % 2).any():
            raise ValueError(f"radii {radii}: not all multiples of {2 * self.step}")
        return numbers

    def suprema(self, errors: np.ndarray, radii: list[float]) -> tuple[np.ndarray, np.ndarray]:
        """Largest error within each radius, on the fine and on the coarse grid: (…, circle, ray) -> (…, radius)."""
        edges = self.circles(radii)
        every = 2 if errors.shape[-1] > 2 else 1
        fine = np.maximum.accumulate(errors.max(-1), -1)[..., edges]
        coarse = np.maximum.accumulate(errors[..., ::2, ::every].max(-1), -1)[..., edges // 2]
        return fine, coarse


@dataclass(frozen=True)
class Balls:
    """The balls of one law."""

    law: Law
    radii: list[float]
    grid: Grid

    def __post_init__(self) -> None:
        if max(self.radii) > self.law.largest_radius:
            raise ValueError(f"radii {self.radii}: {self.law.label} goes up to {self.law.largest_radius}")

    @cached_property
    def points(self) -> np.ndarray:
        """Of the grid, up to the largest ball: (circle, ray, dimension)."""
        circles = np.arange(max(self.grid.circles(self.radii)) + 1)
        return self.grid.step * circles[:, None, None] * self.grid.rays(self.law.dimension)

    @cached_property
    def limit(self) -> np.ndarray:
        """Gamma at the points, once for all samples."""
        return self.law.limit(self.points)

    def stream(self, seed: int, purpose: str, *address: int) -> np.random.Generator:
        """Gaussian streams carry no name of a law: they were there first."""
        name = "simulate_uniform" if self.law.name == "gaussian" else f"simulate_uniform {self.law.name}"
        return generator(seed, f"{name} {purpose}".strip(), self.law.dimension, *address)


def replicate(seed: int, balls: Balls, size: int, number: int) -> dict[str, np.ndarray]:
    """Uniform errors of one sample, as `errors_on_balls` gives them; the sample serves all radii."""
    return errors_on_balls(balls.law.draw(balls.stream(seed, "", size, number), size), balls)


def errors_on_balls(tokens: np.ndarray, balls: Balls) -> dict[str, np.ndarray]:
    """Uniform errors of one sample (token, dimension), one for each radius.

    sup, sup_coarse: max |Gamma_n(x) - Gamma(x)| over the fine and the coarse grid;  effective: Kish's effective sample
    size 1 / sum_i w_i^2 at |x| = R, its mean over the rays.
    """
    grid, radii = balls.grid, balls.radii
    outputs, effective = outputs_on_circles(tokens, grid.rays(tokens.shape[1]), grid.step, grid.circles(radii))
    fine, coarse = grid.suprema(np.linalg.norm(outputs - balls.limit, axis=-1), radii)
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


def limit_suprema(seed: int, balls: Balls, draws: int) -> np.ndarray:
    """max |Z(x)| over |x| <= R on the fine grid, for draws of the limit process: (draw, radius)."""
    streams = [balls.stream(seed, "limit", draw) for draw in range(draws)]
    coefficients = np.stack([stream.standard_normal(balls.law.coefficients) for stream in streams])  # (draw, term, …)
    lengths = [np.linalg.norm(balls.law.process(coefficients, circle), axis=-1) for circle in balls.points]
    fine, _ = balls.grid.suprema(np.stack(lengths, 1), balls.radii)  # (draw, circle, ray) -> (draw, radius)
    return fine


def simulate(
    of_laws: list[Balls], sizes: list[int], largest_in_plane: int, replicates: int, limit_draws: int, seed: int
) -> xr.Dataset:
    """Suprema of all samples of each law, and those of its limit process; a setting is a ball.

    sup, sup_coarse, effective (setting, replicate, n) are NaN where a size is too large for a plane.
    """
    samples = [
        (place, i, number)
        for place, balls in enumerate(of_laws)
        for i, size in enumerate(sizes)
        if balls.law.dimension == 1 or size <= largest_in_plane
        for number in range(replicates)
    ]
    kept = [np.full((len(QUANTITIES), len(balls.radii), replicates, len(sizes)), np.nan) for balls in of_laws]
    for place, i, number in bar(samples, total=len(samples), unit="samples", name="uniform"):
        measured = replicate(seed, of_laws[place], sizes[i], number)
        kept[place][:, :, number, i] = [measured[name] for name in QUANTITIES]
    raw = np.concatenate(kept, axis=1)  # (quantity, setting, replicate, n)
    limit = np.concatenate([limit_suprema(seed, balls, limit_draws) for balls in of_laws], axis=1)  # (draw, setting)
    settings = [(balls.law, float(radius)) for balls in of_laws for radius in balls.radii]
    return xr.Dataset(
        {name: (("setting", "replicate", "n"), values) for name, values in zip(QUANTITIES, raw, strict=True)}
        | {
            "dimension": ("setting", [law.dimension for law, _ in settings]),
            "radius": ("setting", [radius for _, radius in settings]),
            "compact": ("setting", [law.compact for law, _ in settings]),
            "clt_edge": ("setting", [law.edge_deviation(radius) for law, radius in settings]),
            "clt_sup": ("setting", limit.mean(0)),
            "clt_sup_se": ("setting", limit.std(0) / np.sqrt(limit_draws)),
        },
        coords={
            "setting": [f"{law.label}, R = {radius:g}" for law, radius in settings],
            "law": ("setting", [law.label for law, _ in settings]),
            "replicate": range(replicates),
            "n": sizes,
        },
    )


def balls_of(settings: dict) -> list[Balls]:
    """The balls of every law that the config names; compact laws have radii and a step of their own.

    Always in the order of LAWS: that of the config changes no number.
    """
    gaussian, compact = (Grid(settings[step], settings["angles"]) for step in ("step", "compact_step"))
    return [
        Balls(law, settings["compact_radii"], compact) if law.compact else Balls(law, settings["radii"], gaussian)
        for name, laws in LAWS.items()
        if name in settings["laws"]
        for law in laws
    ]
