"""The limit of one layer from some of its queries and a surrogate for all others, in steps that jobs can share.

Exact outputs of the drawn queries; a surrogate fitted to all of them; its moments over the whole population. The limit
follows from both (`merging.merge_surrogate`). Blocks and chunks are fixed: the number of jobs changes no bit.
"""

from collections.abc import Callable
from functools import partial
from itertools import islice
from typing import NamedTuple

import numpy as np
import torch
import xarray as xr

from attnlimit.attention.kernel import Segment, output_moments, output_shift, project_keys, project_queries
from attnlimit.attention.regressors import CHUNKS, FOLDS, clusters, few_keys, product_directions, spread_step
from attnlimit.attention.streaming import Atoms, Pass, as_rows, end_to_end, states_of
from attnlimit.attention.surrogate import (
    Basis,
    Surrogate,
    averaged,
    basis_of,
    correction_of,
    fit_spread,
    fit_surrogate,
    predict,
)
from attnlimit.base.coordinates import with_whole_layer
from attnlimit.base.log import bar, logger
from attnlimit.base.parts import cuts, share
from attnlimit.sampling.joining import join_parts, moments_variables
from attnlimit.theory.moments import Moments, merge_all

QUERIES_PER_BLOCK = 1024  # of exact outputs: one job has that many at least
CLUSTERED = 4096  # keys, evenly spread, from which clusters are made
MARKS = 64  # drawn at least: enough for their variance, few enough to cost nothing


class Drawn(NamedTuple):
    """The queries with exact outputs, by increasing number."""

    number: np.ndarray  # (query,): of the token
    fold: np.ndarray  # (query,)
    stratum: np.ndarray  # (query,)
    sizes: np.ndarray  # (stratum,): tokens of the population

    def atoms(self, read: Callable[[np.ndarray], np.ndarray]) -> Atoms:
        return Atoms(lambda cut: read(self.number[cut]), np.ones(len(self.number)))


def marks_of(block_of_token: np.ndarray) -> np.ndarray:
    """Whether a token is the first or the last of its block, (token,): an opening or a closing mark."""
    border = np.diff(block_of_token) != 0
    return np.append(True, border) | np.append(border, True)


