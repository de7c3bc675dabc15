"""What is asked of the heads of a model: do they keep their order, what varies, what do they share?"""

from itertools import combinations

import numpy as np
from scipy.stats import rankdata

from attnlimit.questions.studies.intervals import Twice, fisher, without_each
from attnlimit.questions.studies.values import Values
from attnlimit.stats.estimate import jackknife_variance, leave_out
from attnlimit.stats.order import correlations, rank_correlations

COMPONENTS = ("head", "text", "head_text", "sampling")


def bootstrap_variance(drawn: np.ndarray, replicates: int) -> np.ndarray:
    """Over draws (draw, …) of replicates, whose divisor is k in place of k - 1."""
    return drawn.var(0) * replicates / (replicates - 1)


def mean_agreement(values: np.ndarray) -> np.ndarray:
    """Rank correlation between texts of values (…, text, head), mean over pairs of texts: (…)."""
    one, other = pairs_of(values.shape[-2])
    ranks = rankdata(values, axis=-1)
    return correlations(ranks[..., one, :], ranks[..., other, :]).mean(-1)


def pairs_of(texts: int) -> np.ndarray:
    return np.array(list(combinations(range(texts), 2))).T  # (2, pair)


def reliability(halves: np.ndarray) -> np.ndarray:
    """Share of the variance of ranks that is not sampling, (text,), from halves (split, half, text, head).

    By Spearman and Brown 2 r / (1 + r), r the rank correlation of the halves, mean over splits; NaN if that is not
    above 0.
    """
    r = rank_correlations(halves[:, 0], halves[:, 1]).mean(0)
    return np.where(r > 0, 2 * r / (1 + np.abs(r)), np.nan)


def agreement(values: Values) -> tuple[Twice, float]:
    """Rank correlation between texts, mean over pairs, corrected for sampling noise; and the reliability.

    Noise of either text lowers a correlation by sqrt(reliability of the one x that of the other): what is seen is
    divided by the mean of this factor over pairs (Spearman's correction for attenuation; the result may exceed 1).
    """
    one, other = pairs_of(len(values.seen))

    def factor(heads: Values) -> float:
        known = reliability(heads.halves)
        return float(np.sqrt(known[one] * known[other]).mean())

    def corrected(use: np.ndarray) -> np.ndarray:
        heads = values.chosen(use)
        return mean_agreement(heads.seen) / factor(heads)

    lowered = factor(values)
    variance = bootstrap_variance(mean_agreement(values.drawn), values.replicates) / lowered**2
    left = without_each(values.layer, corrected)
    found = Twice.of(mean_agreement(values.seen) / lowered, variance, values.replicates, left)
    return found, float(reliability(values.halves).mean())


def shares(values: np.ndarray, sampling: float, layer: np.ndarray) -> np.ndarray:
    """Shares of the variance of values (…, text, head): head, text, head_text, sampling; and head - text - head_text.

    value = mean + head + text + head x text + sampling, by moments:
        head       (M_head - M_rest) / T     M_head = T var over heads of their means over texts, M_rest the mean
                                             square of what neither head nor text explains
        text       V - M / L                 V the variance over texts of means over layers, M the mean square of what
                                             neither layer nor text explains in the means of layers
        head_text  W - text - sampling       W the mean over heads of the variance over texts
        sampling   that of the replicates, given
    They add up to head + W, of which each is a share.  Heads of a layer share draws, layers and texts do not: `head`
    and `text` are free of their noise.  The texts are those at hand (T - 1 in place of T).  Unbiased, so that one may
    come out below 0.  NaN with one layer, or if nothing varies.
    """
    layers = np.unique(layer)
    if len(layers) < 2:
        return np.full((*values.shape[:-2], len(COMPONENTS) + 1), np.nan)
    by_layer = np.stack([values[..., layer == each].mean(-1) for each in layers], axis=-1)  # (…, text, layer)
    head = values.mean(-2).var(-1, ddof=1) - square_of_rest(values) / values.shape[-2]
    text = by_layer.mean(-1).var(-1, ddof=1) - square_of_rest(by_layer) / len(layers)
    within = values.var(-2, ddof=1).mean(-1)
    parts = np.stack([head, text, within - text - sampling, np.broadcast_to(sampling, head.shape)], axis=-1)
    total = parts.sum(-1, keepdims=True)
    found = np.concatenate([parts, (parts @ [1, -1, -1, 0])[..., None]], axis=-1)
    return np.divide(found, total, where=total > 0, out=np.full(found.shape, np.nan))


