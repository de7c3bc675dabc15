"""Figures of question downstream."""

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from attnlimit.drawing.panels import legends_below_panels, plain_log
from attnlimit.drawing.style import PALETTE, PARAMETRIC, WIDTH
from attnlimit.sources.corpus.location import text_name
from attnlimit.stats.estimate import Estimate

SHARES = {"agreement": ("answer of the dense model", PALETTE[0], "o"), "accuracy": ("right answer", PALETTE[3], "s")}
TASKS = {"retrieval": "task: find the article that a block is from", "labels": "task: tell the label of a text"}
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
    first, last = rates["divergence"].values[[0, -1]]
    task.plot([], [], ls="none", label=f"KL from the dense model: {first:.1g} to {last:.1g} nats")
    task.set(
        ylim=(0, 1.03),
        title=TASKS.get(rates.attrs["task"], "task: that of the model's own head"),
        ylabel="share of answers",
    )

    logarithm = np.log(errors["embedding_error"].transpose("text", "replicate", "n").values)
    error.plot(n, np.exp(logarithm.mean(1)).T, color=TEXTS, lw=0.4, zorder=0)
    error.plot([], [], color=TEXTS, lw=0.8, label="each text")
    band(error, "embedding_error", PALETTE[0], "o", "geometric mean")
    beta, low, high = Estimate.of(rates, "beta")
    line = np.exp(float(rates["intercept"])) * n**-beta
    error.plot(n, line, color="0.2", lw=1, ls="--", label=rf"$\beta$ = {beta:.2f} [{low:.2f}, {high:.2f}]")
    error.axhline(float(rates["unrelated_distance"]), color=PARAMETRIC, lw=1, ls=":", label="two unrelated texts")
    error.set(title="embedding of a text", ylabel="distance to that of the dense model")
    for axis in (task, error):
        plain_log(axis, most=MOST_TICKS)
        if len(n) <= MOST_TICKS:
            axis.set_xticks(n, [f"{size:,}" for size in n])
            axis.minorticks_off()
        axis.set_xlabel("keys drawn in each layer, $n$")
    plain_log(error, "y")
    legends_below_panels((task, error), 0.2)
    model, text = rates.attrs["model"]["name"].split("/")[-1], text_name(rates.attrs["corpus"])
    texts = f"{rates.sizes['text']} texts"
    if rates.attrs["task"] == "retrieval":
        texts = f"{rates.sizes['text']} blocks of {rates.attrs['groups']} articles"
    figure.suptitle(f"{model} on {text}: {texts}, {rates.attrs['replicates']} draws each", fontsize=9)
    return figure
