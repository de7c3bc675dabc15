"""Figures of question propagation."""

import matplotlib.pyplot as plt
import numpy as np
import seaborn as sns
import xarray as xr
from matplotlib.figure import Figure

from attnlimit.drawing.panels import plain_log, subject
from attnlimit.drawing.style import COLOURS, NAMES, PALETTE, PARAMETRIC, WIDTH

MARKERS = {"mean": "o", "cov": "s", "pointwise": "D"}
SHOWN_NUMBERS = 8  # layers up to which the gains are written out: more would not be readable


def propagation(fits: xr.Dataset, tolerance: float) -> Figure:
    """Errors against depth, how they pass from layer to layer, their rates, and whether they add in quadrature."""
    colours, names = COLOURS | {"pointwise": PALETTE[4]}, NAMES | {"pointwise": "pointwise"}
    layers, sizes, single = fits["layer"].values, fits["n"].values, fits["single_n"].values
    last = int(single[-1])
    ticks = layers[:: -(-len(layers) // SHOWN_NUMBERS)]
    figure = plt.figure(figsize=(WIDTH, 5.2), layout="constrained")
    axes = figure.subplot_mosaic([["mean", "cov", "pointwise"], ["gain", "beta", "quadrature"]])

    def draw_depth(axis, fit, name):
        """A line for each n, with its interval; crosses where single layers add up in quadrature."""
        for n, colour in zip(sizes, sns.color_palette("viridis_r", len(sizes)), strict=True):
            at = fit.sel(n=n)
            axis.fill_between(layers, at["rms_low"], at["rms_high"], color=colour, alpha=0.25, lw=0)
            axis.plot(layers, at["rms"], color=colour, lw=1.2, marker=".", ms=4, label=f"n = {n:,}")
            if n in single:
                added = (fit["single_rms"].sel(single_n=n) ** 2).sum("drawn_layer") ** 0.5
                axis.plot(layers, added, "x", color=colour, ms=5.5, mew=1.1)
        axis.set(yscale="log", xlabel="after layer", xticks=ticks)
        axis.set_title(name, loc="left")

    def draw_gains(axis, fit):
        """Rows: the layer that is drawn; columns: the layer after which the error is measured."""
        gain, half = fit["gain"].values, float(((fit["gain_high"] - fit["gain_low"]) / 2).max())
        written = len(layers) <= SHOWN_NUMBERS
        looks = {"annot": written, "fmt": ".2f", "annot_kws": {"fontsize": 7}, "linewidths": 0.6, "cbar": not written}
        colour = {"cmap": "vlag", "center": 1, "vmin": 0.5, "vmax": 1.5}
        sns.heatmap(gain, ax=axis, xticklabels=layers, yticklabels=layers, **looks, **colour)
        axis.tick_params(length=0, rotation=0)
        axis.set(xlabel="after layer", ylabel="keys drawn in layer alone")
        axis.set_title(f"pointwise gain, n = {last:,} (± {half:.2f})", loc="left", fontsize=8)

    def draw_points(axis, x, fit, name, statistic, hollow=None):
        """Estimates with their intervals."""
        ends = [fit[name] - fit[f"{name}_low"], fit[f"{name}_high"] - fit[name]]
        style = {"color": colours[statistic], "marker": MARKERS[statistic], "ms": 4, "lw": 0.9, "ls": "none"}
        axis.errorbar(x, fit[name], yerr=np.maximum(ends, 0), label=names[statistic], **style)
        if hollow is not None:
            axis.plot(x[hollow], fit[name].values[hollow], **style | {"mfc": "white", "zorder": 3})

    for statistic in names:
        draw_depth(axes[statistic], fits.sel(statistic=statistic), names[statistic])
    axes["mean"].set_ylabel("error / scale of the states")
    for statistic in list(names)[1:]:
        axes[statistic].sharey(axes["mean"])
        axes[statistic].tick_params(labelleft=False)
    handles = axes["mean"].get_legend_handles_labels()[0]
    handles += axes["mean"].plot([], [], "x", color="0.3", ms=5.5, label="single layers: √(Σ single²)")
    draw_gains(axes["gain"], fits.sel(statistic="pointwise", single_n=last))

    shifts = dict(zip(names, (-1, 0, 1), strict=True))
    for statistic, shift in shifts.items():
        fit = fits.sel(statistic=statistic)
        draw_points(axes["beta"], layers + 0.16 * shift, fit, "beta", statistic, fit["misfit"].values)
        at_end = fit.isel(layer=-1)
        draw_points(axes["quadrature"], single * 1.09**shift, at_end, "quadrature", statistic)
        axes["quadrature"].plot(
            single, at_end["quadrature_in_step"], color=colours[statistic], lw=0.9, ls="--", marker="_"
        )
    axes["beta"].axhline(0.5, color=PARAMETRIC, lw=1, ls=":")
    axes["beta"].set(xlabel="after layer", xticks=ticks)
    axes["beta"].set_title(rf"rate $\beta$, n = {sizes[0]:,} to {sizes[-1]:,}", loc="left", fontsize=8)
    axis = axes["quadrature"]
    axis.axhspan(1 - tolerance, 1 + tolerance, color=PARAMETRIC, alpha=0.18, lw=0)
    axis.axhline(1, color=PARAMETRIC, lw=1, ls=":")
    aligned = float(fits["quadrature_in_step"].isel(layer=-1).max())
    axis.text(0.03, aligned + 0.02, "if all errors were in step", fontsize=7, transform=axis.get_yaxis_transform())
    plain_log(axis)
    axis.set_xticks(single, [f"{n:,}" for n in single])
    axis.minorticks_off()
    axis.set(xlabel="drawn keys n", ylim=(0.3, None), xlim=(single[0] / 1.4, single[-1] * 1.4))
    axis.set_title(f"√(Σ single²) / all, after layer {layers[-1]}", loc="left", fontsize=8)
    handles += axis.get_legend_handles_labels()[0]
    handles += axis.plot([], [], "o", color="0.3", mfc="white", ms=4, label="no power law")
    figure.legend(handles=handles, loc="outside lower center", ncol=4, fontsize=7.5)
    blocks, articles = fits.attrs["blocks"], fits.attrs["articles"]
    figure.suptitle(f"{subject(fits.attrs)} in {blocks} blocks of {articles} articles", fontsize=9)
    return figure
