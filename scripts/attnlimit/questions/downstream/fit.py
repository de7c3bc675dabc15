"""What drawn keys do to a downstream task: accuracy, agreement, rate of the embedding's error, and its horizons.

Declared before any result was seen: the rate of a text is minus the slope of an ordinary least-squares line of its log
error, mean over draws, on log n; its horizon is the largest over all heads and layers. Other outcomes and aggregations
are listed with Holm's correction for their number.
"""

from collections.abc import Callable

import numpy as np
import xarray as xr

from attnlimit.questions.downstream.grouped import Resampled, average, averages, estimate, holm, rank_correlation
from attnlimit.stats.estimate import Estimate

TERTILES = ("low", "middle", "high")
OUTCOMES = ("rate", "log_error")
DECLARED = ("rate", "largest")  # outcome and aggregation
AGGREGATIONS: dict[str, tuple[str, Callable[[np.ndarray], np.ndarray]]] = {  # of a coupling (text, layer, head)
    "largest": ("horizon", lambda values: values.max((1, 2))),
    "mean": ("horizon", lambda values: values.mean((1, 2))),
    "mean_of_largest": ("horizon", lambda values: values.max(2).mean(1)),
    "largest_of_last_layer": ("horizon", lambda values: values[:, -1].max(1)),
    "largest_frobenius": ("horizon_frobenius", lambda values: values.max((1, 2))),
    "largest_constant_tilt": ("constant_tilt", lambda values: values.max((1, 2))),
}


def slope_weights(sizes: np.ndarray) -> np.ndarray:
    """w (n,) such that w @ log(error) is minus the slope of the least-squares line on log n."""
    offset = np.log(sizes) - np.log(sizes).mean()
    return -offset / (offset @ offset)


def bend_weights(sizes: np.ndarray) -> np.ndarray:
    """The rate over the upper half of the sizes less that over the lower; a middle one is in both."""
    half = (len(sizes) + 1) // 2
    weights = np.zeros(len(sizes))
    weights[-half:] += slope_weights(sizes[-half:])
    weights[:half] -= slope_weights(sizes[:half])
    return weights


def log_errors(errors: xr.Dataset) -> np.ndarray:
    """(text, replicate, n)."""
    error = errors["embedding_error"].transpose("text", "replicate", "n").values
    if not (error > 0).all():
        raise ValueError("downstream: a draw gives the dense embedding itself; lower measure_downstream.sizes")
    return np.log(error)


def draw_noise(each: np.ndarray) -> float:
    """Standard deviation that draws alone give the average over them of each (text, replicate)."""
    return float(np.sqrt(each.var(1, ddof=1).mean() / each.shape[1]))


def reliability(each: np.ndarray) -> float:
    """Share of the variance over texts that is not noise of the draws: each (text, replicate), averaged over draws.

    Noise lowers every correlation with the average by the root of this share.
    """
    total = each.mean(1).var(ddof=1)
    return float(np.clip(1 - draw_noise(each) ** 2 / total, 0, 1)) if total > 0 else 0.0


def tertiles(horizon: np.ndarray) -> list[np.ndarray]:
    """Places of the texts with the lowest, the middle and the highest third of horizons."""
    return np.array_split(np.argsort(horizon, kind="stable"), len(TERTILES))


def summary(errors: xr.Dataset, resampled: Resampled) -> xr.Dataset:
    """All that figure and claims need, from errors and answers of texts; intervals resample groups of texts."""
    sizes, log_error = errors["n"].values, log_errors(errors)
    found: dict[str, tuple] = {name: ((), errors[name].values) for name in ("chance", "unrelated_distance")}

    def keep(name: str, dims: tuple[str, ...], estimate: Estimate) -> None:
        found.update(estimate.variables(name, dims))

    for name, raw in (("accuracy", "right"), ("agreement", "agrees")):
        keep(name, ("n",), average(errors[raw].transpose("text", "replicate", "n").values.mean(1), resampled))
    dense = errors["dense_right"].values.astype(float)
    keep("dense_accuracy", (), average(dense, resampled))
    by_text = log_error.mean(1)  # (text, n)
    keep("embedding_error", ("n",), average(by_text, resampled).map(np.exp))
    keep("beta", (), average(by_text @ slope_weights(sizes), resampled))
    keep("bend", (), average(by_text @ bend_weights(sizes), resampled))
    found["intercept"] = ((), by_text.mean() + float(found["beta"][1]) * np.log(sizes).mean())
    steps = -np.diff(by_text, axis=1) / np.diff(np.log(sizes))
    keep("local_slope", ("interval",), average(steps, resampled))

    horizons = {name: reduce(errors[source].values) for name, (source, reduce) in AGGREGATIONS.items()}
    by_horizon(found, keep, sizes, by_text, horizons[DECLARED[1]], resampled)
    outcomes = {"rate": log_error @ slope_weights(sizes), "log_error": log_error[:, :, -1]}  # (text, replicate)
    correlations(found, outcomes, horizons, resampled)
    found["text_rate"] = ("text", outcomes["rate"].mean(1))
    found["text_horizon"] = ("text", horizons[DECLARED[1]])
    found["cluster"] = ("text", errors["cluster"].values)
    labels = {"n": sizes, "text": errors["text"], "tertile": list(TERTILES)}
    return xr.Dataset(found, coords=labels | {"outcome": list(OUTCOMES), "aggregation": list(AGGREGATIONS)})


def by_horizon(found: dict, keep: Callable, sizes: np.ndarray, by_text: np.ndarray, horizon, resampled) -> None:
    """Error and rate of each third of the texts by their horizon, and how much slower the highest third is."""
    thirds = tertiles(horizon)
    slopes = by_text @ slope_weights(sizes)  # (text,)
    errors, rates = ([average(each[third], resampled.of(third)) for third in thirds] for each in (by_text, slopes))
    keep("tertile_error", ("tertile", "n"), Estimate.stack(errors).map(np.exp))
    keep("tertile_beta", ("tertile",), Estimate.stack(rates))
    lowest, highest = thirds[0], thirds[-1]
    drawn = [averages(slopes[third], resampled.weights[:, third]) for third in (lowest, highest)]
    difference = slopes[highest].mean() - slopes[lowest].mean()
    keep("tertile_difference", (), estimate(difference, drawn[1] - drawn[0], resampled.groups))
    edges = np.array([[horizon[third].min(), horizon[third].max()] for third in thirds])
    found["tertile_from"], found["tertile_to"] = (("tertile", edge) for edge in edges.T)


def correlations(found: dict, outcomes: dict, horizons: dict, resampled: Resampled) -> None:
    """Rank correlations of each outcome with each aggregation; corrected for their number but for the declared one."""
    shape = len(outcomes), len(horizons)
    values, probabilities = np.full((3, *shape), np.nan), np.full(shape, np.nan)
    for row, each in enumerate(outcomes.values()):
        for column, horizon in enumerate(horizons.values()):
            ends, probability = rank_correlation(horizon, each.mean(1), resampled)
            values[:, row, column], probabilities[row, column] = ends, probability
    dims = ("outcome", "aggregation")
    found |= Estimate(*values).variables("correlation", dims)
    declared = np.array([[(outcome, name) == DECLARED for name in horizons] for outcome in outcomes])
    corrected = probabilities.copy()
    corrected[~declared] = holm(probabilities[~declared])
    found["declared"], found["probability"] = (dims, declared), (dims, probabilities)
    found["corrected_probability"] = (dims, corrected)
    found["reliability"] = ("outcome", [reliability(each) for each in outcomes.values()])
    found["draw_noise"] = ("outcome", [draw_noise(each) for each in outcomes.values()])
