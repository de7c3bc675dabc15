"""What drawn keys do to a downstream task: accuracy, agreement, logits, rate of the embedding's error.

The rate of a text is minus the slope of an ordinary least-squares line of its log error, mean over draws, on log n.
"""

import numpy as np
import xarray as xr

from attnlimit.questions.downstream.grouped import Resampled, average
from attnlimit.stats.estimate import Estimate
from attnlimit.stats.power_law import slope_weights

OF_LOGITS = ("logit_error", "divergence")


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


def summary(errors: xr.Dataset, resampled: Resampled) -> xr.Dataset:
    """All that figure and claims need, from errors and answers of texts; intervals resample groups of texts."""
    sizes, log_error = errors["n"].values, log_errors(errors)
    found: dict[str, tuple] = {name: ((), errors[name].values) for name in ("chance", "unrelated_distance")}

    def keep(name: str, dims: tuple[str, ...], estimate: Estimate) -> None:
        found.update(estimate.variables(name, dims))

    for name, raw in (("accuracy", "right"), ("agreement", "agrees")):
        keep(name, ("n",), average(errors[raw].transpose("text", "replicate", "n").values.mean(1), resampled))
    logits, divergence = (errors[name].transpose("text", "replicate", "n").values for name in OF_LOGITS)
    keep("logit_error", ("n",), average((logits**2).mean(1), resampled).map(np.sqrt))
    keep("divergence", ("n",), average(divergence.mean(1), resampled))
    dense = errors["dense_right"].values.astype(float)
    keep("dense_accuracy", (), average(dense, resampled))
    by_text = log_error.mean(1)  # (text, n)
    keep("embedding_error", ("n",), average(by_text, resampled).map(np.exp))
    keep("beta", (), average(by_text @ slope_weights(sizes), resampled))
    keep("bend", (), average(by_text @ bend_weights(sizes), resampled))
    found["intercept"] = ((), by_text.mean() + float(found["beta"][1]) * np.log(sizes).mean())
    steps = -np.diff(by_text, axis=1) / np.diff(np.log(sizes))
    keep("local_slope", ("interval",), average(steps, resampled))

    found["cluster"] = ("text", errors["cluster"].values)
    return xr.Dataset(found, coords={"n": sizes, "text": errors["text"]})
