"""Does a coupling order the rates?  Rank correlations, and which fits are evidence."""

import numpy as np
import pandas as pd


def correlations(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Pearson's correlations over the last axis; NaN where one of the two does not vary.

    Sums over ranks are exact: ranks, and their mean, are multiples of 1/2.
    """
    x, y = (each - each.mean(-1, keepdims=True) for each in (x, y))
    product, squares = (x * y).sum(-1), (x**2).sum(-1) * (y**2).sum(-1)
    return np.divide(product, np.sqrt(squares), where=squares > 0, out=np.full(np.shape(squares), np.nan))


def rank_correlations(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Spearman's correlations over the last axis."""
    from scipy.stats import rankdata  # here: most jobs do without, and it takes half a second

    return correlations(rankdata(x, axis=-1), rankdata(y, axis=-1))


def rankable(fits: pd.DataFrame, weakest_horizon: float) -> pd.DataFrame:
    """Fits that are evidence, at horizons at which the paper's curve differs from 1/2."""
    return fits[(fits["horizon"] >= weakest_horizon) & ~no_evidence(fits)]


def no_evidence(fits: pd.DataFrame) -> pd.Series:
    """Fits that no verdict rests on: saturated, or to a limit that is itself too uncertain."""
    return fits["saturated"].astype(bool) | fits["limit_uncertain"].astype(bool)