def components(values: Values) -> Twice:
    """The same with intervals; of these heads none for sampling, which draws of the replicates take as given."""
    noise, layer = values.noise, values.layer
    variance = bootstrap_variance(shares(values.drawn, noise.mean(), layer), values.replicates)
    left = without_each(layer, lambda use: shares(values.seen[:, use], noise[:, use].mean(), layer[use]))
    found = Twice.of(shares(values.seen, noise.mean(), layer), variance, values.replicates, left)
    unknown = np.where(np.arange(len(COMPONENTS) + 1) == COMPONENTS.index("sampling"), np.nan, 0.0)
    return found._replace(low=found.low + unknown, high=found.high + unknown)


def square_of_rest(table: np.ndarray) -> np.ndarray:
    """Mean square of what neither rows nor columns (…, row, column) explain: (rows - 1)(columns - 1) degrees."""
    rest = table - table.mean(-2, keepdims=True) - table.mean(-1, keepdims=True) + table.mean((-2, -1), keepdims=True)
    return (rest**2).sum((-2, -1)) / ((table.shape[-2] - 1) * (table.shape[-1] - 1))


def mean_order(values: np.ndarray, coupling: np.ndarray, known: np.ndarray | float = 1.0) -> np.ndarray:
    """Rank correlation of values (…, text, head) with a coupling (text, head), mean over texts on Fisher's scale.

    known: reliability of the values (text,), whose root noise lowers the correlation by.
    """
    seen = rank_correlations(values, np.broadcast_to(coupling, values.shape))
    return fisher(seen / np.sqrt(known)).mean(-1)


def order(values: Values, coupling: np.ndarray) -> Twice:
    """The same with intervals, still on Fisher's scale."""

    def without(use: np.ndarray) -> np.ndarray:
        return mean_order(values.seen[:, use], coupling[:, use], reliability(values.halves[..., use]))

    known = reliability(values.halves)
    variance = bootstrap_variance(mean_order(values.drawn, coupling, known), values.replicates)
    found = mean_order(values.seen, coupling, known)
    return Twice.of(found, variance, values.replicates, without_each(values.layer, without))


def effective_heads(squares: np.ndarray) -> Twice:
    """h_eff = mean_h Var(u_h) / Var(mean_h u_h), u_h = e_h^2 / E e_h^2, of squared errors (layer, head, replicate).

    Heads of one layer see the same tokens; if they were independent, the mean of u over h of them would have 1/h of the
    variance of one.  Between 1, all heads err alike, and their number h, none shares anything; numerator and
    denominator are summed over layers.  Intervals are of ln h_eff.  That of these heads leaves out each replicate, and
    is corrected for the bias this shows: replicates drawn again cover less, a variance from few of them is skewed.
    """

    def ratio(squares: np.ndarray) -> np.ndarray:
        relative = squares / squares.mean(-1, keepdims=True)
        return np.log(relative.var(-1).mean(-1).sum() / relative.mean(-2).var(-1).sum())

    value, replicates = ratio(squares), squares.shape[-1]
    left = leave_out(squares, ratio, axis=2)
    bias = (replicates - 1) * (left.mean(0) - value)
    over_layers = leave_out(squares, ratio) if len(squares) > 2 else None
    found = Twice.of(value, jackknife_variance(left), replicates, over_layers)
    return found._replace(low=found.low - bias, high=found.high - bias).map(np.exp)
