"""Asymptotic normality of attention at one query: spread, bias, plug-in interval, and where they fail.

Tokens N(0, I) in a plane and a tilt t along the first axis. That is every Gaussian N(m, Sigma) in any dimension: with
X = m + S Z, S the square root of Sigma, the scores are <S t, Z> plus a constant, so that only |S t| counts, and the
output is m + S times that for Z. Its coordinate along S t is the first one here, each of the others like the second.

Along the tilt a sample is drawn as counts in bins, whatever its size (`theory.bins`).  Across it the tokens of a bin,
which weigh the same, enter by the sum and the sum of squares of their second coordinates: a normal and a chi-squared.
"""

from typing import NamedTuple

import numpy as np
import xarray as xr

from attnlimit.base.log import bar
from attnlimit.base.seeds import generator
from attnlimit.theory.bins import Bins, make_bins

COORDINATES = ("along", "across")  # the tilt
LEVEL = 0.95
PROBABILITIES = np.linspace(0.005, 0.995, 100)  # of the quantiles kept
AT_ONCE = 500  # samples, so that their counts fit a few megabytes
QUANTITIES = ("deviation", "plug_in", "effective", "mass")


class Samples(NamedTuple):
    """Some samples of n tokens in the plane, by bins of their first coordinate."""

    counts: np.ndarray  # (sample, bin): tokens
    sums: np.ndarray  # (sample, bin): of their second coordinates
    squares: np.ndarray  # (sample, bin): of their second coordinates, squared and summed


def draw(size: int, bins: Bins, samples: int, streams: list[np.random.Generator]) -> Samples:
    """c tokens of a bin have a sum sqrt(c) Z and a sum of squares Z^2 + chi^2 with c - 1 degrees of freedom."""
    counts = streams[0].multinomial(size, bins.probability, size=samples).astype(float)
    normal = streams[1].standard_normal(counts.shape)
    rest = 2 * streams[2].standard_gamma(np.maximum(counts - 1, 0) / 2)
    return Samples(counts, np.sqrt(counts) * normal, np.where(counts > 0, normal**2 + rest, 0))


def estimates(samples: Samples, bins: Bins, tilts: np.ndarray) -> dict[str, np.ndarray]:
    """Attention at each tilt on each sample, w = softmax_i(t x_i), with what it tells about its own error.

    output (tilt, sample, coordinate): G = sum_i w_i X_i;  plug_in: n sum_i w_i^2 (X_i - G)^2 of each coordinate;
    effective (tilt, sample): Kish's 1 / sum_i w_i^2;  mean_weight: 1/n sum_i exp(t x_i).
    """
    weights = np.exp(tilts[:, None, None] * bins.nodes)  # (tilt, bin, node)

    def over_bins(numbers: np.ndarray, *factors: np.ndarray) -> np.ndarray:
        """Sum over the bins of numbers (sample, bin) times the mean over a bin of the product: (tilt, sample)."""
        return np.einsum("tbk,bk->tb", np.prod(np.broadcast_arrays(*factors), axis=0), bins.shares) @ numbers.T

    total = over_bins(samples.counts, weights)
    one, x, squared = np.ones_like(weights), bins.nodes, weights**2
    root = np.sqrt(np.einsum("tbk,bk->tb", squared, bins.shares))  # root mean square weight of a bin
    along, across = over_bins(samples.counts, weights, x) / total, root @ samples.sums.T / total
    second = over_bins(samples.counts, squared)
    spread = over_bins(samples.counts, squared, x**2) - 2 * along * over_bins(samples.counts, squared, x)
    spread_across = over_bins(samples.squares, squared, one) - 2 * across * over_bins(samples.sums, squared, one)
    size = samples.counts.sum(1)  # (sample,)
    scale = size / total**2
    return {
        "output": np.stack([along, across], -1),
        "plug_in": np.stack([scale * (spread + along**2 * second), scale * (spread_across + across**2 * second)], -1),
        "effective": total**2 / second,
        "mean_weight": total / size,
    }


def simulate(sizes: list[int], tilts: list[float], replicates: int, bin_width: float, seed: int) -> xr.Dataset:
    """deviation = sqrt(n) (Gamma_n - Gamma), plug_in, effective, mass = e^{K_n(t) - K(t)}, a setting a tilt.

    A size has a stream of its own for each of its three draws, so that more replicates leave the first as they are.
    """
    tilt = np.array(tilts, dtype=float)
    shape = (len(tilts), len(sizes), replicates)
    kept = {name: np.empty((*shape, 2) if name in QUANTITIES[:2] else shape, np.float32) for name in QUANTITIES}
    jobs = [(i, start) for i in range(len(sizes)) for start in range(0, replicates, AT_ONCE)]
    for i, start in bar(jobs, total=len(jobs), unit="parts", name="normality"):
        if start == 0:
            bins, _ = make_bins(sizes[i], bin_width)
            streams = generator(seed, "simulate_normality", sizes[i]).spawn(3)
        here = slice(start, min(start + AT_ONCE, replicates))
        found = estimates(draw(sizes[i], bins, here.stop - here.start, streams), bins, tilt)
        limit = np.stack([tilt, 0 * tilt], -1)[:, None]  # Gamma(x) = Sigma t = t
        kept["deviation"][:, i, here] = np.sqrt(sizes[i]) * (found["output"] - limit)
        kept["plug_in"][:, i, here] = found["plug_in"]
        kept["effective"][:, i, here] = found["effective"]
        kept["mass"][:, i, here] = found["mean_weight"] * np.exp(-(tilt[:, None] ** 2) / 2)  # K(t) = |t|^2 / 2
    place = ("setting", "n", "replicate")
    dims = {name: (*place, "coordinate") if name in QUANTITIES[:2] else place for name in QUANTITIES}
    return xr.Dataset(
        {name: (dims[name], kept[name]) for name in QUANTITIES} | {"tilt": ("setting", tilt)},
        coords={"setting": [f"|t| = {tilt:g}" for tilt in tilts], "n": sizes, "replicate": range(replicates)}
        | {"coordinate": list(COORDINATES)},
    )
