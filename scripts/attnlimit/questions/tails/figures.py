"""Figures of question tails."""

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from attnlimit.base.coordinates import heads_only, whole_layer
from attnlimit.drawing.panels import horizon_axis, plain_log, subject
from attnlimit.drawing.style import BOUND, PARAMETRIC, WIDTH, layer_colours

LEADING = 0
APART = 3  # heads that are drawn by themselves
NAMED = 8  # layers in the legend at most
SPREAD = 0.36  # half the width that the heads of a layer take


def credible_ratios(heads: xr.Dataset) -> np.ndarray:
    """R(s) along each head's leading direction, (head, scale), with R(0) = 1; NaN where few tokens carry it."""
    data = heads.sel(direction=LEADING).transpose("head", ...)
    values = np.where(data["effective_tokens"] >= heads.attrs["effective"], data["log_mgf_ratio"], np.nan)
    return np.insert(values, int((data["scale"] < 0).sum()), 1, axis=1)


def tails(layers: list[xr.Dataset]) -> Figure:
    """Are the tokens sub-Gaussian: spectrum of the covariance, log-MGF ratio, kurtosis and worst ratio of each head."""
    colours = layer_colours([int(layer["layer"]) for layer in layers])
    named = set(np.linspace(0, len(layers) - 1, min(NAMED, len(layers))).round().astype(int))
    small = max(0.5, min(1, NAMED / len(layers)))  # points of many layers
    figure, ((spectrum, ratio), (kurtosis, worst)) = plt.subplots(2, 2, figsize=(WIDTH, 5.2), layout="constrained")

    lines: list[np.ndarray] = []  # a layer each, (head, scale)
    scales = np.insert(layers[0]["scale"].values, int((layers[0]["scale"] < 0).sum()), 0)
    for place, (layer, (name, colour)) in enumerate(zip(layers, colours.items(), strict=True)):
        share = layer["eigenvalues"].values / layer["eigenvalues"].values.sum()
        rank = np.arange(1, len(share) + 1)
        label = f"layer {name}, effective rank {float(layer['participation_ratio']):.0f}" if place in named else None
        spectrum.plot(rank[share > 0], share[share > 0], color=colour, lw=1.1, label=label)

        heads = heads_only(layer)
        lines.append(credible_ratios(heads))
        seen = np.isfinite(lines[-1]).any(0)
        ratio.plot(scales[seen], np.nanmedian(lines[-1][:, seen], axis=0), color=colour, lw=1.3, zorder=3)

        aside = place + np.linspace(-SPREAD, SPREAD, heads.sizes["head"])
        rest = heads["kurtosis"].isel(direction=slice(1, None)).values  # (head, direction)
        kurtosis.scatter(np.repeat(aside, rest.shape[1]), rest.ravel(), s=7 * small, c=[colour], alpha=0.45, lw=0)
        first = heads["kurtosis"].sel(direction=LEADING)
        kurtosis.scatter(aside, first, s=16 * small, c=[colour], edgecolors="white", lw=0.4)
        own = whole_layer(layer["kurtosis"])
        kurtosis.scatter(np.full(own.size, place + SPREAD + 0.1), own, s=14 * small, color=BOUND, marker="_", lw=1.1)

        horizon = np.sqrt(heads["variance"].sel(direction=LEADING))
        worst.scatter(horizon, heads["sub_gaussian"], s=16 * small, c=[colour], edgecolors="white", lw=0.4)

    plain_log(spectrum, "xy")
    spectrum.set(xlabel="rank", ylabel=r"eigenvalue of $\Sigma$, share of the sum")
    spectrum.set(ylim=(1e-6, None), title="spectrum of the tokens' covariance")
    spectrum.legend(loc="lower left", fontsize=7)
    for axis in (ratio, worst):
        axis.axhline(1, color=PARAMETRIC, lw=1.2, ls="--", zorder=0)
    ratio.set(
        xlabel="scale $s$", ylabel=r"$R(s)=\log\mathrm{E}\,e^{su}\,/\,(s^2/2)$", title="leading direction of each head"
    )
    every = np.concatenate(lines)
    order = np.argsort(np.nanmax(every, axis=1), kind="stable")[::-1]
    apart = min(APART, len(every) - 1)
    low, high = (ends.reduce(every[order[apart:]], axis=0) for ends in (np.fmin, np.fmax))
    ratio.fill_between(scales, low, high, color="0.85", lw=0)
    for row in order[:apart]:
        layer, head = divmod(int(row), lines[0].shape[0])
        ratio.plot(scales, every[row], color="0.3", lw=0.8)
        top = int(np.nanargmax(every[row]))
        words: dict = {"textcoords": "offset points", "fontsize": 7, "va": "center"}
        ratio.annotate(f"{list(colours)[layer]}.{head}", (scales[top], every[row, top]), (5, 2), **words)
    ratio.legend(
        [Line2D([], [], color="0.5", lw=1.5), Patch(color="0.85"), Line2D([], [], color="0.3", lw=0.8)]
        + [Line2D([], [], color=PARAMETRIC, lw=1.2, ls="--")],
        ["median of a layer", "all other heads", f"the {apart} farthest\n(layer.head)", "1: Gaussian"],
        fontsize=7,
        loc="upper left",
        borderaxespad=0.1,
    )
    kurtosis.axhline(0, color=PARAMETRIC, lw=1.2, ls="--", zorder=0)
    places = range(0, len(layers), -(-len(layers) // 12))  # two digits each: more would stand in each other
    kurtosis.set(xticks=places, xticklabels=[list(colours)[place] for place in places])
    kurtosis.set(xlabel="layer", ylabel=r"excess kurtosis $\mathrm{E}\,u^4-3$")
    kurtosis.set_title("leading directions of each head")
    kurtosis.legend(
        [
            Line2D([], [], marker="o", ls="none", color="0.4", ms=4),
            Line2D([], [], marker="o", ls="none", color="0.7", ms=2.6),
        ]
        + [Line2D([], [], marker="_", ls="none", color=BOUND, ms=5)],
        ["first of a head", "others", r"of $\Sigma$"],
        fontsize=7,
        loc="best",
        handletextpad=0.1,
        frameon=True,
        framealpha=0.7,
        edgecolor="none",
    )
    horizon_axis(worst)
    worst.set(
        ylabel="largest $R(s)$ of a head",
        title="variance proxy, in units of $\\Sigma$",
    )
    figure.suptitle(subject(layers[0].attrs), fontsize=9)
    return figure
