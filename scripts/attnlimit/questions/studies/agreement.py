"""Do the heads of a model agree between texts?  In order, by rank correlation, and in level, by mean difference."""

from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata

from attnlimit.questions.studies.layers import Estimate, back, fisher, leave_out_layers, rows_of, student_interval


class Agreement(NamedTuple):
    """Of the texts of one model: by pair of texts (pair,), and over all pairs."""

    pairs: Estimate  # rank correlation over heads
    overall: Estimate  # its mean over pairs
    reliability: Estimate  # share of the variance of ranks that is not sampling, mean over texts
    corrected: Estimate  # overall, divided by what sampling alone leaves of 1


def pairs_of(count: int) -> list[tuple[int, int]]:
    return list(combinations(range(count), 2))


def rank_correlations(ranks: np.ndarray) -> np.ndarray:
    """Correlations (pair,) of ranks (text, head), in the order of `pairs_of`; NaN where ranks do not vary."""
    centred = ranks - ranks.mean(-1, keepdims=True)
    products = centred @ centred.T
    size = np.sqrt(np.diag(products))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.array([products[i, j] / (size[i] * size[j]) for i, j in pairs_of(len(ranks))])


def half_reliability(halves: np.ndarray) -> np.ndarray:
    """Reliability (text,) of rates from all replicates, by Spearman and Brown: 2 r / (1 + r).

    halves (text, split, 2, head): rates from either half of the replicates; r is the rank correlation of the two, mean
    over splits.
    """
    ranks = rankdata(halves, axis=-1)
    centred = ranks - ranks.mean(-1, keepdims=True)
    one, other = centred[:, :, 0], centred[:, :, 1]  # (text, split, head)
    with np.errstate(invalid="ignore", divide="ignore"):
        r = ((one * other).sum(-1) / np.sqrt((one**2).sum(-1) * (other**2).sum(-1))).mean(-1)
        return 2 * r / (1 + r)


def order_agreement(values: np.ndarray, layer: np.ndarray, halves: np.ndarray | None = None) -> Agreement:
    """Rank correlations between texts of values (text, head) of heads in layers (head,); layers are left out in turn.

    Sampling noise of either text lowers a correlation by sqrt(reliability of the one x that of the other): overall is
    what is seen, corrected is that divided by the mean of this factor over pairs (Spearman's correction for
    attenuation; it may exceed 1).  Without halves (text, split, 2, head), rates from either half of the replicates,
    values are taken as free of noise: reliability 1.  Intervals of pairs and overall are made on Fisher's scale.
    """
    rows, pairs = rows_of(layer), pairs_of(len(values))

    def measure(chosen: np.ndarray) -> np.ndarray:
        taken = rows(chosen)
        seen = rank_correlations(rankdata(values[:, taken], axis=-1))
        reliability = np.ones(len(values)) if halves is None else half_reliability(halves[..., taken])
        known = np.where(reliability > 0, reliability, np.nan)
        factor = np.mean([np.sqrt(known[i] * known[j]) for i, j in pairs])
        return np.array([*fisher(seen), fisher(seen.mean()), reliability.mean(), seen.mean() / factor])

    found, _ = leave_out_layers(np.unique(layer), measure)
    first = len(pairs)
    cut = [Estimate(*(part[place] for part in found)) for place in (slice(first), first, first + 1, first + 2)]
    return Agreement(back(cut[0]), back(cut[1]), cut[2], cut[3])


class Shift(NamedTuple):
    """Mean difference between the texts of a pair (pair,): 95 % intervals, and such of all pairs at once."""

    value: np.ndarray
    low: np.ndarray
    high: np.ndarray
    all_low: np.ndarray
    all_high: np.ndarray


def level_agreement(values: np.ndarray, layer: np.ndarray) -> Shift:
    """Second text less first of values (text, head): mean over layers of the means of their heads; Student over layers.

    all_low, all_high hold for all pairs at once (Bonferroni).
    """
    means = np.stack([values[:, layer == number].mean(-1) for number in np.unique(layer)], axis=-1)  # (text, layer)
    differences = np.stack([means[j] - means[i] for i, j in pairs_of(len(values))])  # (pair, layer)
    return Shift(differences.mean(-1), *student_interval(differences), *student_interval(differences, len(differences)))
