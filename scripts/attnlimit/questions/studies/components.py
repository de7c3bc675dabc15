"""Where the variance of the rates comes from: heads, texts, heads that differ between texts, sampling."""

import numpy as np

from attnlimit.questions.studies.layers import leave_out_layers
from attnlimit.stats.estimate import Estimate

COMPONENTS = ("head", "text", "head_text", "sampling")


def variance_components(beta: np.ndarray, noise: np.ndarray, layer: np.ndarray) -> tuple[np.ndarray, Estimate]:
    """Components (component,) of rates beta (text, head) with sampling variances noise (text, head), and their shares.

    beta = mean + head + text + head x text + sampling, by moments:
        head       (M_head - M_rest) / T     M_head = T var over heads of their means over texts, M_rest the mean
                                             square of what neither head nor text explains
        text       V - M / L                 V the variance over texts of means over layers, M the mean square of what
                                             neither layer nor text explains in the means of layers
        head_text  W - text - sampling       W the mean over heads of the variance over texts
        sampling   mean of the known sampling variances
    They add up to head + W, of which each is a share; last of the shares is the margin of heads, head - text -
    head_text.  `head` holds for any covariance between the heads of a text, and `text` for any within a layer: only
    layers count as independent.  The texts are those at hand (T - 1 in place of T), layers are left out in turn.
    Unbiased, so that one may come out below 0.
    """
    layers = np.unique(layer)
    cells = {number: (beta[:, layer == number], noise[:, layer == number]) for number in layers}

    def components(chosen: np.ndarray) -> np.ndarray:
        rates, known = (np.concatenate([cells[each][part] for each in chosen], axis=1) for part in (0, 1))
        by_layer = np.stack([cells[each][0].mean(1) for each in chosen], axis=1)  # (text, layer)
        head = (mean_square_of_rows(rates.T) - mean_square_of_rest(rates)) / len(rates)
        text = by_layer.mean(1).var(ddof=1) - mean_square_of_rest(by_layer) / len(chosen)
        within, sampling = rates.var(0, ddof=1).mean(), known.mean()
        return np.array([head, text, within - text - sampling, sampling])

    def shares(chosen: np.ndarray) -> np.ndarray:
        found = components(chosen)
        return np.append(found, found @ [1, -1, -1, 0]) / found.sum()

    if len(layers) < 3:
        nothing = np.full(len(COMPONENTS) + 1, np.nan)
        return nothing[:-1], Estimate.without_interval(nothing)
    return components(layers), leave_out_layers(layers, shares)[0]


def mean_square_of_rows(table: np.ndarray) -> float:
    """Of a table (row, column): columns times the variance of the means of rows."""
    return float(table.shape[1] * table.mean(1).var(ddof=1))


def mean_square_of_rest(table: np.ndarray) -> float:
    """Mean square of what neither rows nor columns explain, (rows - 1)(columns - 1) degrees of freedom."""
    rest = table - table.mean(0) - table.mean(1, keepdims=True) + table.mean()
    return float((rest**2).sum() / ((table.shape[0] - 1) * (table.shape[1] - 1)))
