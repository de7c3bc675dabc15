"""Figures of question atlas: all models on one axis."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.figure import Figure

from attnlimit.drawing.key_style import COLOURS, MARKERS, NAMES, key_axis
from attnlimit.drawing.panels import dot, legend_below, plain_log
from attnlimit.drawing.style import BOUND, PALETTE, PARAMETRIC, WIDTH
from attnlimit.questions.atlas.compare import PROTOCOLS, rows_of
from attnlimit.questions.atlas.report import span
from attnlimit.stats.estimate import Estimate

FARTHEST = 20  # times below the median error of all heads: smaller errors are drawn at the edge
SHAPES = "osD^vPXp*h"
PANELS = {"keys_uniform": "random keys", "keys_sink_recent": "first and nearest kept, others random"}


def looks(compared: xr.Dataset) -> dict[str, tuple]:
    """Colour and marker of each model."""
    names = map(str, compared["model"].values)
    return {name: (PALETTE[place % 10], SHAPES[place % 10]) for place, name in enumerate(names)}


def atlas_depth(compared: xr.Dataset) -> Figure:
    """Keys for 5 % of every head against the place of its layer, medians as lines; at the upper edge: not reached."""
    figure, axes = plt.subplots(1, 2, figsize=(WIDTH, 3.8), sharey=True, layout="constrained")
    finite = compared[list(PANELS)].to_array().values
    top = 1.6 * finite[np.isfinite(finite)].max(initial=1)
    for axis, (column, title) in zip(axes, PANELS.items(), strict=True):
        for name, (colour, marker) in looks(compared).items():
            own = rows_of(compared, name)
            keys = np.minimum(own[column].values, top)
            axis.scatter(own["depth"], keys, s=7, color=[colour], marker=marker, lw=0, alpha=0.35)
            middle = pd.Series(keys).groupby(own["depth"].values).median()
            axis.plot(middle.index, middle, color=colour, lw=1.5, marker=marker, ms=3.5)
        for context in np.unique(compared["context"]):
            axis.axhline(context, color=PARAMETRIC, lw=1, ls=":")
            axis.text(
                1,
                context,
                f"context {context:,.0f}",
                transform=axis.get_yaxis_transform(),
                va="bottom",
                ha="right",
                fontsize=7,
            )
        key_axis(axis, horizontal=False)
        axis.set(xlabel="depth: first layer 0, last 1", title=title)
    axes[0].set_ylabel("keys that a query reads for 5 %")
    handles = [dot(colour, name, marker, ls="-") for name, (colour, marker) in looks(compared).items()]
    legend_below(figure, handles, 3)
    return figure


def atlas_horizon(compared: xr.Dataset) -> Figure:
    """The error of so many random keys by first order against H, a point a head; hollow: not reliable."""
    figure, axis = plt.subplots(figsize=(WIDTH, 4.2), layout="constrained")
    handles, floor = [], float(compared["first_order_error"].median()) / FARTHEST
    for name, (colour, marker) in looks(compared).items():
        own = rows_of(compared, name)
        below = own.isel(row=(own["first_order_error"] < floor).values)  # a head that reads one key
        axis.plot(below["horizon"], np.full(below.sizes["row"], 1.1 * floor), "v", color=colour, ms=5)
        own = own.isel(row=(own["first_order_error"] >= floor).values)
        faces = [colour if use else (1, 1, 1, 1) for use in own["first_order_reliable"].values == 1]
        style = {"edgecolors": [colour], "linewidths": 0.7, "marker": marker, "alpha": 0.7}
        axis.scatter(own["horizon"], own["first_order_error"], s=13, c=faces, **style)
        order = span(Estimate.of(compared, "order", model=name, quantity="error_horizon"))
        handles.append(dot(colour, f"{name}: {order}", marker))
    axis.axhline(0.05, color=PARAMETRIC, lw=1, ls=":")
    plain_log(axis, "xy")
    axis.set(xlabel="horizon $H$", ylabel=f"error of {compared.attrs['size']:,} random keys, exact first order")
    axis.set_ylim(bottom=floor)
    handles.append(dot(BOUND, "first order not reliable", mfc="white"))
    handles.append(dot(BOUND, "below the axis", "v"))
    legend_below(figure, handles, 2, title="rank correlation over heads")
    return figure


def atlas_beyond(compared: xr.Dataset) -> Figure:
    """Share of heads whose queries must read as many keys as the context has, by model and protocol."""
    names = [str(name) for name in compared["model"].values]
    figure, axis = plt.subplots(figsize=(WIDTH, 1.3 + 0.55 * len(names)), layout="constrained")
    for place, protocol in enumerate(PROTOCOLS):
        share, low, high = Estimate.of(compared, "beyond", protocol=protocol)
        rows = np.arange(len(names)) + 0.17 * (place - (len(PROTOCOLS) - 1) / 2)
        axis.hlines(rows, low, high, color=COLOURS[protocol], lw=1.2)
        style = {"color": COLOURS[protocol], "marker": MARKERS[protocol], "ls": "none", "ms": 5}
        axis.plot(share, rows, **style, label=NAMES[protocol].replace("last", "nearest"))
    axis.set(xlim=(-0.02, 1.02), ylim=(len(names) - 0.5, -0.5), yticks=range(len(names)), yticklabels=names)
    axis.set_xlabel("share of heads that need as many keys as the context has, or more")
    legend_below(figure, axis.get_legend_handles_labels()[0], 2)
    return figure
