"""Figures of question keys."""

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from attnlimit.attention.key_protocols import RELIABLE
from attnlimit.drawing.key_style import COLOURS, MARKERS, NAMES, key_axis
from attnlimit.drawing.panels import subject
from attnlimit.drawing.style import BOUND, PARAMETRIC, WIDTH
from attnlimit.stats.estimate import Estimate

BY_LAYER = ("uniform", "sink_recent", "heavy_recent")
LEAST = 0.8  # keys: heads that need fewer are drawn at its edge
POWERS = (-0.3, 2.3)  # shown; a head that hardly needs keys may have any


def keys(fits: xr.Dataset) -> Figure:
    """Errors of drawn keys against how many a query reads, with exact first order; n(5 %) by theory and measured."""
    context, n = fits.attrs["context"], fits["n"].values
    cells = fits.stack(cell=("layer", "head"))
    figure, (left, right) = plt.subplots(1, 2, figsize=(WIDTH, 4.0), width_ratios=(1.25, 1), layout="constrained")

    handles = []
    for name in fits["protocol"].values.tolist():
        own = cells.sel(protocol=name)
        middle = own["rms"].median("cell").values
        seen = middle > 1e-4  # below, all keys are read
        budget, style = own["budget"].values, {"color": COLOURS[name], "lw": 1.2}
        left.plot(budget[seen], middle[seen], marker=MARKERS[name], ms=4, **style, label=NAMES[name])
        theory = own["first_order_keys"].sel(eps=0.05, context=context) * 0.05**2  # c1 / S^2
        if theory.notnull().all():
            line = np.sqrt(theory.median("cell").values / n)
            from_n = n >= RELIABLE * float(own["second_moment"].sel(context=context).median("cell"))
            left.plot(budget[from_n], line[from_n], color="0.15", lw=1.4, ls=(0, (2, 1.5)), zorder=4)
    handles += left.get_legend_handles_labels()[0]
    handles += left.plot(
        [], [], color="0.15", lw=1.4, ls=(0, (2, 1.5)), label="exact first order, from $n = 10\\,E\\,u^2$ on"
    )
    left.axhline(0.05, color=PARAMETRIC, lw=1, ls=":")
    left.axvline(context, color=PARAMETRIC, lw=0.8)
    place = left.get_xaxis_transform()
    left.text(context * 1.06, 0.02, "context", transform=place, fontsize=7.5, rotation=90, color="0.35")
    key_axis(left)
    left.set(yscale="log", xlabel="keys that a query reads", ylabel="relative error, median head")

    at = cells.sel(eps=0.05)
    for name in fits["protocol"].values.tolist():
        own = at.sel(protocol=name)
        use = own["first_order_ratio"].notnull().values
        if use.any():
            predicted = own["first_order_keys"].sel(context=context).values[use]
            right.scatter(
                own["keys"].values[use], predicted, s=9, color=COLOURS[name], marker=MARKERS[name], lw=0, alpha=0.55
            )
    ends = [n[0], n[-1]]
    right.plot(ends, ends, color=PARAMETRIC, lw=1, ls=":")
    key_axis(right)
    key_axis(right, horizontal=False)
    used = int(at["first_order_ratio"].notnull().sum())
    ratio, low, high = Estimate.of(fits, "median_first_order_ratio", eps=0.05)
    right.set(xlabel="n(5 %), measured", ylabel="n(5 %), exact first order")
    words = f"{used} heads and protocols\nmedian ratio {ratio:.2f} [{low:.2f}, {high:.2f}]" if used else "no head"
    right.text(0.04, 0.96, words, transform=right.transAxes, va="top", fontsize=8)
    figure.legend(handles=handles, loc="outside lower center", ncol=3, fontsize=8)
    figure.suptitle(f"{subject(fits.attrs)}\n{fits.attrs['windows']} windows, context {context:,}", fontsize=9)
    return figure


