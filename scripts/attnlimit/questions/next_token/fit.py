"""Perplexity, agreement and divergence against the number of keys, with intervals over windows (Student's, of few)."""

import numpy as np
import xarray as xr

from attnlimit.questions.next_token.about import RIVALS, SAMPLE
from attnlimit.stats.student import over_windows


def fit_next_token(answers: xr.Dataset, kept: dict[str, int]) -> xr.Dataset:
    """answers: those of measure_next_token along `window`;  kept: keys beside n, by protocol.

    Losses are compared within windows, which differ in how predictable they are: the ratio of divergences is of the
    same windows, and its interval narrower than those of its sides.
    """
    if answers.sizes["window"] < 2:
        raise ValueError(f"next_token: {answers.sizes['window']} window; an interval needs at least 2")
    data = answers.mean("replicate")
    extra = xr.DataArray([kept.get(name, 0) for name in data["protocol"].values], {"protocol": data["protocol"]})
    fits = [
        over_windows("perplexity", data, lambda each: each["loss"].mean("window"), np.exp),
        over_windows("dense_perplexity", data, lambda each: each["dense_loss"].mean("window"), np.exp),
        over_windows("divergence", data, log_divergence, np.exp),
        over_windows("agreement", data, lambda each: each["agreement"].mean("window")),
        over_windows("divergence_ratio", data, log_ratio, np.exp),
    ]
    return xr.merge(fits, compat="no_conflicts", join="outer").assign(budget=data["n"] + extra)


def log_divergence(data: xr.Dataset) -> xr.DataArray:
    """log of the mean divergence, (protocol, n)."""
    return xr.apply_ufunc(np.log, data["divergence"].mean("window"))


def log_ratio(data: xr.Dataset) -> xr.DataArray:
    """log of the divergence with sampled keys over that with as many of which none is drawn, (rival, n)."""
    mean = data["divergence"].mean("window")
    rivals = mean.sel(protocol=list(RIVALS)).rename(protocol="rival")
    return xr.apply_ufunc(np.log, mean.sel(protocol=SAMPLE, drop=True) / rivals)
