"""Attention on tokens uniform on a sphere, whose limit has a closed form, at horizons of any size."""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
import xarray as xr

from attnlimit.attention.kernel import Heads, project
from attnlimit.base.log import bar
from attnlimit.base.seeds import generator
from attnlimit.sampling.layout import Kept, setting_errors
from attnlimit.sampling.protocol import Protocol
from attnlimit.sampling.samples import Attention, Stream, simulated_moments
from attnlimit.theory.geometry import horizon_published, horizons, tilt_matrix, value_variance
from attnlimit.theory.interval import interval_variance
from attnlimit.theory.moments import Moments, moments
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

    def draw(self, stream: np.random.Generator, count: int) -> np.ndarray:
        return on_sphere(stream, (count, self.dimension), self.radius)


def on_sphere(stream: np.random.Generator, shape: tuple[int, int], radius: float) -> np.ndarray:
    """Uniform on the sphere, (token, d): normal vectors brought to length R."""
    normal = stream.normal(size=shape)
    return radius * normal / np.linalg.norm(normal, axis=1, keepdims=True)


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


def simulate(setting: Setting, protocol: Protocol) -> Iterator[list[Moments]]:
    """For each replicate, moments at each size."""
    return simulated_moments(setting.draw, attention(setting, protocol), protocol, streams(setting, protocol))


def attention(setting: Setting, protocol: Protocol) -> Attention:
    return Attention(setting.heads, np.zeros(setting.dimension), protocol.device, protocol.dtype)


def streams(setting: Setting, protocol: Protocol) -> Stream:
    return partial(generator, protocol.seed, f"simulate_sphere {setting.name}")


def attended(setting: Setting, protocol: Protocol) -> float:
    """How many tokens a query attends to at the largest size: Kish's effective number 1 / sum_i w_i^2, mean over some
    queries of the first replicate.

    At 1 the softmax is a hardmax, and more scale changes nothing.
    """
    address, sizes = protocol.draws()[-1]
    sample = project(setting.draw(streams(setting, protocol)(0, *address), sizes[-1]), *attention(setting, protocol))
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
    return errors | setting.labels | {"attended": attended(setting, protocol)}


def simulate_constants(options: dict, seed: int) -> xr.Dataset:
    """Errors of mean and covariance on n tokens, A = V = I: uniform on [-R, R], and on the sphere of radius R.

    options is the section simulate_constants.  error (setting, statistic, replicate), a setting a law and a radius.
    """
    places = [(d, float(radius)) for d in (1, options["dimension"]) for radius in options["radii"]]
    shown = bar(places, len(places), "settings", "constants")
    errors = [errors_at(d, radius, options["size"], options["replicates"], seed) for d, radius in shown]
    return xr.Dataset(
        {
            "error": (("setting", "statistic", "replicate"), np.array(errors)),
            "drawn_dimension": ("setting", [d for d, _ in places]),
            "drawn_radius": ("setting", [radius for _, radius in places]),
        },
        coords={"setting": [f"d = {d}, R = {radius:g}" for d, radius in places], "statistic": ["mean", "cov"]},
    )


def errors_at(dimension: int, radius: float, size: int, replicates: int, seed: int) -> np.ndarray:
    """Distances of mean (Euclidean) and covariance (Frobenius) from their limits, (statistic, replicate)."""
    if dimension == 1:
        limit = np.array([[interval_variance(radius)]])
    else:
        _, limit = sphere_moments(radius, np.eye(dimension), np.eye(dimension))
    errors = []
    for replicate in range(replicates):
        stream = generator(seed, f"simulate_constants d={dimension} R={radius:.12g}", replicate)
        shape = (size, dimension)
        tokens = stream.uniform(-radius, radius, shape) if dimension == 1 else on_sphere(stream, shape, radius)
        weights = np.exp(tokens @ tokens.T - radius**2)  # (query, key)
        found = moments(weights @ tokens / weights.sum(1, keepdims=True))
        errors.append((np.linalg.norm(found.mean), np.linalg.norm(found.covariance - limit)))
    return np.array(errors).T