def keys_by_layer(fits: xr.Dataset) -> Figure:
    """Keys for 5 % of every head, layer by layer, above the weight of the first key."""
    context = fits.attrs["context"]
    layers = fits["layer"].values
    at = fits.sel(eps=0.05, context=context)
    figure, (upper, lower) = plt.subplots(
        2, 1, figsize=(WIDTH, 5.0), sharex=True, height_ratios=(2, 1), layout="constrained"
    )
    shown = [name for name in BY_LAYER if name in fits["protocol"].values]
    for place, name in enumerate(shown):
        own = at.sel(protocol=name).transpose("layer", "head", ...)
        keys, reliable = np.maximum(own["first_order_keys"].values, 1), own["first_order_reliable"].values == 1
        aside = np.broadcast_to(layers[:, None] + 0.25 * (place - (len(shown) - 1) / 2), keys.shape)
        style = {"s": 10, "marker": MARKERS[name], "linewidths": 0.6, "edgecolors": [COLOURS[name]]}
        upper.scatter(aside[reliable], keys[reliable], color=[COLOURS[name]], alpha=0.6, **style)
        upper.scatter(aside[~reliable], keys[~reliable], facecolors="white", **style)
        upper.plot(layers, np.median(keys, axis=1), color=COLOURS[name], lw=1.3)
    upper.axhline(context, color=PARAMETRIC, lw=1, ls=":")
    upper.text(1, context, "context", transform=upper.get_yaxis_transform(), va="bottom", ha="right", fontsize=7.5)
    key_axis(upper, horizontal=False)
    upper.set(ylabel="n(5 %), exact first order", ylim=(LEAST, None))
    weight = fits["first_weight"].transpose("layer", "head").values
    lower.scatter(np.broadcast_to(layers[:, None], weight.shape), weight, s=9, color=BOUND, alpha=0.5, lw=0)
    lower.plot(layers, np.median(weight, axis=1), color=BOUND, lw=1.3)
    lower.set(xlabel="layer", ylabel="weight of the first key", ylim=(-0.03, 1.03))
    lower.set_xticks(layers[:: -(-len(layers) // 15)])
    handles = [Line2D([], [], color=COLOURS[name], marker=MARKERS[name], ms=4, label=NAMES[name]) for name in shown]
    handles += [Line2D([], [], color=BOUND, marker="o", mfc="white", ls="none", ms=4, label="first order not reliable")]
    figure.legend(handles=handles, loc="outside lower center", ncol=2, fontsize=8)
    words = (
        f"{subject(fits.attrs)}\n{fits.attrs['windows']} windows, context {context:,}; points: heads, lines: medians"
    )
    figure.suptitle(words, fontsize=9)
    return figure


def keys_by_context(fits: xr.Dataset) -> Figure:
    """Keys for 5 % against the length of the context, and the power that they grow with."""
    contexts = fits["context"].values.astype(float)
    growing = [name for name in fits["protocol"].values if fits["growth"].sel(protocol=name).notnull().any()]
    figure, (left, right) = plt.subplots(1, 2, figsize=(WIDTH, 3.6), width_ratios=(1.2, 1), layout="constrained")
    for place, name in enumerate(growing):
        style = {"color": COLOURS[name], "marker": MARKERS[name], "ms": 4.5, "lw": 1.2}
        middle, low, high = Estimate.of(fits, "median_first_order_keys", eps=0.05, protocol=name)
        aside = contexts * 1.02 ** (place - (len(growing) - 1) / 2)
        left.vlines(aside, low, high, color=COLOURS[name], lw=1)
        power, least, most = Estimate.of(fits, "median_growth", protocol=name)
        label = f"{NAMES[name]}: {power:.2f} [{least:.2f}, {most:.2f}]"
        left.plot(aside, middle, **style, label=label)
        ordered = np.sort(fits["growth"].sel(protocol=name).values.ravel())
        right.plot(ordered, np.arange(1, len(ordered) + 1) / len(ordered), color=COLOURS[name], lw=1.3)
    left.plot(contexts, contexts, color=PARAMETRIC, lw=1, ls=":", label="as many as the context has")
    key_axis(left, values=contexts)
    key_axis(left, horizontal=False)
    left.set(xlabel="context, tokens", ylabel="n(5 %), exact first order, median head")
    for power, words in ((0, "a limit"), (1, "a share")):
        right.axvline(power, color=PARAMETRIC, lw=1, ls=":")
        right.text(power, 1.02, words, ha="center", va="bottom", fontsize=7.5, color="0.35")
    right.set(xlabel="power of the context", ylabel="share of heads", ylim=(0, 1), xlim=POWERS)
    figure.legend(
        handles=left.get_legend_handles_labels()[0],
        loc="outside lower center",
        ncol=2,
        fontsize=8,
        title="power, median head",
    )
    figure.suptitle(f"{subject(fits.attrs)}\n{fits.attrs['windows']} windows", fontsize=9)
    return figure
