"""Figures of question contexts."""

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

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
    size: Looks = {"figsize": (WIDTH, 6.2), "sharex": "row", "layout": "constrained"}
    figure, axes = plt.subplots(2, len(NAMES), **size)

    longest, _ = longest_run(fits)
    of_heads = fits.stack(row=("layer", "head"))
    middle = of_heads["share"].sel(run=longest, statistic="mean").values
    typical = of_heads.isel(row=int(np.argsort(middle, kind="stable")[len(middle) // 2]))

    def plain_ticks(axis):
        """1, 2 and 5 times a power of ten, as plain numbers."""
        axis.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.yaxis.set_minor_locator(NullLocator())

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
            axis.plot(
                aside, mid, color=colour, lw=1.4, marker="o", ms=4, label=f"layer {layer}, its heads and their median"
            )
        axis.set(
            xscale="log",
            yscale="log",
            xlabel="tokens of a run, $g$",
            ylim=(0.5 * drawn.min(), max(1.4, 1.15 * drawn.max())),
        )
        axis.set_xticks(lengths, [str(length) for length in lengths])
        axis.xaxis.set_minor_locator(NullLocator())
        plain_ticks(axis)

    def draw_errors(axis, head):
        """One head's errors over their scale, a line a run; the guide falls like one over the root of n."""
        ramp = plt.get_cmap("cividis")(np.linspace(0, 0.85, len(runs)))
        shades = dict(zip(runs, ramp, strict=True)) | dict.fromkeys(others, PALETTE[3])
        n = head["n"].values
        value, se = (head[name] / head["limit_scale"] for name in ("value", "value_se"))  # (run, n)
        for marker, (run, colour) in zip(MARKERS, shades.items(), strict=False):
            length = int(fits["run_length"].sel(run=run))
            label = f"one head, runs of {length}" + ("" if run in runs else f" of one {run}")
            axis.errorbar(
                n, value.sel(run=run), se.sel(run=run), color=colour, lw=1.1, marker=marker, ms=3.5, label=label
            )
        guide = GAP * float(value.sel(run=ALONE)[0]) * (n / n[0]) ** -0.5
        axis.plot(n, guide, color=PARAMETRIC, lw=1, ls=":")
        plain_log(axis)
        axis.set(yscale="log", xlabel="tokens of a sample, $n$")
        plain_ticks(axis)

    for column, (statistic, name) in enumerate(NAMES.items()):
        draw_shares(axes[0, column], fits.sel(statistic=statistic))
        draw_errors(axes[1, column], typical.sel(statistic=statistic, part="error"))
        axes[0, column].set_title(name)
    axes[0, 0].set_ylabel("effective share of a token, $s(g)$")
    axes[1, 0].set_ylabel(f"relative error, layer {int(typical['layer'])}, head {int(typical['head'])}")
    dotted: Looks = {"color": PARAMETRIC, "lw": 1, "ls": ":"}
    handles = [
        *axes[0, 0].get_legend_handles_labels()[0],
        Line2D([], [], color=BOUND, ls="--", lw=1.2, label="$1/g$: a run is worth one token"),
        *axes[1, 0].get_legend_handles_labels()[0],
        Line2D([], [], **dotted, label="1: independent; below: $n^{-1/2}$"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncol=3, fontsize=8)
    figure.suptitle(subject(fits.attrs), fontsize=9)
    return figure
