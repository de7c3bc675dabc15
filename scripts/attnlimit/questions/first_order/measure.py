"""The constants of first and second order of every head, from the outputs of the limit pass; nothing is fitted."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import torch
import xarray as xr
from torch import Tensor

from attnlimit.attention.influence import Asked, entries, products, received, received_products, second_kernel
from attnlimit.attention.kernel import Heads, Projected, Segment, State, absorb, log_counts, project, project_queries
from attnlimit.attention.streaming import Atoms, Pass
from attnlimit.base.coordinates import with_whole_layer
from attnlimit.base.log import bar
from attnlimit.base.parts import cuts

HIGH = 0.95  # the quantile of kappa over queries that is stored


@dataclass(frozen=True)
class Limit:
    """A population, and what the limit pass left of it: outputs and log-sum-exp of its queries."""

    keys: Atoms
    queries: Atoms  # all tokens, or some; counts: how many tokens each stands for
    outputs: np.ndarray  # (query, feature), less their shift
    totals: np.ndarray  # (query, head)
    mean: np.ndarray  # (feature,): of the limit, less the shift
    covariance: np.ndarray  # (feature, feature)
    how: Pass

    @cached_property
    def tokens(self) -> float:
        return float(self.keys.counts.sum())

    @property
    def drawn(self) -> bool:
        """Whether the queries are some of the tokens, not all."""
        return self.queries is not self.keys

    def by_head(self, rows: np.ndarray) -> Tensor:
        """Outputs (row, feature) as g, (head, row, width)."""
        centred = torch.as_tensor((rows - self.mean).astype(self.how.dtype), device=self.how.device)
        return centred.unflatten(1, (len(self.how.heads.query_weight), -1)).transpose(0, 1).contiguous()

    @property
    def projection(self) -> tuple[Heads, np.ndarray, str, str]:
        return self.how.heads, self.how.centre, self.how.device, self.how.dtype

    def projected(self, atoms: Atoms, places: slice | np.ndarray) -> Projected:
        """Tokens at these places, in any order; values less the limit's mean."""
        found = project(tokens_at(atoms, places), *self.projection)
        return found._replace(values=found.values + self.by_head(np.zeros((1, len(self.mean)))))

    def asked(self, places: np.ndarray, weights: np.ndarray) -> Asked:
        """Queries at these places, in any order, each for so many tokens."""
        queries = project_queries(tokens_at(self.queries, places), *self.projection)
        totals = torch.as_tensor(np.ascontiguousarray(self.totals[places].T)).to(queries)
        counted = torch.as_tensor(weights, dtype=torch.float64, device=self.how.device)
        return Asked(queries, self.by_head(self.outputs[places]), totals, counted)


def tokens_at(atoms: Atoms, places: slice | np.ndarray) -> np.ndarray:
    """(token, feature); each is read once, by increasing number."""
    if isinstance(places, slice):
        return atoms.read(places)
    unique, inverse = np.unique(places, return_inverse=True)
    return atoms.read(unique)[inverse]


class Scouted(NamedTuple):
    """What some queries tell of all keys."""

    kappa: Tensor  # (head, scout): E_z w^2
    bias: Tensor  # (half, head, width, width): B but for E psi psi^T, from each half of the scouts
    probability: np.ndarray  # (key,): by which keys are drawn


class Influence(NamedTuple):
    """Of drawn keys, from each half of the queries; both are one and the same if the queries are all tokens."""

    psi: Tensor  # (half, head, key, width)
    psi_cov: Tensor  # (half, head, key, entry), of the first keys
    weight: Tensor  # (key,): share of a key in the population over its probability


