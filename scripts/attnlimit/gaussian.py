"""Gaussian tokens N(0, Sigma), Sigma diagonal, under one head: settings, samples, references."""

from collections.abc import Iterator
from typing import NamedTuple
from zlib import crc32

import numpy as np

from attnlimit.attention import Heads, nested_moments, project
from attnlimit.geometry import horizon_published, horizons, tilt_matrix
from attnlimit.limits import gaussian_moments
from attnlimit.moments import Moments
from attnlimit.sampling import generator


class Setting(NamedTuple):
    """A law of tokens and a head. The name is its address: another name gives another, independent, sample."""

    name: str
    variances: np.ndarray  # (d,), the diagonal of Sigma
    heads: Heads

    def couplings(self) -> dict[str, float]:
        covariance = np.diag(self.variances)
        query_weight, key_weight = self.heads.query_weight, self.heads.key_weight
        return horizons(covariance, tilt_matrix(query_weight[0], key_weight[0])) | {
            "horizon_published": horizon_published(covariance, query_weight, key_weight)
        }

    def value_variance(self) -> float:
        """tr V Sigma V^T"""
        return float((self.heads.value_weight[0] ** 2 @ self.variances).sum())

    def limit(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean and covariance of the transformed tokens for n to infinity, in closed form."""
        tilt = tilt_matrix(self.heads.query_weight[0], self.heads.key_weight[0])
        zero = np.zeros(len(self.variances))
        return gaussian_moments(zero, np.diag(self.variances), tilt, zero, self.heads.value_weight[0])


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
            for scale in scales:
                query_weight = scale * np.sqrt(d) * unit  # project divides by sqrt(d)
                heads = one_head(query_weight, np.eye(d), np.eye(d))
                settings.append(Setting(f"d={d} {shape} H={scale:.12g}", variances, heads))
    return settings


def published_settings(d: int, variance: float, scales: list[float], seed: int) -> list[Setting]:
    """As in the authors' public code: Sigma = variance I, A = alpha W_k^T W_q / sqrt(d), W_q, W_k, V of N(0, 1/d)."""
    stream = generator(seed, "simulate_gaussian_published weights", d)
    query_weight, key_weight, value_weight = stream.normal(scale=d**-0.5, size=(3, d, d))
    variances = np.full(d, variance)
    return [
        Setting(
            f"d={d} alpha={scale:.12g}",
            variances,
            one_head(scale**0.5 * query_weight, scale**0.5 * key_weight, value_weight),
        )
        for scale in scales
    ]


def attention_moments(
    setting: Setting, sizes: list[int], stream: np.random.Generator, device: str, dtype: str
) -> Iterator[Moments]:
    """Moments of self-attention on the first n of fresh tokens, for each n of sizes."""
    d = len(setting.variances)
    tokens = stream.normal(size=(sizes[-1], d)) * np.sqrt(setting.variances)  # (token, feature)
    return nested_moments(project(tokens, setting.heads, np.zeros(d), device, dtype), sizes)


def simulate(
    setting: Setting, sizes: list[int], replicates: int, nested: bool, seed: int, name: str, device: str, dtype: str
) -> Iterator[list[Moments]]:
    """For each replicate, moments at each size: of one nested sample, or of a sample of its own for each size."""
    number = crc32(setting.name.encode())
    for replicate in range(replicates):
        plan = [((), sizes)] if nested else [((size,), [size]) for size in sizes]
        yield [
            moments
            for address, served in plan
            for moments in attention_moments(
                setting, served, generator(seed, name, number, replicate, *address), device, dtype
            )
        ]


def finite_reference(
    setting: Setting, tokens: int, seed: int, name: str, device: str, dtype: str
) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance from one finite sample, in place of the limit: what the published protocol compares with."""
    stream = generator(seed, f"{name} reference", crc32(setting.name.encode()))
    (moments,) = attention_moments(setting, [tokens], stream, device, dtype)
    return moments.mean, moments.covariance
