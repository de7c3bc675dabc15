"""Attention on tokens uniform on a sphere, whose limit has a closed form, at horizons of any size."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple

import numpy as np

from attnlimit.attention import Heads, Projected, nested_moments, project
from attnlimit.geometry import horizon_published, horizons, tilt_matrix
from attnlimit.limits import sphere_moments
from attnlimit.moments import Moments
from attnlimit.sampling import generator
from attnlimit.simulation import setting_errors

QUERIES_ASKED = 256  # enough for a mean over queries, few enough to hold all their weights


class Setting(NamedTuple):
    """One strength of attention. Its name is its address: settings can come and go and leave the others as they are."""

    name: str
    scale: float  # of W_q and of W_k, so that A goes with its square


class Plan(NamedTuple):
    """How a setting is simulated."""

    sizes: list[int]
    replicates: int
    group: int
    nested: bool
    seed: int
    device: str
    dtype: str


def unit_heads(dimension: int, seed: int) -> Heads:
    """One head of scale 1: independent standard normal entries in W_q, W_k and W_v, as published, and no biases."""
    shape = (1, dimension, dimension)
    weights = [generator(seed, f"simulate_sphere {part}").normal(size=shape) for part in ("query", "key", "value")]
    return Heads(*weights, np.zeros((1, dimension)), np.zeros((1, dimension)))


def scaled(heads: Heads, scale: float) -> Heads:
    return heads._replace(query_weight=scale * heads.query_weight, key_weight=scale * heads.key_weight)


def token_covariance(dimension: int, radius: float) -> np.ndarray:
    """Of the uniform law on the sphere: (R^2 / d) I."""
    return radius**2 / dimension * np.eye(dimension)


def tilt(heads: Heads) -> np.ndarray:
    return tilt_matrix(heads.query_weight, heads.key_weight)[0]  # (d, d)


def choose_settings(heads: Heads, radius: float, wanted: Iterable[float], scales: Iterable[float]) -> list[Setting]:
    """Settings with the wanted horizons, H = scale^2 H(1), then those with the given scales."""
    matrix = tilt(heads)
    unit = horizons(token_covariance(len(matrix), radius), matrix)["horizon"]
    by_horizon = [Setting(f"horizon {horizon:.12g}", float(np.sqrt(horizon / unit))) for horizon in wanted]
    return by_horizon + [Setting(f"scale {scale:.12g}", float(scale)) for scale in scales]


def draw_tokens(count: int, dimension: int, radius: float, stream: np.random.Generator) -> np.ndarray:
    """Uniform on the sphere: normal vectors brought to length R."""
    normal = stream.normal(size=(count, dimension))
    return radius * normal / np.linalg.norm(normal, axis=1, keepdims=True)  # (count, d)


def samples(setting: Setting, heads: Heads, radius: float, plan: Plan, replicate: int) -> Iterator[Projected]:
    """Projected tokens of one replicate: one sample of the largest size if nested, else one for each size."""
    dimension = heads.query_weight.shape[-1]
    draws = [((replicate,), plan.sizes[-1])] if plan.nested else [((replicate, size), size) for size in plan.sizes]
    for address, size in draws:
        stream = generator(plan.seed, f"simulate_sphere {setting.name}", *address)
        tokens = draw_tokens(size, dimension, radius, stream)
        yield project(tokens, scaled(heads, setting.scale), np.zeros(dimension), plan.device, plan.dtype)


def moments_at_sizes(drawn: Iterable[Projected], plan: Plan) -> Iterator[Moments]:
    served = [plan.sizes] if plan.nested else [[size] for size in plan.sizes]
    pairs = zip(drawn, served, strict=True)
    return chain.from_iterable(nested_moments(sample, sizes) for sample, sizes in pairs)


def attended(sample: Projected) -> float:
    """How many tokens a query attends to: Kish's effective number 1 / sum_i w_i^2, mean over some queries.

    At 1 the softmax is a hardmax, and more scale changes nothing.
    """
    weights = (sample.queries[0, :QUERIES_ASKED] @ sample.keys[0].T).softmax(-1)  # (query, n)
    return float((1 / weights.square().sum(-1)).mean())


def simulate(setting: Setting, heads: Heads, radius: float, plan: Plan) -> dict[str, np.ndarray]:
    """All that is kept of one setting, as `setting_errors` says, with its scale and how many tokens are attended."""
    dimension = heads.query_weight.shape[-1]
    strong, covariance = scaled(heads, setting.scale), token_covariance(dimension, radius)
    limit = sphere_moments(radius, tilt(strong), heads.value_weight[0])
    value_variance = float((heads.value_weight**2).sum() * radius**2 / dimension)
    published = horizon_published(covariance, strong.query_weight, strong.key_weight)
    coupling = horizons(covariance, tilt(strong)) | {"horizon_published": published}
    drawn = (samples(setting, heads, radius, plan, replicate) for replicate in range(plan.replicates))
    errors = setting_errors(
        (moments_at_sizes(sample, plan) for sample in drawn), *limit, value_variance, coupling, plan.group
    )
    *_, largest = samples(setting, heads, radius, plan, 0)
    return errors | {"scale": setting.scale, "attended": attended(largest)}