def draw(is_mark: np.ndarray, queries: int, stream: np.random.Generator) -> Drawn:
    """This number of tokens without replacement. Marks are a stratum: their share, but at least MARKS or all of them.

    In each stratum the folds follow one another in the order of the draw.
    """
    strata = [np.flatnonzero(is_mark == kind) for kind in (False, True)]
    marks = min(len(strata[1]), max(MARKS, round(queries * len(strata[1]) / len(is_mark))), queries // 2)
    if marks < 2 * FOLDS or queries - marks > len(strata[0]):  # a variance within a fold needs two
        strata, counts = [np.arange(len(is_mark))], [queries]
    else:
        counts = [queries - marks, marks]
    drawn = [stream.choice(tokens, count, replace=False) for tokens, count in zip(strata, counts, strict=True)]
    number = np.concatenate(drawn)
    fold = np.concatenate([np.arange(count) * FOLDS // count for count in counts])
    order = np.argsort(number)
    stratum = np.repeat(np.arange(len(counts)), counts)
    return Drawn(number[order], fold[order], stratum[order], np.array([len(tokens) for tokens in strata]))


def output_part(
    keys: Atoms, drawn: Drawn, read: Callable[[np.ndarray], np.ndarray], part: int, parts: int, how: Pass
) -> xr.Dataset:
    """Exact outputs, less their shift, of one job's queries: output (query, feature); fold, stratum (query)."""
    mine = share(cuts(len(drawn.number), QUERIES_PER_BLOCK), part, parts)
    chosen = np.arange(mine[0].start, mine[-1].stop) if mine else np.arange(0)
    watch = partial(bar, total=len(cuts(len(keys.counts), how.block)), unit="key blocks", name="exact outputs")
    states = states_of(drawn.atoms(read), keys, mine, how, watch)
    outputs, totals = end_to_end([as_rows(state) for state in states], how)
    stands_for = (drawn.sizes / np.bincount(drawn.stratum, minlength=len(drawn.sizes)))[drawn.stratum]  # (query,)
    return xr.Dataset(
        {
            "output": (("query", "feature"), outputs),
            "total": (("query", "head"), totals),
            "stands_for": ("query", stands_for[chosen]),
            "fold": ("query", drawn.fold[chosen]),
            "stratum": ("query", drawn.stratum[chosen]),
            "stratum_size": ("of_stratum", drawn.sizes),
            "centre": ("feature", how.centre),
        },
        coords={"query": drawn.number[chosen]},
    )


def joined_outputs(parts: list[xr.Dataset]) -> tuple[xr.Dataset, Drawn]:
    """The queries of all parts, and how they were drawn."""
    joined = join_parts(parts, "query", ("centre", "stratum_size"))
    names = ("query", "fold", "stratum", "stratum_size")
    return joined, Drawn(*(joined[name].values for name in names))


def evenly(population: int, count: int) -> np.ndarray:
    """`count` token numbers, evenly spaced over the population, independent of the draw."""
    return np.arange(count) * population // count


def fitted_surrogate(
    exact: np.ndarray, drawn: Drawn, keys: Atoms, read: Callable[[np.ndarray], np.ndarray], how: Pass
) -> xr.Dataset:
    """The surrogate and what the exact outputs (query, feature) add to it, as variables of a store."""
    projection = (how.heads, how.centre, how.device, how.dtype)
    queries = project_queries(read(drawn.number), *projection)
    heads, count, width = queries.shape
    directions = product_directions(count, width)
    if directions < width:
        logger.warning(
            "compute_limits.queries: %d are few for the products of %d coordinates of a query; taking those of %d. "
            "The limit is as unbiased, its standard errors are larger",
            *(count, width, directions),
        )
    population = drawn.sizes.sum()
    few = Segment(*project_keys(read(evenly(population, few_keys(count))), *projection))
    grouped, _ = project_keys(read(evenly(population, min(population, CLUSTERED))), *projection)
    some = project_queries(keys.read(slice(0, how.block)), *projection)
    basis = basis_of(some, few, directions, grouped, clusters(count))
    outputs = torch.as_tensor(exact).to(queries).unflatten(1, (heads, width)).transpose(0, 1)
    surrogate = fit_surrogate(queries, outputs, drawn.fold, basis)
    correction = correction_of(outputs, predict(surrogate, queries), *drawn[1:])
    by_width = ("head", "few", "width")
    return xr.Dataset(
        {
            "coefficient": (("fold", "head", "regressor", "width"), surrogate.coefficients.cpu().numpy()),
            "fold_share": ("fold", surrogate.shares),
            "query_centre": (("head", "width"), basis.centre),
            "rotation": (("head", "width", "coordinate"), basis.rotation),
            "few_keys": (by_width, few.keys.cpu().numpy()),
            "few_values": (by_width, few.values.cpu().numpy()),
            "few_output_centre": (("head", "width"), basis.output_centre),
            "few_output_scale": ("head", basis.output_scale),
            "cluster_keys": (("head", "cluster", "width"), basis.clusters),
            "cluster_log_sizes": (("head", "cluster"), basis.log_sizes),
            "cluster_weight_scale": (("head", "cluster"), basis.weight_scale),
            "directions": directions,
            "reference": ("feature", correction.reference),
            "residual_mean": ("feature", correction.mean),
            "residual_second": (("feature", "feature_2"), correction.second),
            "output_shift": ("feature", output_shift(how.heads, how.centre)),
            "centre": ("feature", how.centre),
            "limit_mean_se": ("unit", correction.mean_se),
            "limit_covariance_se": ("unit", correction.covariance_se),
            "residual_share": ("unit", correction.residual_share),
        },
        coords={"head": range(heads), "unit": with_whole_layer(heads)},
    )


def stored_surrogate(store: xr.Dataset, how: Pass) -> Surrogate:
    """The surrogate of a store, on the device and in the precision of the pass."""
    kind = {"dtype": getattr(torch, how.dtype), "device": how.device}
    few = Segment(*(torch.as_tensor(store[name].values, **kind) for name in ("few_keys", "few_values")))
    basis = Basis(
        store["query_centre"].values,
        store["rotation"].values,
        few,
        store["few_output_centre"].values,
        store["few_output_scale"].values,
        store["cluster_keys"].values,
        store["cluster_log_sizes"].values,
        store["cluster_weight_scale"].values,
        int(store["directions"]),
    )
    return Surrogate(basis, torch.as_tensor(store["coefficient"].values, **kind), store["fold_share"].values)


def surrogate_part(
    queries: Atoms,
    surrogate: Surrogate,
    part: int,
    parts: int,
    how: Pass,
    stream: Callable[[int], np.random.Generator],
) -> xr.Dataset:
    """Moments of the surrogate over one job's chunks of the population, all its fits together.

    stream: random numbers of the block that begins at a query.
    """
    blocks = cuts(len(queries.counts), how.block)
    chunks = {chunk: share(blocks, chunk, CHUNKS) for chunk in share(list(range(CHUNKS)), part, parts)}
    chunks = {chunk: cuts_of_chunk for chunk, cuts_of_chunk in chunks.items() if cuts_of_chunk}
    every = [cut for cuts_of_chunk in chunks.values() for cut in cuts_of_chunk]
    shown = bar(every, total=len(every), unit="blocks", name="surrogate")
    mean, step = averaged(surrogate), spread_step(len(queries.counts))
    each = (
        block_moments(queries, cut, (mean, surrogate), how, int(stream(cut.start).integers(step)), step)
        for cut in shown
    )
    found = [merge_all(islice(each, len(cuts_of_chunk))) for cuts_of_chunk in chunks.values()]
    features = surrogate.coefficients.shape[1] * surrogate.coefficients.shape[3]
    return xr.Dataset(moments_variables(found, "chunk", features), coords={"chunk": list(chunks)})


def block_moments(
    queries: Atoms, cut: slice, fits: tuple[Surrogate, Surrogate], how: Pass, first: int, step: int
) -> Moments:
    """Moments of the surrogate on one block of queries, all fits together: those of their mean, and their spread.

    fits: their mean, and all of them; the spread is from every `step`-th query, beginning with one drawn at random.
    """
    mean, apart = fits
    projected = project_queries(queries.read(cut), how.heads, how.centre, how.device, how.dtype)
    counts = torch.as_tensor(queries.counts[cut], dtype=torch.float64, device=how.device)
    moments = output_moments(predict(mean, projected)[0], counts)
    spread = step * fit_spread(apart, projected[:, first::step], counts[first::step])
    return moments._replace(scatter=moments.scatter + spread)
