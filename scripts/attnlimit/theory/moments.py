"""Mean and covariance that can be merged: (count, mean, scatter), so that blocks can be separate jobs."""

from collections.abc import Iterable
from functools import reduce
from typing import NamedTuple

import numpy as np


class Moments(NamedTuple):
    """Of vectors y_i with weights c_i: count = sum c_i, mean, scatter = sum c_i (y_i - mean)(y_i - mean)^T."""

    count: float  # type: ignore[assignment]  # hides tuple.count, which is not used
    mean: np.ndarray  # (feature,)
    scatter: np.ndarray  # (feature, feature)

    @property
    def covariance(self) -> np.ndarray:
        """The population covariance, scatter / count: the moment whose limit the paper states."""
        return self.scatter / self.count


def moments(vectors: np.ndarray) -> Moments:
    """Moments of the rows of one block, in float64, by centring first."""
    mean = vectors.mean(0, dtype=np.float64)
    centred = vectors - mean  # (row, feature)
    return Moments(float(len(vectors)), mean, centred.T @ centred)


def merge(one: Moments, other: Moments) -> Moments:
    """Moments of the union of two sets of vectors (Chan's formula): no sum of squares, so nothing cancels."""
    count = one.count + other.count
    step = other.mean - one.mean
    scatter = one.scatter + other.scatter + np.outer(step, step) * (one.count * other.count / count)
    return Moments(count, one.mean + step * (other.count / count), scatter)


def merge_all(parts: Iterable[Moments]) -> Moments:
    """Merge in the order given: the same blocks in the same order give the same bits."""
    return reduce(merge, parts)
