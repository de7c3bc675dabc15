"""Figures of question downstream."""

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from attnlimit.drawing.panels import plain_log
from attnlimit.drawing.style import PALETTE, PARAMETRIC, WIDTH
from attnlimit.sources.corpus.location import text_name
from attnlimit.stats.estimate import Estimate

SHARES = {"agreement": ("as the dense model", PALETTE[0], "o"), "accuracy": ("right", PALETTE[3], "s")}
TEXTS = "0.75"
MOST_TICKS = 6


def downstream(rates: xr.Dataset, errors: xr.Dataset) -> Figure:
    """What drawn keys do to a task: its answers, and the error of embeddings."""
    n = rates["n"].values
    figure, (task, error) = plt.subplots(1, 2, figsize=(WIDTH, 3.8), layout="constrained")

    def band(axis, name: str, colour, marker: str, label: str) -> None:
        axis.fill_between(n, rates[f"{name}_low"], rates[f"{name}_high"], color=colour, alpha=0.2, lw=0)
        axis.plot(n, rates[name], color=colour, marker=marker, ms=4, lw=1.2, label=label)

    for name, (label, colour, marker) in SHARES.items():
        band(task, name, colour, marker, label)
    task.axhline(float(rates["dense_accuracy"]), color=SHARES["accuracy"][1], lw=1, ls="--", label="right, dense model")
    task.axhline(float(rates["chance"]), color=PARAMETRIC, lw=1, ls=":", label="right by chance")
    task.set(ylim=(0, 1.03), title="answers", ylabel="share of texts and draws")

    logarithm = np.log(errors["embedding_error"].transpose("text", "replicate", "n").values)
    error.plot(n, np.exp(logarithm.mean(1)).T, color=TEXTS, lw=0.4, zorder=0)
    error.plot([], [], color=TEXTS, lw=0.8, label="each text")
    band(error, "embedding_error", PALETTE[0], "o", "geometric mean")
    beta, low, high = Estimate.of(rates, "beta")
    line = np.exp(float(rates["intercept"])) * n**-beta
    error.plot(n, line, color="0.2", lw=1, ls="--", label=rf"$\beta$ = {beta:.2f} [{low:.2f}, {high:.2f}]")
    error.axhline(float(rates["unrelated_distance"]), color=PARAMETRIC, lw=1, ls=":", label="two unrelated texts")
    error.set(yscale="log", title="embeddings", ylabel="distance to the dense one")
    error.yaxis.set_major_locator(LogLocator(subs=(1, 3)))
    error.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    error.yaxis.set_minor_formatter(NullFormatter())

    for axis in (task, error):
        plain_log(axis)
        if len(n) <= MOST_TICKS:
            axis.set_xticks(n, [f"{size}" for size in n])
        axis.set_xlabel("keys drawn in each layer, $n$")
    for axis in (task, error):  # below: data may be anywhere in a panel
        axis.legend(loc="upper center", bbox_to_anchor=(0.45, -0.2), fontsize=7.5, handlelength=1.6)
    model, text = rates.attrs["model"]["name"].split("/")[-1], text_name(rates.attrs["corpus"])
    texts = f"{rates.sizes['text']} texts"
    if rates.attrs["task"] == "retrieval":
        texts = f"{rates.sizes['text']} blocks of {rates.attrs['groups']} articles"
    figure.suptitle(f"{model} on {text}: {texts}, {rates.attrs['replicates']} draws each", fontsize=9)
    return figure
