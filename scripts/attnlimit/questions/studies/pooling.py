"""Several estimates of one quantity, each with a standard error, as one: random effects, with an interval."""

from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import stdtrit

from attnlimit.stats.estimate import Estimate


class Pooled(NamedTuple):
    """The mean of what is estimated, and the standard deviation of it from study to study."""

    mean: Estimate
    between: float


def pool(values: np.ndarray, errors: np.ndarray) -> Pooled:
    """Random-effects mean of values (k,) with standard errors (k,), after Hartung and Knapp.

    between^2 after Paule and Mandel: sum w_i (y_i - m)^2 = k - 1 with w_i = 1 / (se_i^2 + between^2), 0 if there is no
    such.  m = sum w y / sum w;  its variance is max(1, q) / sum w, q = sum w (y - m)^2 / (k - 1), and its interval is
    Student's with k - 1 degrees of freedom.  Without the floor of 1, estimates that agree by chance would give an
    interval of no width.  One value has no interval.
    """
    count = len(values)
    if count < 2:
        return Pooled(Estimate(float(values[0]), np.nan, np.nan), np.nan)

    def weighted(between2: float) -> tuple[float, float, float]:
        """Mean, sum of weights, and sum w (y - m)^2."""
        weights = 1 / (errors**2 + between2)
        mean = (weights @ values) / weights.sum()
        return float(mean), float(weights.sum()), float(weights @ (values - mean) ** 2)

    def excess(between2: float) -> float:
        return weighted(between2)[2] - (count - 1)

    largest = float(np.ptp(values) ** 2) * count + float((errors**2).max())
    between2 = brentq(excess, 0, largest) if excess(0) > 0 else 0.0
    mean, total, scatter = weighted(between2)
    reach = stdtrit(count - 1, 0.975) * np.sqrt(max(1.0, scatter / (count - 1)) / total)
    return Pooled(Estimate(mean, mean - reach, mean + reach), float(np.sqrt(between2)))
