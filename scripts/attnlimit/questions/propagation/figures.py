"""Figures of question propagation."""

import matplotlib.pyplot as plt
import numpy as np
import seaborn as sns
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from attnlimit.drawing.panels import dot, hollow_key, legend_below, plain_log, subject
from attnlimit.drawing.style import COLOURS, NAMES, PALETTE, PARAMETRIC, WIDTH, Looks
from attnlimit.stats.power_law import upper_two_thirds

COLOURS_HERE, NAMES_HERE = COLOURS | {"pointwise": PALETTE[4]}, NAMES | {"pointwise": "at a token"}
MARKERS = {"mean": "o", "cov": "s", "pointwise": "D"}
SHOWN_NUMBERS = 8  # layers up to which the gains are written out: more would not be readable


def layer_ticks(layers: np.ndarray) -> np.ndarray:
    return layers[:: -(-len(layers) // SHOWN_NUMBERS)]


def draw_points(axis: Axes, x: np.ndarray, fit: xr.Dataset, name: str, statistic: str) -> None:
    """Estimates of a statistic with their intervals."""
    ends = [fit[name] - fit[f"{name}_low"], fit[f"{name}_high"] - fit[name]]
    style: Looks = {"color": COLOURS_HERE[statistic], "marker": MARKERS[statistic], "ms": 4, "lw": 0.9, "ls": "none"}
    axis.errorbar(x, fit[name], yerr=np.maximum(ends, 0), label=NAMES_HERE[statistic], **style)


def whole_subject(attrs: dict) -> str:
    return f"{subject(attrs)} in {attrs['blocks']} blocks of {attrs['articles']} articles"


def propagation(fits: xr.Dataset, tolerance: float) -> Figure:
    """Error after each layer, keys drawn in all at once, and whether errors of single layers add in quadrature."""
    layers, sizes, single = fits["layer"].values, fits["n"].values, fits["single_n"].values
    figure, (depth, ratio) = plt.subplots(1, 2, figsize=(WIDTH, 3.9), layout="constrained")

    fit = fits.sel(statistic="mean")
    for n, colour in zip(sizes, sns.color_palette("viridis_r", len(sizes)), strict=True):
        at = fit.sel(n=n)
        depth.fill_between(layers, at["rms_low"], at["rms_high"], color=colour, alpha=0.25, lw=0)
        depth.plot(layers, at["rms"], color=colour, lw=1.2, marker=".", ms=4)
        depth.annotate(
            f"$n$ = {n:,}",
            (layers[-1], float(at["rms"][-1])),
            (6, 0),
            textcoords="offset points",
            fontsize=7,
            va="center",
        )
        if n in single:
            added = (fit["single_rms"].sel(single_n=n) ** 2).sum("drawn_layer") ** 0.5
            depth.plot(layers, added, "x", color=colour, ms=5.5, mew=1.3)
    plain_log(depth, "y")
    depth.set(xlabel="after layer", xticks=layer_ticks(layers), ylabel="error of the mean, relative")
    depth.set_title("error grows with depth: keys drawn in every layer")

    for statistic, shift in zip(NAMES_HERE, (-1, 0, 1), strict=True):
        at_end = fits.sel(statistic=statistic).isel(layer=-1)
        draw_points(ratio, single * 1.09**shift, at_end, "quadrature", statistic)
        aligned = at_end["quadrature_in_step"]
        ratio.plot(single, aligned, color=COLOURS_HERE[statistic], lw=0.9, ls="--", marker="_")
    ratio.axhspan(1 - tolerance, 1 + tolerance, color=PARAMETRIC, alpha=0.18, lw=0)
    ratio.axhline(1, color=PARAMETRIC, lw=1, ls=":")
    place = {"fontsize": 7, "transform": ratio.get_yaxis_transform(), "va": "bottom"}
    ratio.text(
        0.03, float(fits["quadrature_in_step"].isel(layer=-1).max()) + 0.02, "if all layers erred in step", **place
    )
    ratio.text(0.03, 1 - tolerance - 0.012, "in the band: errors add as independent ones do", **place | {"va": "top"})
    ratio.set_xscale("log")
    ratio.set_xticks(single, [f"{n:,}" for n in single])
    ratio.minorticks_off()
    ratio.set(xlabel="drawn keys $n$", ylim=(0.3, None), xlim=(single[0] / 1.4, single[-1] * 1.4))
    ratio.set_ylabel("root sum of squares, over error of all")
    ratio.set_title(f"single layers added up, after layer {layers[-1]}")
    handles = ratio.get_legend_handles_labels()[0]
    handles += [dot("0.3", "left: single layers, root sum of squares", "x", 5.5)]
    legend_below(figure, handles, 4)
    figure.suptitle(whole_subject(fits.attrs), fontsize=9)
    return figure


def propagation_gain(fits: xr.Dataset, tolerance: float) -> Figure:
    """How the error of one layer passes through those after it, and the rates after every layer."""
    layers, sizes, last = fits["layer"].values, fits["n"].values, int(fits["single_n"].values[-1])
    figure, (gains, rates) = plt.subplots(1, 2, figsize=(WIDTH, 3.7), layout="constrained")

    fit = fits.sel(statistic="pointwise", single_n=last)
    half, written = float(((fit["gain_high"] - fit["gain_low"]) / 2).max()), len(layers) <= SHOWN_NUMBERS
    looks: Looks = {
        "annot": written,
        "fmt": ".2f",
        "annot_kws": {"fontsize": 8},
        "linewidths": 0.6,
        "cbar": not written,
    }
    colour: Looks = {"cmap": "vlag", "center": 1, "vmin": 0.5, "vmax": 1.5}
    sns.heatmap(fit["gain"].values, ax=gains, xticklabels=layers, yticklabels=layers, **looks, **colour)
    gains.tick_params(length=0, rotation=0)
    gains.set(xlabel="error measured after layer", ylabel="keys drawn in this layer alone")
    gains.set_title(f"gain of the error at a token\n$n$ = {last:,} (± {half:.2f}); blue: it shrinks")

    for statistic, shift in zip(NAMES_HERE, (-1, 0, 1), strict=True):
        fit, x = fits.sel(statistic=statistic), layers + 0.16 * shift
        draw_points(rates, x, fit, "beta", statistic)
        misfit = fit["misfit"].values
        style: Looks = {"color": COLOURS_HERE[statistic], "marker": MARKERS[statistic], "ms": 4, "ls": "none"}
        rates.plot(x[misfit], fit["beta"].values[misfit], mfc="white", zorder=3, **style)
        rates.plot(x, fit["late_rate"], color=COLOURS_HERE[statistic], marker="_", ms=8, mew=1.4, ls="none", zorder=4)
    rates.axhspan(0.5 - tolerance, 0.5 + tolerance, color=PARAMETRIC, alpha=0.18, lw=0)
    rates.axhline(0.5, color=PARAMETRIC, lw=1, ls=":")
    rates.set(xlabel="after layer", xticks=layer_ticks(layers), ylabel=r"rate $\beta$")
    rates.set_title(f"rate of the error with all layers drawn\n$n$ = {sizes[0]:,} to {sizes[-1]:,}")
    handles = rates.get_legend_handles_labels()[0]
    late = dot("0.3", f"rate from $n$ = {sizes[upper_two_thirds(sizes)][0]:,} on", "_", 8)
    legend_below(figure, [*handles, hollow_key(words="no power law: an average slope"), late], 5)
    figure.suptitle(whole_subject(fits.attrs), fontsize=9)
    return figure
