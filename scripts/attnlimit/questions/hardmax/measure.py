"""Hardmax attention on normal tokens, A = I: every token becomes the one furthest out in its own direction.

With Y_i = X_j, j = argmax_j <X_i, X_j>, the mean of the Y_i goes to 0 by symmetry. Only the tokens furthest out are
ever chosen, so in one and two dimensions they alone are drawn, and n may be as large as 1e12.
"""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import xarray as xr
from scipy.spatial import ConvexHull
from scipy.special import erfcinv

from attnlimit.base.seeds import generator

OUTER_TOKENS = 300  # drawn at first in the plane: as a rule enough to know the hull


def draw_maxima(counts: np.ndarray, stream: np.random.Generator) -> np.ndarray:
    """Maximum of k standard half-normals for each k of counts, one draw each.

    P(M <= x) = erf(x / sqrt 2)^k, so erf(M / sqrt 2) = U^(1/k) = e^(-E/k) with E exponential. For large k that is 1
    up to rounding: what is inverted is erfc(M / sqrt 2) = 1 - e^(-E/k).  Of no half-normals, the draw is as of one.
    """
    rest = -np.expm1(-stream.exponential(size=counts.shape) / np.maximum(counts, 1))
    return np.sqrt(2) * erfcinv(rest)


def line_errors(n: int, replicates: int, stream: np.random.Generator) -> np.ndarray:
    """|mean_n| in one dimension, mean_n = (k M_k - (n - k) M'_(n-k)) / n, k ~ Bin(n, 1/2) the positive tokens."""
    count_stream, upper, lower = stream.spawn(3)  # one each, so that more replicates leave the first as they are
    k = count_stream.binomial(n, 0.5, size=replicates)
    return np.abs(k * draw_maxima(k, upper) - (n - k) * draw_maxima(n - k, lower)) / n  # (replicate,)


def plane_mean(n: int, stream: np.random.Generator) -> np.ndarray:
    """mean_n of n standard normal tokens in the plane, exact in law.

    A token becomes the corner of the convex hull in whose normal cone it lies.  Tokens outside a circle are drawn one
    by one, more until the hull they span holds the circle: the tokens inside are then no corners, their directions
    are uniform and independent of the hull, and their counts in the cones are multinomial.
    """
    outer = np.empty((0, 2))
    for above, height in pairwise(heights(n)):
        outer = np.concatenate([outer, draw_shell(n - len(outer), height, above, stream)])
        hull = ConvexHull(outer)
        if (-hull.equations[:, -1]).min() >= np.sqrt(2 * height):  # distance of each edge from 0
            break
    corners = outer[hull.vertices]  # (corner, 2), anticlockwise
    edges = np.roll(corners, -1, axis=0) - corners
    normals = np.arctan2(-edges[:, 0], edges[:, 1])  # direction of the edge after each corner
    cones = (normals - np.roll(normals, 1)) % (2 * np.pi) / (2 * np.pi)  # (corner,), sum 1
    counts = stream.multinomial(n - len(outer), cones)
    counts += np.bincount((outer @ corners.T).argmax(1), minlength=len(corners))
    return counts @ corners / n  # (2,)


def heights(n: int) -> Iterator[float]:
    """Values of r^2/2, falling to 0: infinity, then one that leaves OUTER_TOKENS of n outside, then steps of 1."""
    yield np.inf
    height = np.log(n / OUTER_TOKENS)
    while height > 0:
        yield height
        height -= 1
    yield 0.0


def draw_shell(count: int, height: float, above: float, stream: np.random.Generator) -> np.ndarray:
    """Those of `count` tokens with r^2/2 below `above` that have it above `height`; r^2/2 is exponential."""
    share = -np.expm1(height - above)  # of the tokens outside the inner circle, those inside the outer one
    inside = stream.binomial(count, share * np.exp(-height) / -np.expm1(-above))
    drawn = height - np.log1p(-share * stream.random(inside))
    angles = stream.uniform(0, 2 * np.pi, size=inside)
    return np.sqrt(2 * drawn)[:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=1)  # (token, 2)


def nested_means(tokens: np.ndarray, sizes: list[int]) -> Iterator[np.ndarray]:
    """mean_n of the first n tokens (token, feature) for each n of sizes, every score computed once."""
    rows = np.arange(len(tokens))
    highest, chosen = np.full(len(tokens), -np.inf), np.zeros(len(tokens), dtype=np.int64)  # (token,)
    for start, size in pairwise([0, *sizes]):
        scores = tokens @ tokens[start:size].T  # (query, key)
        furthest = scores.argmax(1)
        better = scores[rows, furthest] > highest
        chosen[better] = start + furthest[better]
        highest[better] = scores[rows, furthest][better]
        yield tokens[chosen[:size]].mean(0)


def line(sizes: list[int], replicates: int, seed: int) -> np.ndarray:
    """|mean_n| of standard normal tokens in one dimension, (n, replicate)."""
    return np.array([line_errors(n, replicates, generator(seed, "simulate_hardmax line", n)) for n in sizes])


def plane(sizes: list[int], replicates: int, seed: int) -> np.ndarray:
    """||mean_n|| of standard normal tokens in two dimensions, (n, replicate)."""

    def error(n: int, replicate: int) -> float:
        return float(np.linalg.norm(plane_mean(n, generator(seed, "simulate_hardmax plane", n, replicate))))

    return np.array([[error(n, replicate) for replicate in range(replicates)] for n in sizes])


def direct(dimensions: list[int], sizes: list[int], replicates: int, seed: int) -> np.ndarray:
    """||mean_n|| of standard normal tokens, all of them drawn, (dimension, n, replicate)."""

    def errors(dimension: int, replicate: int) -> list[float]:
        stream = generator(seed, "simulate_hardmax direct", dimension, replicate)
        tokens = stream.normal(size=(sizes[-1], dimension))
        return [float(np.linalg.norm(mean)) for mean in nested_means(tokens, sizes)]

    rows = [[errors(dimension, replicate) for replicate in range(replicates)] for dimension in dimensions]
    return np.swapaxes(rows, 1, 2)


def simulate(options: dict, seed: int) -> xr.Dataset:
    """Errors of all draws, for tokens of standard deviation sigma: on a line, in a plane, and with all tokens drawn.

    options is the section simulate_hardmax.
    """
    sigma, sizes, dimensions = options["sigma"], options["sizes"], options["dimensions"]
    drawn = {
        "line_error": (("n", "replicate_line"), line(sizes, options["line_replicates"], seed)),
        "plane_error": (("n", "replicate_plane"), plane(sizes, options["plane_replicates"], seed)),
        "direct_error": (
            ("dimension", "n_direct", "replicate_direct"),
            direct(dimensions, options["direct_sizes"], options["direct_replicates"], seed),
        ),
    }
    coords = {"n": sizes, "n_direct": options["direct_sizes"], "dimension": dimensions}
    return xr.Dataset({name: (dims, sigma * errors) for name, (dims, errors) in drawn.items()}, coords=coords)
