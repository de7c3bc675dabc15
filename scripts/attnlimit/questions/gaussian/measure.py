"""Gaussian tokens N(0, Sigma), Sigma diagonal, under one head: settings, samples, references."""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import NamedTuple
from zlib import crc32

import numpy as np

from attnlimit.attention.kernel import Heads, nested_moments, project
from attnlimit.base.seeds import generator
from attnlimit.sampling.layout import Kept, setting_errors
from attnlimit.sampling.protocol import Protocol
from attnlimit.sampling.samples import Attention, simulated_moments
from attnlimit.theory.gaussian import gaussian_moments
from attnlimit.theory.geometry import (
    constant_tilt,
    horizon_published,
    horizons,
    tilt_bias,
    tilt_matrix,
    value_variance,
)
from attnlimit.theory.moments import Moments


class Setting(NamedTuple):
    """A law of tokens and a head. Its rule and name are its address: others give another, independent, sample."""

    rule: str
    name: str
    variances: np.ndarray  # (d,), the diagonal of Sigma
    heads: Heads
    labels: dict[str, float]  # stored with its errors

    @property
    def covariance(self) -> np.ndarray:
        return np.diag(self.variances)

    @property
    def tilt(self) -> np.ndarray:
        return tilt_matrix(self.heads.query_weight[0], self.heads.key_weight[0])

    @property
    def bias(self) -> np.ndarray:
        return tilt_bias(self.heads.query_bias[0], self.heads.key_weight[0])

    def couplings(self) -> dict[str, float]:
        zero = np.zeros(len(self.variances))
        published = horizon_published(self.covariance, self.heads.query_weight, self.heads.key_weight)
        constant = constant_tilt(zero, self.covariance, self.tilt, self.bias)
        return horizons(self.covariance, self.tilt) | {"constant_tilt": constant, "horizon_published": published}

    def draw(self, stream: np.random.Generator, count: int) -> np.ndarray:
        """So many tokens, (token, feature)."""
        return stream.normal(size=(count, len(self.variances))) * np.sqrt(self.variances)

    def limit(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean and covariance of the transformed tokens for n to infinity, in closed form."""
        zero = np.zeros(len(self.variances))
        return gaussian_moments(zero, self.covariance, self.tilt, self.bias, self.heads.value_weight[0])


def one_head(query_weight: np.ndarray, key_weight: np.ndarray, value_weight: np.ndarray) -> Heads:
    """A single head without biases, weights (width, feature)."""
    zero = np.zeros((1, len(query_weight)))
    return Heads(query_weight[None], key_weight[None], value_weight[None], zero, zero)


def horizon_settings(dimensions: list[int], condition: float, scales: list[float], seed: int) -> list[Setting]:
    """A = alpha Q and V = I, for Sigma = I and for variances from 1 down to 1 / condition, even in logs.

    Q is a random matrix, fixed for each d, of trace above zero, scaled to ||S Q S|| = 1 with S the square root of
    Sigma: the scale alpha is the horizon H, whatever d and Sigma. In d = 1 both covariances are the same: one is kept.
    """
    settings = []
    for d in dimensions:
        drawn = generator(seed, "simulate_gaussian tilt", d).normal(size=(d, d))
        drawn *= np.sign(np.trace(drawn))
        laws = {"isotropic": np.ones(d), "anisotropic": np.geomspace(1, 1 / condition, d)}
        for shape, variances in list(laws.items())[: 1 if d == 1 else 2]:
            unit = drawn / horizons(np.diag(variances), drawn)["horizon"]
            labels: dict[str, float] = {"dimension": d, "isotropic": shape == "isotropic"}
            for scale in scales:
                query_weight = scale * np.sqrt(d) * unit  # project divides by sqrt(d)
                heads = one_head(query_weight, np.eye(d), np.eye(d))
                name = f"d={d} {shape} H={scale:.12g}"
                settings.append(Setting("simulate_gaussian", name, variances, heads, labels))
    return settings


def tilted_settings(dimension: int, horizons_wanted: list[float], tilts: list[float], seed: int) -> list[Setting]:
    """Sigma = V = I, A = H Q as in `horizon_settings`, and a constant tilt b of length s0 along the first axis."""
    settings = []
    for setting in horizon_settings([dimension], 1.0, horizons_wanted, seed)[: len(horizons_wanted)]:
        for tilt in tilts:
            bias = np.zeros((1, dimension))
            bias[0, 0] = tilt * np.sqrt(dimension)  # project divides by sqrt(d)
            name = f"{setting.name} s0={tilt:.12g}"
            settings.append(setting._replace(name=name, heads=setting.heads._replace(query_bias=bias)))
    return settings


def published_settings(d: int, variance: float, scales: list[float], seed: int) -> list[Setting]:
    """As in the authors' public code: Sigma = variance I, A = alpha W_k^T W_q / sqrt(d), W_q, W_k, V of N(0, 1/d)."""
    stream = generator(seed, "simulate_gaussian_published weights", d)
    query_weight, key_weight, value_weight = stream.normal(scale=d**-0.5, size=(3, d, d))
    settings = []
    for scale in scales:
        heads = one_head(scale**0.5 * query_weight, scale**0.5 * key_weight, value_weight)
        name = f"d={d} alpha={scale:.12g}"
        settings.append(Setting("simulate_gaussian_published", name, np.full(d, variance), heads, {"scale": scale}))
    return settings


def simulate(setting: Setting, protocol: Protocol) -> Iterator[list[Moments]]:
    """For each replicate, moments at each size: of one nested sample, or of a sample of its own for each size."""
    stream = partial(generator, protocol.seed, setting.rule, crc32(setting.name.encode()))
    return simulated_moments(setting.draw, attention(setting, protocol), protocol, stream)


def attention(setting: Setting, protocol: Protocol) -> Attention:
    return Attention(setting.heads, np.zeros(len(setting.variances)), protocol.device, protocol.dtype)


def finite_reference(setting: Setting, tokens: int, protocol: Protocol) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance from one finite sample, in place of the limit: what the published protocol compares with."""
    stream = generator(protocol.seed, f"{setting.rule} reference", crc32(setting.name.encode()))
    projected = project(setting.draw(stream, tokens), *attention(setting, protocol))
    (moments,) = nested_moments(projected, [tokens])
    return moments.mean, moments.covariance


def errors_of(setting: Setting, protocol: Protocol) -> Kept:
    """All that is kept of one setting, against the closed form."""
    return against(setting.limit(), simulate(setting, protocol), setting, protocol) | setting.labels


def errors_by_reference(setting: Setting, references: list[str], tokens: int, protocol: Protocol) -> list[Kept]:
    """The same samples against each reference: the closed form (exact), or a finite sample of so many tokens."""
    samples, kept = list(simulate(setting, protocol)), []
    for reference in references:
        exact = reference == "exact"
        compared = setting.limit() if exact else finite_reference(setting, tokens, protocol)
        kept.append(against(compared, samples, setting, protocol) | setting.labels | {"exact": exact})
    return kept


def against(
    reference: tuple[np.ndarray, np.ndarray],
    samples: Iterable[Iterable[Moments]],
    setting: Setting,
    protocol: Protocol,
) -> Kept:
    spread = value_variance(setting.heads.value_weight[0], setting.covariance)
    return setting_errors(samples, *reference, spread, setting.couplings(), protocol.group)
