"""Does a coupling order the rates?  Rank correlations, and which fits are evidence."""

from collections.abc import Callable

import numpy as np
import pandas as pd
from scipy.stats import rankdata

Columns = dict[str, np.ndarray]  # of fits: beta and couplings
Measure = Callable[[Columns], float]


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


def rankable(fits: pd.DataFrame, weakest_horizon: float) -> pd.DataFrame:
    """Fits that are evidence, at horizons at which the paper's curve is not 1/2 anyhow."""
    return fits[(fits["horizon"] >= weakest_horizon) & ~no_evidence(fits)]


def no_evidence(fits: pd.DataFrame) -> pd.Series:
    """Fits that no verdict rests on: saturated, or to a limit that is itself too uncertain."""
    return fits["saturated"].astype(bool) | fits["limit_uncertain"].astype(bool)
