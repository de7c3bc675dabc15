"""Averages and rank correlations over texts, with 95 % intervals that resample groups of texts whole.

Blocks of one article are alike, so that articles are resampled and not blocks.
"""

from typing import NamedTuple

import numpy as np
from scipy.stats import t as student

from attnlimit.stats.estimate import Estimate
from attnlimit.stats.order import correlations, rank_correlations, resampled_ranks
from attnlimit.stats.power_law import interval, levels

EDGE = 1 - 1e-9  # of a correlation whose arctanh is taken


class Resampled(NamedTuple):
    """How often each text is in each draw (draw, text), and the group of each (text,), which is drawn whole."""

    weights: np.ndarray
    group: np.ndarray

    @property
    def groups(self) -> int:
        return len(np.unique(self.group))

    def of(self, chosen: np.ndarray) -> "Resampled":
        """The same draws of groups, looked at only through some of the texts, by their places."""
        return Resampled(self.weights[:, chosen], self.group[chosen])


def resample(group: np.ndarray, draws: int, stream: np.random.Generator) -> Resampled:
    """Draws of as many groups as there are, with replacement; group (text,) names that of each text."""
    names, place = np.unique(group, return_inverse=True)
    chosen = stream.multinomial(len(names), np.full(len(names), 1 / len(names)), size=draws)  # (draw, group)
    return Resampled(chosen[:, place], group)


def estimate(value: np.ndarray, drawn: np.ndarray, groups: int) -> Estimate:
    """A number with its interval from bootstrap draws (draw, …): see `power_law.levels`."""
    value = np.asarray(value, dtype=float)
    return interval(value, drawn, levels(groups)) if groups > 1 else Estimate.without_interval(value)


def averages(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Means over the texts of each draw: values (text, …) and weights (draw, text) give (draw, …); NaN of no text."""
    total = weights.sum(1).reshape(-1, *[1] * (values.ndim - 1))
    with np.errstate(invalid="ignore"):
        return np.tensordot(weights, values, (1, 0)) / np.where(total > 0, total, np.nan)


def average(values: np.ndarray, resampled: Resampled) -> Estimate:
    """The mean over texts of values (text, …), every text counted once."""
    return estimate(values.mean(0), averages(values, resampled.weights), resampled.groups)


def rank_correlation(x: np.ndarray, y: np.ndarray, resampled: Resampled) -> tuple[Estimate, float]:
    """Spearman's correlation with its interval, and the probability of one as far from 0 if there were none.

    The latter: arctanh of the correlation over its standard deviation in the draws, by Student's law with as many
    degrees of freedom as groups less one.
    """
    value = rank_correlations(x, y)
    of_x, of_y = (resampled_ranks(each, resampled.weights) for each in (x, y))
    drawn = correlations(of_x, of_y, resampled.weights)
    known = np.arctanh(drawn[np.isfinite(drawn)].clip(-EDGE, EDGE))
    spread = known.std(ddof=1) if len(known) > 1 else 0.0
    probability = np.nan
    if np.isfinite(value) and spread > 0 and resampled.groups > 1:
        probability = 2 * student.sf(abs(np.arctanh(np.clip(value, -EDGE, EDGE))) / spread, resampled.groups - 1)
    return estimate(value, drawn, resampled.groups), float(probability)


def holm(probabilities: np.ndarray) -> np.ndarray:
    """Holm's correction for many tests: the k-th smallest of m times m - k + 1, never falling, at most 1.

    NaN, of a test that could not be made, stays so and does not count.
    """
    order = np.argsort(probabilities)[: np.isfinite(probabilities).sum()]  # NaN comes last
    factors = len(order) - np.arange(len(order))
    corrected = np.full(len(probabilities), np.nan)
    corrected[order] = np.maximum.accumulate(probabilities[order] * factors).clip(max=1)
    return corrected
