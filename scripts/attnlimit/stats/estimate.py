"""Numbers with 95 % intervals: one form in code, one in stores (x, x_low, x_high); and leave-one-out."""

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

ENDS = ("", "_low", "_high")


class Estimate(NamedTuple):
    """A number, or an array of them, and the ends of its 95 % interval; NaN where there is none."""

    value: Any
    low: Any
    high: Any

    @classmethod
    def without_interval(cls, value: np.ndarray) -> "Estimate":
        nothing = np.full(np.shape(value), np.nan)
        return cls(value, nothing, nothing)

    @classmethod
    def stack(cls, estimates: list["Estimate"]) -> "Estimate":
        """Several along a new first dimension."""
        return cls(*map(np.stack, zip(*estimates, strict=True)))

    @classmethod
    def of(cls, dataset: xr.Dataset, name: str, **place) -> "Estimate":
        """From a store: of one place floats, else arrays."""
        chosen = [dataset[name + end].sel(place) for end in ENDS]
        return cls(*(part.values if part.ndim else part.item() for part in chosen))

    def variables(self, name: str, dims: tuple[Hashable, ...] | str = ()) -> dict[str, tuple]:
        """For a store."""
        return {name + end: (dims, part) for end, part in zip(ENDS, self, strict=True)}

    def map(self, function: Callable) -> "Estimate":
        """A rising function of the number and of both ends."""
        return Estimate(*map(function, self))


def leave_out(items: np.ndarray, measure: Callable[[np.ndarray], Any], axis: int = 0) -> np.ndarray:
    """The measure without each of the items along an axis, in turn: (item, …)."""
    return np.stack([measure(np.delete(items, place, axis)) for place in range(items.shape[axis])])


def jackknife_variance(left: np.ndarray) -> np.ndarray:
    """(k - 1) / k sum_i (m_i - mean of m_i)^2, m_i the measure without item i, (item, …): see `leave_out`."""
    count = len(left)
    return (count - 1) / count * ((left - left.mean(0)) ** 2).sum(0)
