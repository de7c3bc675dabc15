"""Layers resampled whole: heads of one layer share their draws, and are alike besides."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from attnlimit.rates.order import Resampling
from attnlimit.rates.power_law import interval, levels
from attnlimit.seeds import generator

Measure = Callable[[np.ndarray], np.ndarray]  # of layers, some of them several times: numbers


class Estimate(NamedTuple):
    """Numbers with the ends of their 95 % intervals, and the draws behind these (draw, …)."""

    value: np.ndarray
    low: np.ndarray
    high: np.ndarray
    drawn: np.ndarray


def resample_layers(layers: np.ndarray, measure: Measure, resampling: Resampling) -> Estimate:
    """A measure over layers, with intervals from layers that are resampled whole: see `power_law.levels`.

    The same layers give the same draws, whatever is measured.  NaN ends with fewer than two layers.
    """
    value = np.asarray(measure(layers), float)
    if len(layers) < 2:
        nothing = np.full(value.shape, np.nan)
        return Estimate(value, nothing, nothing, np.empty((0, *value.shape)))
    places = generator(resampling.seed, "layers of studies").integers(len(layers), size=(resampling.draws, len(layers)))
    drawn = np.stack([measure(layers[chosen]) for chosen in places])
    low, high = interval(value, drawn, levels(len(layers)))
    return Estimate(value, low, high, drawn)


def rows_of(layer: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """From layers drawn to the rows of their heads; layer (row,): that of each row."""
    members = {number: np.flatnonzero(layer == number) for number in np.unique(layer)}
    return lambda chosen: np.concatenate([members[number] for number in chosen])


def student_interval(by_layer: np.ndarray, tests: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """95 % interval of a mean over layers (…, layer), by Student's law; of so many tests at once, by Bonferroni."""
    count = by_layer.shape[-1]
    if count < 2:
        nothing = np.full(by_layer.shape[:-1], np.nan)
        return nothing, nothing
    reach = stdtrit(count - 1, 1 - 0.025 / tests) * by_layer.std(-1, ddof=1) / np.sqrt(count)
    return by_layer.mean(-1) - reach, by_layer.mean(-1) + reach