def scout(limit: Limit, count: int, stream: np.random.Generator) -> Scouted:
    """So many queries drawn by the tokens they stand for, against all keys.

    B + E psi psi^T = E_x E_z phi phi^T + M + M^T,  M = E_x[(phi(x, x) - E_z[w phi](x)) g(x)^T].  With r the output at
    doubled scores, kappa = E_z w^2:  E_z[w phi] = kappa (r - g),
    E_x E_z phi phi^T = sum_z c_z E_x[w^2 / N] v v^T - E_x kappa (r g^T + g r^T - g g^T).
    Keys are drawn by half uniformly, by half with (|g| + |a v - b|)^2 and (|g|^2 + 2 |v| |b|)^2, what psi and psiC are
    about, from the scouts' a and b, the mean over heads.
    """
    weights = limit.queries.counts / limit.queries.counts.sum()
    places = stream.choice(len(weights), count, p=weights)
    own = limit.projected(limit.queries, places)
    scouts = limit.asked(places, np.full(count, limit.tokens / count))
    sides = [scouts.take(slice(side, None, 2)) for side in (0, 1)]
    sides = [each._replace(weights=2 * each.weights) for each in sides]
    heads, _, width = scouts.queries.shape
    second = torch.zeros(2, heads, width, width, dtype=torch.float64, device=limit.how.device)
    state: State | None = None
    sizes = []
    blocks = cuts(len(limit.keys.counts), limit.how.block)
    for cut in bar(blocks, total=len(blocks), unit="key blocks", name="scouts"):
        tokens, counts = limit.projected(limit.keys, cut), limit.keys.counts[cut]
        segment = Segment(tokens.keys, tokens.values, log_counts(counts, tokens.keys))
        state = absorb(state, 2 * scouts.queries, segment)
        counted = torch.as_tensor(counts, dtype=torch.float64, device=limit.how.device)
        values = tokens.values.double()
        squares = torch.stack([received(tokens.keys, side, power=2)[0] * counted for side in sides])
        second += torch.einsum("shk,hkv,hkw->shvw", squares, values, values)
        if not limit.drawn:
            sizes.append(expected_size(limit.by_head(limit.outputs[cut]), values, *received(tokens.keys, scouts)))
    if state is None:
        raise ValueError("embeddings: no tokens; run extract_embeddings again")

    kappa = limit.tokens * (state.total.double() - 2 * scouts.totals.double()).exp()  # (head, scout)
    outputs, doubled = scouts.outputs.double(), state.output.double()
    scores = (own.queries.double() * own.keys.double()).sum(-1)
    itself = limit.tokens * (scores - scouts.totals.double()).exp()  # w(x, x)
    move = itself[..., None] * (own.values.double() - outputs) - kappa[..., None] * (doubled - outputs)
    rest = move - kappa[..., None] * (doubled - outputs / 2)  # its product with g, and that transposed: B
    halves = [torch.einsum("hxv,hxw->hvw", part, other) for part, other in halved(rest, outputs)]
    local = torch.stack(halves) / (count / 2)
    return Scouted(kappa, second + local + local.mT, probabilities(limit, sizes))


def halved(*tensors: Tensor) -> list[tuple[Tensor, ...]]:
    """Every second entry along the second axis, from the first and from the second on."""
    return [tuple(each[:, side::2] for each in tensors) for side in (0, 1)]


def expected_size(outputs: Tensor, values: Tensor, total: Tensor, pulled: Tensor) -> Tensor:
    """About |psi|^2 and ||psiC||^2 of keys, (2, head, key), from a and b."""
    centred = outputs.double().norm(dim=-1)
    mean = centred + (total[..., None] * values - pulled).norm(dim=-1)
    cov = centred.square() + 2 * values.norm(dim=-1) * pulled.norm(dim=-1)
    return torch.stack([mean, cov]).square()


def probabilities(limit: Limit, sizes: list[Tensor]) -> np.ndarray:
    """By which keys are drawn: uniformly over tokens and, where their size is expected, by half with that."""
    if limit.drawn:
        return np.full(len(limit.queries.counts), 1 / len(limit.queries.counts))
    uniform = limit.keys.counts / limit.tokens
    expected = torch.cat(sizes, -1).cpu().numpy() * uniform  # (2, head, key)
    return uniform / 2 + (expected / expected.sum(-1, keepdims=True)).mean((0, 1)) / 2


def influence(
    limit: Limit, probability: np.ndarray, keys: int, cov_keys: int, stream: np.random.Generator
) -> Influence:
    """psi of so many keys, and psiC of the first of them.

    With all tokens as queries, keys are drawn with these probabilities, and the two halves are the same. With drawn
    queries, they are the keys, since only their own outputs are known; a(z), b(z), S(z) come from two halves of them,
    so that products of one half and the other have no noise in common. A key's own query, which is known, counts as
    the one token that it is, and those drawn as all others.
    """
    source = limit.queries if limit.drawn else limit.keys
    count = min(keys, len(probability)) if limit.drawn else keys
    places = stream.choice(len(probability), count, replace=not limit.drawn, p=probability)
    tokens, some = limit.projected(source, places), slice(0, cov_keys)
    outputs, values = limit.by_head(limit.outputs[places]).double(), tokens.values.double()
    own = products(outputs[:, some], outputs[:, some])
    covariance = entries(head_blocks(limit.covariance, len(outputs)).to(outputs))[:, None]
    psi, psi_cov = [], []
    for side in [slice(0, None, 2), slice(1, None, 2)] if limit.drawn else [slice(0, None, 1)]:
        a, b, s = summed_over_queries(limit, tokens.keys, some, side)
        if limit.drawn:
            mine = torch.as_tensor(weights_of(limit, side)[places]).to(outputs)  # (key,): 0 in the other half
            totals = torch.as_tensor(np.ascontiguousarray(limit.totals[places].T)).to(outputs)
            itself = ((tokens.queries.double() * tokens.keys.double()).sum(-1) - totals).exp()  # (head, key)
            others = (limit.tokens - 1) / (limit.tokens - mine)
            itself *= 1 - others * mine
            a, b = others * a + itself, others[:, None] * b + itself[..., None] * outputs
            s = others[some, None] * s + itself[:, some, None] * own
        psi.append(outputs + a[..., None] * values - b)
        psi_cov.append(own - covariance + 2 * products(values[:, some], b[:, some]) - 2 * s)
    share = source.counts[places] / source.counts.sum()
    weight = torch.as_tensor(share / probability[places]).to(outputs)
    return Influence(torch.stack(psi)[[0, -1]], torch.stack(psi_cov)[[0, -1]], weight)


