"""A real head whose tilt is changed, on tokens of its own layer: how it varies over tokens, or its constant part.

Factor alpha on A: the tilt becomes t(x) = alpha A x + b. The horizon, a property of A, becomes alpha H; b stays.
Factor tau on the constant tilt t0 = A m + b, m the mean token: t(x) = A (x - m) + tau t0. The horizon stays.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from attnlimit.attention.draws import draws
from attnlimit.attention.kernel import Heads, project
from attnlimit.attention.streaming import Atoms, Pass, limit_blocks
from attnlimit.base.parts import cuts
from attnlimit.sampling.layout import Kept, setting_errors
from attnlimit.sampling.protocol import Protocol
from attnlimit.sampling.samples import sampled_moments
from attnlimit.sources.model.population import atoms
from attnlimit.theory.geometry import constant_tilt, horizons, tilt_bias, tilt_matrix, value_variance
from attnlimit.theory.moments import Moments, merge_all, moments

ROWS_AT_ONCE = 8192  # of tokens made float64 for their covariance


class Setting(NamedTuple):
    """One head at one strength. Its name is its address: settings can come and go and leave the others as they are."""

    layer: int
    head: int
    alpha: float  # factor on A
    tilt_factor: float = 1.0  # on the constant tilt

    @property
    def name(self) -> str:
        tilt = "" if self.tilt_factor == 1 else f" tilt {self.tilt_factor:.12g}"
        return f"layer {self.layer} head {self.head} alpha {self.alpha:.12g}{tilt}"

    @property
    def labels(self) -> dict[str, float]:
        """Stored with its errors."""
        return {"of_layer": self.layer, "of_head": self.head, "alpha": self.alpha, "tilt_factor": self.tilt_factor}


class Population(NamedTuple):
    """The tokens of one layer that serve as the whole population, in memory, and the atoms that stand for them."""

    tokens: np.ndarray  # (token, feature)
    numbers: np.ndarray  # (atom,): a token of each atom
    counts: np.ndarray  # (atom,): how many tokens it stands for
    law: Moments  # of all tokens


class Layer(NamedTuple):
    """What the settings of one layer share."""

    heads: Heads
    population: Population
    block: int  # of queries and keys, for the limit


def spread_heads(count: int, horizons: dict[tuple[int, int], float]) -> list[tuple[int, int]]:
    """So many (layer, head), spread over the horizons evenly in log H, from the smallest to the largest."""
    left = dict(horizons)
    targets = np.geomspace(min(left.values()), max(left.values()), min(count, len(left)))
    ends = [targets[0], targets[-1]][: len(targets)]
    chosen = []
    for target in [*ends, *targets[1:-1]]:  # the ends first: they are there exactly
        nearest = min(left, key=lambda head: abs(np.log(left[head] / target)))
        del left[nearest]
        chosen.append(nearest)
    return sorted(chosen)


def require_heads(chosen: list[list[int]], layers: int, heads: int) -> None:
    """Raise at the first [layer, head] that a model of so many layers and heads does not have."""
    for layer, head in chosen:
        if layer >= layers or head >= heads:
            raise ValueError(
                f"config: measure_ablation.heads: no [{layer}, {head}]; "
                f"the model has layers 0 to {layers - 1} with heads 0 to {heads - 1}"
            )


def whole_blocks(block_of_token: np.ndarray, population: int) -> int:
    """How many tokens the first whole blocks hold that together have at least `population`, or all blocks."""
    ends = np.flatnonzero(np.diff(block_of_token, append=block_of_token[-1] + 1)) + 1  # (block,)
    return int(ends[min(int(np.searchsorted(ends, population)), len(ends) - 1)])


def as_population(tokens: np.ndarray, token_id: np.ndarray, position: np.ndarray, layer: int) -> Population:
    law = merge_all(moments(tokens[cut]) for cut in cuts(len(tokens), ROWS_AT_ONCE))
    return Population(tokens, *atoms(token_id, position, layer), law)


def chosen_settings(heads: list, alphas: list[float], tilt_factors: list[float]) -> list[Setting]:
    """Of each (layer, head): A scaled by each alpha, then the constant tilt scaled by each other factor."""
    settings = []
    for layer, head in heads:
        settings += [Setting(layer, head, float(alpha)) for alpha in alphas]
        settings += [Setting(layer, head, 1.0, float(factor)) for factor in tilt_factors if factor != 1]
    return settings


def changed_head(heads: Heads, setting: Setting, mean: np.ndarray) -> Heads:
    """One head of a layer with its tilt changed, in float64.

    W_q goes with alpha, and A = W_k^T W_q / sqrt(width) with it. The query of the mean token is W_q m + b_q, so that
    b_q + (tau - 1)(W_q m + b_q) makes the constant tilt tau times as long and leaves A as it is.
    """
    one = Heads(*(part[setting.head : setting.head + 1] for part in heads))
    query_weight = setting.alpha * one.query_weight.astype(np.float64)
    query_bias = one.query_bias.astype(np.float64)
    if setting.tilt_factor != 1:
        query_bias = query_bias + (setting.tilt_factor - 1) * (query_weight @ mean + query_bias)
    return one._replace(query_weight=query_weight, query_bias=query_bias)


def errors_of(setting: Setting, protocol: Protocol, layer_of: Callable[[int], Layer]) -> Kept:
    """All that is kept of one setting; layer_of gives the layer of that number.

    Samples are drawn with replacement from the population, so attention over all of it is their exact limit.
    """
    layer = layer_of(setting.layer)
    law = layer.population.law
    head = changed_head(layer.heads, setting, law.mean)
    # Limit and samples take the same centre off, so that what it shifts the outputs by cancels.
    limit = limit_moments(head, layer, protocol)
    key_weight = head.key_weight[0].astype(np.float64)
    tilt = tilt_matrix(head.query_weight[0], key_weight)
    constant = constant_tilt(law.mean, law.covariance, tilt, tilt_bias(head.query_bias[0], key_weight))
    coupling = horizons(law.covariance, tilt) | {"constant_tilt": constant}
    spread = value_variance(head.value_weight[0].astype(np.float64), law.covariance)
    how = (protocol.sizes, protocol.nested, True, protocol.seed, setting.layer)
    tokens, name = layer.population.tokens, f"measure_ablation {setting.name}"
    samples = (draws(len(tokens), *how, replicate, name=name) for replicate in range(protocol.replicates))
    pool = project(tokens, head, law.mean, protocol.device, protocol.dtype)
    errors = setting_errors(
        sampled_moments(samples, pool), limit.mean, limit.covariance, spread, coupling, protocol.group
    )
    return errors | setting.labels


def limit_moments(head: Heads, layer: Layer, protocol: Protocol) -> Moments:
    """Moments of attention of every token to all tokens, less the shift of the centre."""
    population, block = layer.population, layer.block
    whole = Atoms(lambda cut: population.tokens[population.numbers[cut]], population.counts)
    how = Pass(head, population.law.mean, block, protocol.device, protocol.dtype)
    blocks = cuts(len(population.numbers), block)
    return merge_all(moments for moments, _ in limit_blocks(whole, whole, blocks, how))
