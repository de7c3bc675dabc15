"""Attention on tokens uniform on a sphere, whose limit has a closed form, at horizons of any size."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from attnlimit.attention.kernel import Heads, Projected, nested_moments, project
from attnlimit.base.seeds import generator
from attnlimit.sampling.layout import Kept, setting_errors
from attnlimit.sampling.protocol import Protocol
from attnlimit.theory.geometry import horizon_published, horizons, tilt_matrix, value_variance
from attnlimit.theory.moments import Moments
from attnlimit.theory.sphere import sphere_moments

QUERIES_ASKED = 256  # enough for a mean over queries, few enough to hold all their weights


class Setting(NamedTuple):
    """One strength of attention. Its name is its address: settings can come and go and leave the others as they are."""

    name: str
    radius: float
    heads: Heads
    labels: dict[str, float]  # stored with its errors

    @property
    def dimension(self) -> int:
        return self.heads.query_weight.shape[-1]

    @property
    def covariance(self) -> np.ndarray:
        return token_covariance(self.dimension, self.radius)


def unit_heads(dimension: int, seed: int) -> Heads:
    """One head of scale 1: independent standard normal entries in W_q, W_k and W_v, as published, and no biases."""
    shape = (1, dimension, dimension)
    parts = ("query", "key", "value")
    query, key, value = (generator(seed, f"simulate_sphere {part}").normal(size=shape) for part in parts)
    return Heads(query, key, value, np.zeros((1, dimension)), np.zeros((1, dimension)))


def scaled(heads: Heads, scale: float) -> Heads:
    """W_q and W_k times the scale, so that A goes with its square."""
    return heads._replace(query_weight=scale * heads.query_weight, key_weight=scale * heads.key_weight)


def token_covariance(dimension: int, radius: float) -> np.ndarray:
    """Of the uniform law on the sphere: (R^2 / d) I."""
    return radius**2 / dimension * np.eye(dimension)


def tilt(heads: Heads) -> np.ndarray:
    return tilt_matrix(heads.query_weight, heads.key_weight)[0]  # (d, d)


def choose_settings(heads: Heads, radius: float, wanted: Iterable[float], scales: Iterable[float]) -> list[Setting]:
    """Settings with the wanted horizons, H = scale^2 H(1), then those with the given scales, the published ones."""
    matrix = tilt(heads)
    unit = horizons(token_covariance(len(matrix), radius), matrix)["horizon"]
    chosen = [(f"horizon {horizon:.12g}", float(np.sqrt(horizon / unit)), False) for horizon in wanted]
    chosen += [(f"scale {scale:.12g}", float(scale), True) for scale in scales]
    return [
        Setting(name, radius, scaled(heads, scale), {"scale": scale, "published": published})
        for name, scale, published in chosen
    ]


def draw_tokens(count: int, dimension: int, radius: float, stream: np.random.Generator) -> np.ndarray:
    """Uniform on the sphere: normal vectors brought to length R."""
    normal = stream.normal(size=(count, dimension))
    return radius * normal / np.linalg.norm(normal, axis=1, keepdims=True)  # (count, d)


def samples(setting: Setting, protocol: Protocol, replicate: int) -> Iterator[tuple[Projected, list[int]]]:
    """Projected tokens of each draw of one replicate, and the sizes that it serves."""
    for address, served in protocol.draws():
        stream = generator(protocol.seed, f"simulate_sphere {setting.name}", replicate, *address)
        tokens = draw_tokens(served[-1], setting.dimension, setting.radius, stream)
        centre = np.zeros(setting.dimension)
        yield project(tokens, setting.heads, centre, protocol.device, protocol.dtype), served


def simulate(setting: Setting, protocol: Protocol) -> Iterator[list[Moments]]:
    """For each replicate, moments at each size."""
    for replicate in range(protocol.replicates):
        drawn = samples(setting, protocol, replicate)
        yield [moments for sample, sizes in drawn for moments in nested_moments(sample, sizes)]


def attended(sample: Projected) -> float:
    """How many tokens a query attends to: Kish's effective number 1 / sum_i w_i^2, mean over some queries.

    At 1 the softmax is a hardmax, and more scale changes nothing.
    """
    weights = (sample.queries[0, :QUERIES_ASKED] @ sample.keys[0].T).softmax(-1)  # (query, n)
    return float((1 / weights.square().sum(-1)).mean())


def errors_of(setting: Setting, protocol: Protocol) -> Kept:
    """All that is kept of one setting, with how many tokens are attended at the largest size."""
    heads, covariance = setting.heads, setting.covariance
    limit = sphere_moments(setting.radius, tilt(heads), heads.value_weight[0])
    published = horizon_published(covariance, heads.query_weight, heads.key_weight)
    coupling = horizons(covariance, tilt(heads)) | {"constant_tilt": 0.0, "horizon_published": published}
    spread = value_variance(heads.value_weight[0], covariance)
    errors = setting_errors(simulate(setting, protocol), *limit, spread, coupling, protocol.group)
    *_, (largest, _) = samples(setting, protocol, 0)
    return errors | setting.labels | {"attended": attended(largest)}