def weights_of(limit: Limit, side: slice) -> np.ndarray:
    """Tokens that each query stands for if only those of one side are there, (query,): 0 for the others."""
    weights = np.zeros(len(limit.queries.counts))
    weights[side] = limit.queries.counts[side] * (limit.tokens / limit.queries.counts[side].sum())
    return weights


def summed_over_queries(limit: Limit, keys: Tensor, some: slice, side: slice) -> tuple[Tensor, Tensor, Tensor]:
    """a, b of keys and S of some of them, from the queries of one side, block by block in a fixed order."""
    weights, blocks = weights_of(limit, side), cuts(len(limit.queries.counts), limit.how.block)
    sums: list[Tensor] = []
    for cut in bar(blocks, total=len(blocks), unit="query blocks", name="influence"):
        places = np.arange(cut.start, cut.stop)[weights[cut] > 0]
        asked = limit.asked(places, weights[places])
        found = [*received(keys, asked), received_products(keys[:, some], asked)]
        sums = [before + new for before, new in zip(sums, found, strict=True)] if sums else found
    a, b, s = sums
    return a, b, s


def head_blocks(matrix: np.ndarray, heads: int) -> Tensor:
    """The diagonal blocks of a layer's matrix, (head, width, width)."""
    width = len(matrix) // heads
    return torch.as_tensor(np.einsum("hvhw->hvw", matrix.reshape(heads, width, heads, width)).copy())


def square(limit: Limit, count: int, draws: int, stream: np.random.Generator) -> Tensor:
    """||k - mean k||^2 of the second-order kernel, (head, draw), on so many tokens drawn from the population."""
    places = stream.choice(len(limit.keys.counts), count, p=limit.keys.counts / limit.tokens)
    tokens = limit.projected(limit.keys, places)
    noise = torch.as_tensor(stream.normal(size=(count, draws))).to(tokens.keys)
    found = []
    for each in zip(*tokens, strict=True):
        kernel = second_kernel(*each, noise).double()  # (draw, width, width)
        found.append((kernel - kernel.mean(0)).square().sum((1, 2)) * draws / (draws - 1))
    return torch.stack(found)


def constants(limit: Limit, options: dict, stream: np.random.Generator) -> xr.Dataset:
    """All that is stored of a layer."""
    scouted = scout(limit, options["scouts"], stream)
    found = influence(limit, scouted.probability, options["keys"], options["covariance_keys"], stream)
    return summed_up(scouted, found, square(limit, options["square"], options["draws"], stream))


def summed_up(scouted: Scouted, found: Influence, variance: Tensor) -> xr.Dataset:
    """constant (statistic, head) = E|psi|^2 and E||psiC||^2, bias_squared = ||B||^2 as a product of two halves, ….

    Of the whole layer, its heads side by side, the covariance is left out: it would cost as many times more as there
    are heads; its kappa is the largest of its heads.
    """
    by_key = found.psi.prod(0).sum(-1)  # (head, key)
    mean = found.weight * torch.cat([by_key, by_key.sum(0, keepdim=True)])
    cov = found.weight[: found.psi_cov.shape[2]] * found.psi_cov.prod(0).sum(-1)
    weighted = found.weight[:, None] * found.psi[0], found.psi[1]
    means = [torch.einsum("hkv,hkw->hvw", *pair) / pair[0].shape[1] for pair in halved(*weighted)]
    outer = torch.stack(means)
    bias = scouted.bias - (outer + outer.mT) / 2  # (half, head, width, width)
    (c1, c1_se), (c2, c2_se), (v2, v2_se) = (mean_and_error(each) for each in (mean, cov, variance))
    kappa = np.stack([scouted.kappa.mean(1).cpu().numpy(), scouted.kappa.quantile(HIGH, dim=1).cpu().numpy()])
    none = np.full(1, np.nan)
    return xr.Dataset(
        {
            "constant": (("statistic", "head"), np.stack([c1, np.append(c2, none)])),
            "constant_se": (("statistic", "head"), np.stack([c1_se, np.append(c2_se, none)])),
            "bias_squared": ("head", np.append(bias.prod(0).sum((1, 2)).cpu().numpy(), none)),
            "second_variance": ("head", np.append(v2, none)),
            "second_variance_se": ("head", np.append(v2_se, none)),
            "kappa": ("head", np.append(kappa[0], kappa[0].max())),
            "kappa_quantile": ("head", np.append(kappa[1], kappa[1].max())),
        },
        coords={"statistic": ["mean", "cov"], "head": with_whole_layer(len(c2))},
    )


def mean_and_error(values: Tensor) -> tuple[np.ndarray, np.ndarray]:
    """Mean over the last axis, and its standard error."""
    return values.mean(-1).cpu().numpy(), (values.std(-1) / values.shape[-1] ** 0.5).cpu().numpy()
