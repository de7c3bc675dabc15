"""Attention on up to 1e10 Gaussian tokens in d = 1, without drawing them one by one.

In d = 1 attention sees a sample only through how its tokens lie on the line. Cut the line into bins of width h: the
counts of n tokens in the bins are multinomial, drawn at once whatever n. The tokens of a bin then stand at its Gauss
nodes, in the shares of the Gaussian inside the bin: the means of exp(t x) and x exp(t x) over a bin are exact, so the
limit is kept, and all that is lost is the noise of where tokens lie inside their bin. Against the noise of the counts
its variance is (t h)^2 / 12, t = H x the tilt of the query: a per cent for the furthest tokens, nothing for most.
Halving h, with the same tokens, shows what that does to an error.
"""

from typing import NamedTuple
from zlib import crc32

import numpy as np
from scipy.special import ndtr, ndtri, roots_legendre

from attnlimit.base.seeds import generator
from attnlimit.sampling.layout import Kept, setting_errors
from attnlimit.sampling.protocol import Protocol
from attnlimit.theory.gaussian import gaussian_moments
from attnlimit.theory.geometry import horizons
from attnlimit.theory.moments import Moments

RULE = "simulate_gaussian_asymptotic"

NODES = 2  # a bin: its means of exp(t x) are then exact up to (t h)^4 / 4320
OUTSIDE = 1e-6  # tokens expected beyond the bins: they are counted in the last ones


class Setting(NamedTuple):
    """One horizon: Sigma = V = 1 and A = H."""

    horizon: float
    bin_width: float  # of the wider bins

    @property
    def name(self) -> str:
        return f"d=1 H={self.horizon:.12g}"


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


def draw_counts(size: int, bins: Bins, replicates: int, seed: int, setting: int) -> np.ndarray:
    """How many of n tokens fall in each bin, (replicate, bin): one stream a setting, size and replicate."""
    streams = [generator(seed, RULE, setting, size, replicate) for replicate in range(replicates)]
    return np.stack([stream.multinomial(size, bins.probability) for stream in streams])


def join_pairs(counts: np.ndarray) -> np.ndarray:
    """The counts of the same tokens in bins twice as wide."""
    return counts.reshape(len(counts), -1, 2).sum(2)


def binned_moments(counts: np.ndarray, bins: Bins, horizon: float) -> list[Moments]:
    """Moments of self-attention with tilt t(x) = H x and V = 1 on samples given by their counts (sample, bin).

    Gamma_n(x) = sum_i c_i x_i exp(H x x_i) / sum_i c_i exp(H x x_i) at every node x, weighted by the counts once
    more: every token is a query too.
    """
    x = bins.nodes.ravel()  # (node,)
    weights = (counts[:, :, None] * bins.shares).reshape(len(counts), -1).T  # (node, sample)
    scores = horizon * np.outer(x, x)
    kernel = np.exp(scores - scores.max(1, keepdims=True))  # (query, key)
    outputs = kernel @ (weights * x[:, None]) / (kernel @ weights)  # (query, sample)
    total = weights.sum(0)
    mean = (weights * outputs).sum(0) / total
    scatter = (weights * (outputs - mean) ** 2).sum(0)
    return [Moments(*row) for row in zip(total, mean[:, None], scatter[:, None, None], strict=True)]


def errors_of(setting: Setting, protocol: Protocol) -> Kept:
    """All that is kept of one setting, from the narrow bins, and the errors of the same tokens in bins twice as wide.

    {mean,cov}_discretisation (n) is how much the expected error moves when the bins are twice as wide, relative.
    """
    one, zero, horizon = np.ones((1, 1)), np.zeros(1), setting.horizon
    narrow_samples, wide_samples = [], []
    for size in protocol.sizes:
        wide, narrow = make_bins(size, setting.bin_width)
        counts = draw_counts(size, narrow, protocol.replicates, protocol.seed, crc32(setting.name.encode()))
        narrow_samples.append(binned_moments(counts, narrow, horizon))
        wide_samples.append(binned_moments(join_pairs(counts), wide, horizon))
    limit = gaussian_moments(zero, one, horizon * one, zero, one)
    couplings = horizons(one, horizon * one) | {"constant_tilt": 0.0}
    errors, wider = (
        setting_errors(zip(*samples, strict=True), *limit, 1.0, couplings, protocol.group)
        for samples in (narrow_samples, wide_samples)
    )
    for number, name in enumerate(("mean", "cov")):
        narrow, wide = errors["error"][number], wider["error"][number]  # (replicate, n)
        errors[f"{name}_wide_bins"] = wide
        errors[f"{name}_discretisation"] = np.abs(wide.mean(0) / narrow.mean(0) - 1)  # (n,)
    return errors
