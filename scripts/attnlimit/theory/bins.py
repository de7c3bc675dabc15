"""A sample of any size on a line, as counts in bins.

Cut the line into bins of width h: the counts of n tokens in the bins are multinomial, drawn at once at any n. The
tokens of a bin then stand at its Gauss nodes, in the shares of the Gaussian inside the bin: the means of exp(t x) and
x exp(t x) over a bin are exact, so the limit is kept, and all that is lost is the noise of where tokens lie inside
their bin. Against the noise of the counts its variance is (t h)^2 / 12, t the tilt of the query: a per cent for the
furthest tokens, nothing for most.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri, roots_legendre

NODES = 2  # a bin: its means of exp(t x) are then exact up to (t h)^4 / 4320
OUTSIDE = 1e-6  # tokens expected beyond the bins: they are counted in the last ones


class Bins(NamedTuple):
    """Equal bins of N(0, 1), an edge at zero."""

    probability: np.ndarray  # (bin,)
    nodes: np.ndarray  # (bin, node)
    shares: np.ndarray  # (bin, node): of a bin's tokens, summing to one in each


def make_bins(size: int, width: float) -> tuple[Bins, Bins]:
    """Bins of at most this width for n tokens, and the same bins halved."""
    extent = -ndtri(OUTSIDE / 2 / size)
    side = int(np.ceil(extent / width))
    return equal_bins(extent, side), equal_bins(extent, 2 * side)


def equal_bins(extent: float, side: int) -> Bins:
    """As many bins on each side of zero."""
    edges = extent * np.arange(-side, side + 1) / side  # (bin + 1,)
    beyond = ndtr(-np.abs(edges))  # mass further out: its differences keep their digits in the tails
    probability = np.abs(np.diff(beyond))
    probability[[0, -1]] += beyond[0]
    points, weights = roots_legendre(NODES)
    nodes = (edges[:-1, None] + edges[1:, None]) / 2 + points * extent / side / 2  # (bin, node)
    mass = weights * np.exp((nodes[:, :1] ** 2 - nodes**2) / 2)
    return Bins(probability / probability.sum(), nodes, mass / mass.sum(1, keepdims=True))


def join_pairs(counts: np.ndarray) -> np.ndarray:
    """The counts of the same tokens in bins twice as wide."""
    return counts.reshape(len(counts), -1, 2).sum(2)
