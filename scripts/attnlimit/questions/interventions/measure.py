"""All heads of a layer with their tilt changed: how it varies over tokens, or its constant part.

t(x) = alpha A (x - m) + tau t0, with t0 = A m + b the tilt at the mean token m. The horizon becomes alpha H, the
constant tilt tau s0. Scaling A alone, with b kept, would change both: A m is most of t0 in real heads.
"""

from typing import NamedTuple

import numpy as np
import xarray as xr

from attnlimit.attention.draws import draws
from attnlimit.attention.kernel import Heads
from attnlimit.attention.streaming import Pass
from attnlimit.base.parts import cuts
from attnlimit.sampling.limits import keys_of, limit_part
from attnlimit.sampling.merging import merge_errors, merge_limits
from attnlimit.sampling.protocol import Protocol
from attnlimit.sampling.samples import Attention, layer_errors
from attnlimit.theory.geometry import constant_tilt, horizons, tilt_bias, tilt_matrix, value_variance
from attnlimit.theory.moments import Moments, merge_all, moments

ROWS_AT_ONCE = 8192  # of tokens made float64 for their covariance
# Of alpha that a coupling goes with; the image of A stays.
POWERS = {"horizon": 1, "horizon_one_sided": 1, "horizon_frobenius": 1, "psi": 2, "seen_variance": 0}


class Variant(NamedTuple):
    """What is changed in every head."""

    alpha: float = 1.0  # factor on how the tilt varies, and so on H
    tilt_factor: float = 1.0  # tau, on the constant tilt

    @property
    def name(self) -> str:
        if self.tilt_factor == 0:
            return "centred"
        changed = {"H": self.alpha, "tilt": self.tilt_factor}
        return ", ".join(f"{what} x {factor:g}" for what, factor in changed.items() if factor != 1) or AS_IT_IS


AS_IT_IS = "as it is"


class Population(NamedTuple):
    """The tokens of one layer that serve as the whole population, in memory."""

    tokens: np.ndarray  # (token, feature)
    token_id: np.ndarray  # (token,)
    position: np.ndarray  # (token,)
    law: Moments  # of the tokens

    @classmethod
    def of(cls, tokens: np.ndarray, token_id: np.ndarray, position: np.ndarray) -> "Population":
        law = merge_all(moments(tokens[cut]) for cut in cuts(len(tokens), ROWS_AT_ONCE))
        return cls(tokens, token_id, position, law)


def variants_of(horizon_factors: list[float], tilt_factors: list[float]) -> list[Variant]:
    """Heads as they are first: the others are compared with them."""
    return [Variant(), *map(Variant, horizon_factors), *(Variant(tilt_factor=factor) for factor in tilt_factors)]


def whole_blocks(block_of_token: np.ndarray, population: int) -> int:
    """How many tokens the first whole blocks hold that together have at least `population`, or all blocks."""
    ends = np.flatnonzero(np.diff(block_of_token, append=block_of_token[-1] + 1)) + 1  # (block,)
    return int(ends[min(int(np.searchsorted(ends, population)), len(ends) - 1)])


def changed(heads: Heads, variant: Variant, mean: np.ndarray) -> Heads:
    """All heads with their tilt changed, in float64: W_q -> alpha W_q, b_q -> tau (W_q m + b_q) - alpha W_q m.

    Written so that alpha = tau = 1 changes no bit.
    """
    weight, bias = heads.query_weight.astype(np.float64), heads.query_bias.astype(np.float64)
    at_mean = weight @ mean  # (head, width)
    bias = bias + (variant.tilt_factor - 1) * (at_mean + bias) + (1 - variant.alpha) * at_mean
    return heads._replace(query_weight=variant.alpha * weight, query_bias=bias)


def couplings(heads: Heads, law: Moments) -> dict[str, np.ndarray]:
    """Horizons and constant tilt of each head as it is, (head,) each."""
    query_weight, key_weight, query_bias = (
        part.astype(np.float64) for part in (heads.query_weight, heads.key_weight, heads.query_bias)
    )
    tilts, biases = tilt_matrix(query_weight, key_weight), map(tilt_bias, query_bias, key_weight)
    found = [
        horizons(law.covariance, tilt) | {"constant_tilt": constant_tilt(law.mean, law.covariance, tilt, bias)}
        for tilt, bias in zip(tilts, biases, strict=True)
    ]
    return {name: np.array([head[name] for head in found]) for name in found[0]}


def scaled(of_heads: dict[str, np.ndarray], variant: Variant) -> dict[str, np.ndarray]:
    """Couplings of the changed heads from those of the heads as they are: H goes with alpha, s0 with tau."""
    return {
        name: numbers * (variant.alpha ** POWERS[name] if name in POWERS else variant.tilt_factor)
        for name, numbers in of_heads.items()
    }


def limit_of(heads: Heads, population: Population, layer: int, block: int, protocol: Protocol) -> xr.Dataset:
    """Attention of every token to all tokens: the exact limit of samples drawn from them with replacement."""
    tokens = population.tokens
    keys = keys_of(population.token_id, population.position, layer, lambda numbers: tokens[numbers])
    how = Pass(heads, population.law.mean, block, protocol.device, protocol.dtype)
    part = limit_part(keys, keys, list(range(len(cuts(len(keys.counts), block)))), how)
    return merge_limits([part], len(tokens), len(tokens))


def intervene(
    heads: Heads, population: Population, layer: int, variants: list[Variant], block: int, protocol: Protocol
) -> xr.Dataset:
    """Errors of all heads of a layer in each variant, against its own exact limit: (variant, statistic, head, …).

    All variants see the same samples, so that their differences have little noise.
    """
    law, of_heads = population.law, couplings(heads, population.law)
    spread = value_variance(heads.value_weight.astype(np.float64), law.covariance)  # (head,)
    how = (len(population.tokens), protocol.sizes, protocol.nested, True, protocol.seed, layer)
    samples = [draws(*how, replicate, name="measure_interventions") for replicate in range(protocol.replicates)]

    def read(numbers: np.ndarray) -> np.ndarray:
        return population.tokens[numbers]

    def errors_of(variant: Variant) -> xr.Dataset:
        """As merge_errors has them, without differences to the limit."""
        own = changed(heads, variant, law.mean)
        attention = Attention(own, law.mean, protocol.device, protocol.dtype)
        limit = limit_of(own, population, layer, block, protocol)
        part = layer_errors(samples, read, attention, limit, protocol.group, variant.name)
        part = part.assign_coords(replicate=range(protocol.replicates), group=range(part.sizes["group"]))
        numbers = xr.Dataset(
            {name: ("head", values) for name, values in scaled(of_heads, variant).items()},
            coords={"head": range(len(spread))},
        ).assign(token_mean=("feature", law.mean))
        return merge_errors([part], limit, numbers, spread).drop_dims("feature")

    joined = xr.concat([errors_of(variant) for variant in variants], "variant", join="exact")
    factors = {name: ("variant", [getattr(each, name) for each in variants]) for name in Variant._fields}
    return joined.assign(factors).assign_coords(variant=[each.name for each in variants], layer=layer)
