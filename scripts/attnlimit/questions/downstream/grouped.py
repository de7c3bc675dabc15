"""Averages over texts, with 95 % intervals that resample groups of texts whole.

Blocks of one article are alike, so that articles are resampled and not blocks.
"""

from typing import NamedTuple

import numpy as np

from attnlimit.stats.estimate import Estimate
from attnlimit.stats.power_law import interval, levels


class Resampled(NamedTuple):
    """How often each text is in each draw (draw, text), and the group of each (text,), which is drawn whole."""

    weights: np.ndarray
    group: np.ndarray

    @property
    def groups(self) -> int:
        return len(np.unique(self.group))


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
