"""Does a coupling order the rates?  Rank correlations over fits that share noise, with intervals that know it.

Heads of one layer share their draws, and settings of one head its tokens: their noise correlates, so that whole
groups, layers or heads, are resampled and not single fits.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from attnlimit.base.seeds import generator
from attnlimit.stats.power_law import interval, levels

Columns = dict[str, np.ndarray]  # of fits: beta and couplings
Measure = Callable[[Columns], float]
USED = ("beta", "horizon", "constant_tilt")


class Resampling(NamedTuple):
    """How often to resample, and the seed of the stream."""

    draws: int
    seed: int


class Order(NamedTuple):
    """A rank correlation with its 95 % interval, of how many groups; without an interval if there is but one."""

    correlation: float
    low: float
    high: float
    groups: int


def correlations(x: np.ndarray, y: np.ndarray, weights: np.ndarray | float = 1.0) -> np.ndarray:
    """Pearson's correlations over the last axis, items counted so often; NaN where one of the two does not vary.

    Sums over ranks are exact: ranks, and their mean, are multiples of 1/2.
    """
    total = (weights * np.ones(np.shape(x))).sum(-1, keepdims=True)
    x, y = (each - (weights * each).sum(-1, keepdims=True) / total for each in (x, y))
    product, squares = (weights * x * y).sum(-1), (weights * x**2).sum(-1) * (weights * y**2).sum(-1)
    return np.divide(product, np.sqrt(squares), where=squares > 0, out=np.full(np.shape(squares), np.nan))


def rank_correlations(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Spearman's correlations over the last axis."""
    return correlations(rankdata(x, axis=-1), rankdata(y, axis=-1))


def resampled_ranks(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Ranks (draw, item) of values (item,) in samples that hold item i weights[·, i] times; ties share their mean."""
    below = (values[:, None] < values).astype(float)  # [i, j]: i lies below j
    tied = (values[:, None] == values).astype(float)
    return weights @ (below + tied / 2)


def ranked(coupling: str) -> Measure:
    """Spearman's correlation of beta with a coupling."""
    return lambda fits: float(rank_correlations(fits["beta"], fits[coupling]))


def partly_ranked(coupling: str, given: str) -> Measure:
    """The same with the other coupling held fixed: (r_bc - r_bg r_cg) / sqrt((1 - r_bg^2)(1 - r_cg^2))."""

    def measure(fits: Columns) -> float:
        beta, mine, other = (rankdata(fits[name]) for name in ("beta", coupling, given))
        of_beta, with_other, between = (
            float(correlations(*pair)) for pair in ((beta, mine), (beta, other), (mine, other))
        )
        scale = np.sqrt((1 - with_other**2) * (1 - between**2))
        return (of_beta - with_other * between) / scale if scale > 1e-9 else np.nan

    return measure


def correlated(coupling: str) -> Measure:
    """The plain correlation of beta with a coupling, for numbers that are ranks already: see `ranks_within`."""
    return lambda fits: float(correlations(fits["beta"], fits[coupling]))


def ranks_within(fits: pd.DataFrame, group: str | list[str]) -> pd.DataFrame:
    """The fits with beta and couplings as ranks within their group, centred there: groups no longer differ."""
    names = [name for name in USED if name in fits]
    ranks = fits.groupby(group)[names].rank()
    return fits.assign(**(ranks - ranks.groupby([fits[name] for name in np.atleast_1d(group)]).transform("mean")))


def order(fits: pd.DataFrame, measure: Measure, group: str | list[str], resampling: Resampling) -> Order:
    """A measure over fits, with its interval from groups that are resampled whole: see `power_law.levels`.

    With k groups the levels lie further out than 2.5 and 97.5 %, by Student's law with k - 1 degrees of freedom: at
    6 layers 0.2 and 99.8 %.
    """
    number = fits.groupby(group).ngroup().to_numpy()
    columns = {name: fits[name].to_numpy(float) for name in USED if name in fits}
    members = [np.flatnonzero(number == each) for each in range(number.max(initial=-1) + 1)]
    estimate = measure(columns) if members else np.nan
    if len(members) < 2:
        return Order(estimate, np.nan, np.nan, len(members))
    stream, drawn = generator(resampling.seed, "order of rates"), []
    for chosen in stream.integers(len(members), size=(resampling.draws, len(members))):
        rows = np.concatenate([members[each] for each in chosen])
        drawn.append(measure({name: column[rows] for name, column in columns.items()}))
    _, low, high = interval(np.array(estimate), np.array(drawn), levels(len(members)))
    return Order(estimate, float(low), float(high), len(members))


def ordered_heads(fits: pd.DataFrame, weakest_horizon: float, resampling: Resampling) -> Order:
    """Does H order the heads of a model?  The one definition that answer and claims share.

    fits: of one statistic, with beta, horizon, saturated, limit_uncertain, layer.  Layers are resampled.
    """
    return order(rankable(fits, weakest_horizon), ranked("horizon"), "layer", resampling)


def rankable(fits: pd.DataFrame, weakest_horizon: float) -> pd.DataFrame:
    """Fits that are evidence, at horizons at which the paper's curve is not 1/2 anyhow."""
    return fits[(fits["horizon"] >= weakest_horizon) & ~no_evidence(fits)]


def no_evidence(fits: pd.DataFrame) -> pd.Series:
    """Fits that no verdict rests on: saturated, or to a limit that is itself too uncertain."""
    return fits["saturated"].astype(bool) | fits["limit_uncertain"].astype(bool)
