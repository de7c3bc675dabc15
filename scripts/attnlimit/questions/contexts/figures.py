"""Figures of question contexts."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullLocator

from attnlimit.base.coordinates import heads_only
from attnlimit.drawing.panels import plain_log, subject
from attnlimit.drawing.style import BOUND, NAMES, PALETTE, PARAMETRIC, WIDTH, Looks, layer_colours
from attnlimit.questions.contexts.fit import ALONE, longest_run
from attnlimit.stats.estimate import Estimate

GAP = 0.7  # of the guide below the errors
MARKERS = "osD^v<>PX*"


def contexts(fits: xr.Dataset) -> Figure:
    """What a token among neighbours is worth: effective share against the length of a run, and errors of one head."""
    fits = heads_only(fits)
    runs = sorted((run for run in fits["run"].values.tolist() if run.isdigit()), key=int)
    others = [run for run in fits["run"].values.tolist() if not run.isdigit()]
    lengths = np.array([int(run) for run in runs])
    colours = layer_colours(fits["layer"].values)
    figure = plt.figure(figsize=(WIDTH, 5.0), layout="constrained")
    rows: Any = figure.subfigures(2, 1)  # with a legend each
    axes = np.array([row.subplots(1, len(NAMES)) for row in rows])

    longest, _ = longest_run(fits)
    of_heads = fits.stack(row=("layer", "head"))
    middle = of_heads["share"].sel(run=longest, statistic="mean").values
    typical = of_heads.isel(row=int(np.argsort(middle, kind="stable")[len(middle) // 2]))

    def draw_shares(axis, shares):
        """Heads as thin lines, medians of a layer with their intervals."""
        drawn = shares["share"].sel(run=runs).values
        axis.axhline(1, color=PARAMETRIC, lw=1, ls=":")
        axis.plot(lengths, 1 / lengths, color=BOUND, lw=1.2, ls="--")
        for place, (layer, colour) in enumerate(colours.items()):
            own = shares.sel(layer=layer, run=runs)
            axis.plot(lengths, own["share"].transpose("run", "head"), color=colour, lw=0.6, alpha=0.35)
            aside = lengths * 1.06 ** (place - (len(colours) - 1) / 2)
            mid, low, high = Estimate.of(own, "median_share")
            axis.vlines(aside, low, high, color=colour, lw=1.6)
            axis.plot(aside, mid, color=colour, lw=1.4, marker="o", ms=4, label=f"layer {layer}")
        axis.set(
            xscale="log",
            xlabel="tokens of a run, $g$",
            ylim=(0.5 * drawn.min(), max(1.4, 1.15 * drawn.max())),
        )
        axis.set_xticks(lengths, [str(length) for length in lengths], rotation=30)
        axis.xaxis.set_minor_locator(NullLocator())
        plain_log(axis, "y")

    def draw_errors(axis, head):
        """One head's errors over their scale, a line a run; the guide falls like one over the root of n."""
        ramp = plt.get_cmap("cividis")(np.linspace(0, 0.85, len(runs)))
        shades = dict(zip(runs, ramp, strict=True)) | dict.fromkeys(others, PALETTE[3])
        n = head["n"].values
        value, se = (head[name] / head["limit_scale"] for name in ("value", "value_se"))  # (run, n)
        for marker, (run, colour) in zip(MARKERS, shades.items(), strict=False):
            length = int(fits["run_length"].sel(run=run))
            label = f"runs of {length}" + ("" if run in runs else f"\nof one {run}")
            axis.errorbar(
                n, value.sel(run=run), se.sel(run=run), color=colour, lw=1.1, marker=marker, ms=3.5, label=label
            )
        guide = GAP * float(value.sel(run=ALONE)[0]) * (n / n[0]) ** -0.5
        axis.plot(n, guide, color=PARAMETRIC, lw=1, ls=":")
        plain_log(axis, "xy")
        axis.set(xlabel="tokens of a sample, $n$")

    for column, (statistic, name) in enumerate(NAMES.items()):
        draw_shares(axes[0, column], fits.sel(statistic=statistic))
        draw_errors(axes[1, column], typical.sel(statistic=statistic, part="error"))
        axes[0, column].set_title(name)
    axes[0, 0].set_ylabel("effective share of a token, $s(g)$")
    axes[1, 0].set_ylabel("relative error")
    rows[1].suptitle(f"one head: layer {int(typical['layer'])}, head {int(typical['head'])}", fontsize=9)
    dotted: Looks = {"color": PARAMETRIC, "lw": 1, "ls": ":"}
    guides = [
        [
            Line2D([], [], color="0.4", lw=0.6, alpha=0.6, label="thin: heads;\nthick: their median"),
            Line2D([], [], **dotted, label="1: as independent"),
            Line2D([], [], color=BOUND, ls="--", lw=1.2, label="$1/g$: a run is\nworth one token"),
        ],
        [Line2D([], [], **dotted, label="slope −1/2")],
    ]
    for row, panel, more in zip(rows, axes[:, 0], guides, strict=True):
        row.legend(handles=[*panel.get_legend_handles_labels()[0], *more], loc="outside right center", fontsize=7.5)
    figure.suptitle(subject(fits.attrs), fontsize=9)
    return figure
