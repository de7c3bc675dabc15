"""Figures of question first_order."""

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from attnlimit.base.coordinates import heads_only
from attnlimit.drawing.panels import plain_log, subject
from attnlimit.drawing.style import BOUND, NAMES, PARAMETRIC, WIDTH, Looks
from attnlimit.stats.order import rank_correlations

BAND = 0.1  # relative, about equality


def span(*numbers: np.ndarray) -> np.ndarray:
    """The smallest and the largest; a prediction that noise makes negative has no root, and is not drawn."""
    return np.array([np.nanmin(numbers), np.nanmax(numbers)])


def first_order(rates: xr.Dataset) -> Figure:
    """Predicted against measured errors of every head at the largest n, and predicted against measured slopes."""
    rates = heads_only(rates).stack(unit=("layer", "head"))
    n, few = int(rates["n"][-1]), rates["few_tokens"].values.astype(bool)
    expansion = rates["kappa"].values / n
    shade: Looks = {"cmap": "viridis", "norm": LogNorm(expansion.min(), max(expansion.max(), 1.01 * expansion.min()))}
    figure, axes = plt.subplots(1, 3, figsize=(WIDTH, 3.2), layout="constrained")

    def draw(axis, x, y, low, high):
        """Points with the intervals of what is measured; hollow where the head rests on few tokens."""
        axis.hlines(y, low, high, color="0.6", lw=0.6, zorder=1)
        colours = plt.get_cmap(shade["cmap"])(shade["norm"](expansion))
        for mask, faces in ((~few, colours[~few]), (few, np.ones((few.sum(), 4)))):
            axis.scatter(x[mask], y[mask], s=13, c=faces, edgecolors=colours[mask], linewidths=0.9, zorder=3)

    for axis, (statistic, name) in zip(axes, NAMES.items(), strict=False):
        data = rates.sel(statistic=statistic).isel(n=-1)
        scale = data["limit_scale"].values
        measured, predicted = data["measured"].values / scale, data["predicted"].values / scale
        ends = predicted / data["ratio_high"].values, predicted / data["ratio_low"].values
        reach = span(measured, predicted) * [1 / 1.2, 1.2]
        axis.plot(reach, reach, color=PARAMETRIC, lw=1)
        axis.fill_between(reach, (1 - BAND) * reach, (1 + BAND) * reach, color=BOUND, alpha=0.15, lw=0)
        draw(axis, measured, predicted, *ends)
        right = int((np.abs(data["ratio"].values[~few] - 1) <= BAND).sum())
        axis.set(xlim=reach, ylim=reach, title=f"{name}, $n$ = {n:,}")
        axis.set(xlabel="measured error, relative", ylabel="predicted")
        plain_log(axis, "xy", 4)
        axis.text(0.04, 0.96, f"{right} of {(~few).sum()} within 10 %", transform=axis.transAxes, va="top", fontsize=7)

    data = rates.sel(statistic="cov")
    measured, predicted = data["slope"].values, data["predicted_slope"].values
    reach = span(measured, predicted) + [-0.03, 0.03]
    axes[2].plot(reach, reach, color=PARAMETRIC, lw=1)
    axes[2].axhline(0.5, color=PARAMETRIC, lw=0.8, ls=":")
    axes[2].axvline(0.5, color=PARAMETRIC, lw=0.8, ls=":")
    draw(axes[2], measured, predicted, data["slope_low"].values, data["slope_high"].values)
    both = np.isfinite(measured) & np.isfinite(predicted)
    order = float(rank_correlations(measured[both], predicted[both]))
    words = f"rank correlation {order:.2f}".replace("-", "−") if np.isfinite(order) else ""  # none of one head
    axes[2].text(0.04, 0.96, words, transform=axes[2].transAxes, va="top", fontsize=7)
    axes[2].set(xlim=reach, ylim=reach, title="covariance, slope over $n$", xlabel="measured slope", ylabel="predicted")
    colours = plt.cm.ScalarMappable(norm=shade["norm"], cmap=shade["cmap"])
    label = r"$\kappa/n$, $\kappa = \mathrm{E}\,w^2$, $w$ the weight of a token over the mean weight"
    bar = figure.colorbar(colours, ax=axes, label=label, location="bottom", shrink=0.5, aspect=40)
    plain_log(bar.ax, "x", 4)
    words = "; ○: rests on few tokens, not reliable" if few.any() else ""
    figure.suptitle(f"{subject(rates.attrs)}\nband: 10 %{words}", fontsize=9)
    return figure
