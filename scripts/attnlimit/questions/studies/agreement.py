"""Do the heads of a model agree between texts?  In order, by rank correlation, and in level, by mean difference."""

from itertools import combinations
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from attnlimit.questions.studies.layers import fisher, leave_out_layers, rows_of, student_mean
from attnlimit.stats.estimate import Estimate
from attnlimit.stats.order import rank_correlations


class Agreement(NamedTuple):
    """Of the texts of one model: by pair of texts (pair,), and over all pairs."""

    pairs: Estimate  # rank correlation over heads
    overall: Estimate  # its mean over pairs
    reliability: Estimate  # share of the variance of ranks that is not sampling, mean over texts
    corrected: Estimate  # overall, divided by what sampling alone leaves of 1


def pairs_of(count: int) -> list[tuple[int, int]]:
    return list(combinations(range(count), 2))


def half_reliability(halves: np.ndarray) -> np.ndarray:
    """Reliability (text,) of rates from all replicates, by Spearman and Brown: 2 r / (1 + r).

    halves (text, split, 2, head): rates from either half of the replicates; r is the rank correlation of the two, mean
    over splits.
    """
    r = rank_correlations(halves[:, :, 0], halves[:, :, 1]).mean(-1)
    with np.errstate(invalid="ignore", divide="ignore"):
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
        seen = rank_correlations(*values[:, taken][pairs].swapaxes(0, 1))  # (pair,)
        reliability = np.ones(len(values)) if halves is None else half_reliability(halves[..., taken])
        known = np.where(reliability > 0, reliability, np.nan)
        factor = np.mean([np.sqrt(known[i] * known[j]) for i, j in pairs])
        return np.array([*fisher(seen), fisher(seen.mean()), reliability.mean(), seen.mean() / factor])

    found, _ = leave_out_layers(np.unique(layer), measure)
    first = len(pairs)
    seen, overall, *rest = (found.map(itemgetter(place)) for place in (slice(first), first, first + 1, first + 2))
    return Agreement(seen.map(np.tanh), overall.map(np.tanh), *rest)


def level_agreement(values: np.ndarray, layer: np.ndarray) -> tuple[Estimate, Estimate]:
    """Second text less first of values (text, head), by pair: mean over layers of the means of their heads.

    With Student's intervals over layers, and with such that hold for all pairs at once.
    """
    means = np.stack([values[:, layer == number].mean(-1) for number in np.unique(layer)], axis=-1)  # (text, layer)
    differences = np.stack([means[j] - means[i] for i, j in pairs_of(len(values))])  # (pair, layer)
    return student_mean(differences), student_mean(differences, len(differences))
