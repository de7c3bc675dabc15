"""Attention on up to 1e10 Gaussian tokens in d = 1, without drawing them one by one.

In d = 1 attention sees a sample only through how its tokens lie on the line, and counts in bins are enough to say that:
see `theory.bins`.  Halving the bins, with the same tokens, shows what that does to an error.
"""

from typing import NamedTuple
from zlib import crc32

import numpy as np

from attnlimit.base.seeds import generator
from attnlimit.sampling.layout import Kept, setting_errors
from attnlimit.sampling.protocol import Protocol
from attnlimit.theory.bins import Bins, join_pairs, make_bins
from attnlimit.theory.gaussian import gaussian_moments
from attnlimit.theory.geometry import horizons
from attnlimit.theory.moments import Moments

RULE = "simulate_gaussian_asymptotic"


class Setting(NamedTuple):
    """One horizon: Sigma = V = 1 and A = H."""

    horizon: float
    bin_width: float  # of the wider bins

    @property
    def name(self) -> str:
        return f"d=1 H={self.horizon:.12g}"


def draw_counts(size: int, bins: Bins, replicates: int, seed: int, setting: int) -> np.ndarray:
    """How many of n tokens fall in each bin, (replicate, bin): one stream a setting, size and replicate."""
    streams = [generator(seed, RULE, setting, size, replicate) for replicate in range(replicates)]
    return np.stack([stream.multinomial(size, bins.probability) for stream in streams])


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
