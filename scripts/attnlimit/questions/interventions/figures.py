"""Figures of question interventions."""

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullLocator

from attnlimit.base.coordinates import heads_only
from attnlimit.drawing.panels import draw_predictions, hollow_key, subject
from attnlimit.drawing.style import NAMES, PARAMETRIC, WIDTH, Looks, layer_colours
from attnlimit.questions.interventions.fit import counted
from attnlimit.stats.estimate import Estimate


def interventions(fits: xr.Dataset, level: float) -> Figure:
    """What a larger horizon does to each head: its rate before and after, constant tilt kept, on the same samples."""
    variants = fits["variant"].values[fits["alpha"].values > 1]
    colours = layer_colours(fits["layer"].values)
    size: Looks = {"figsize": (WIDTH, 1.2 + 2.6 * len(NAMES)), "sharex": True, "sharey": "row", "squeeze": False}
    figure, axes = plt.subplots(len(NAMES), len(variants), layout="constrained", **size)

    for row, (statistic, name) in zip(axes, NAMES.items(), strict=True):
        for axis, variant in zip(row, variants, strict=True):
            both = fits.sel(statistic=statistic, part="error")
            before, after = both.isel(variant=0), both.sel(variant=variant)
            draw_predictions(axis, heads_only(both["horizon"]).values)
            for layer, colour in colours.items():
                old, new = (heads_only(each.sel(layer=layer)) for each in (before, after))
                known = new["slope_known"].values
                x, y = (np.stack([old[what], new[what]]) for what in ("horizon", "beta"))  # (2, head)
                axis.plot(x, y, color=colour, lw=0.7, alpha=0.35)
                axis.vlines(new["horizon"], new["beta_low"], new["beta_high"], color=[colour], lw=0.8, alpha=0.6)
                axis.scatter(old["horizon"], old["beta"], s=5, color=[colour], alpha=0.6, linewidths=0)
                faces = [colour if each else (1, 1, 1, 1) for each in known]
                axis.scatter(new["horizon"], new["beta"], s=16, c=faces, edgecolors=[colour], linewidths=0.9, zorder=3)
            counts = counted(after, "beta_change", level)
            axis.set(xscale="log", title=f"{name}, {variant.replace('x', '×')}: {counts.words}")
        row[0].set(ylabel=rf"rate $\beta$, {name}")
        row[0].set_ylim(bottom=0)
    for axis in axes[-1]:
        axis.set_xlabel("horizon $H$ of the head, before and after")
    handles, _ = axes[0, 0].get_legend_handles_labels()
    dots: Looks = {"marker": "o", "ls": "none"}
    handles += [
        Line2D([], [], color=colour, ms=4.5, label=f"layer {layer}", **dots) for layer, colour in colours.items()
    ]
    handles += [Line2D([], [], color="0.4", ms=2.5, label="the head as it is", **dots), hollow_key(words="saturated")]
    figure.legend(handles=handles, loc="outside lower center", ncol=4, fontsize=8)
    figure.suptitle(subject(fits.attrs), fontsize=9)
    return figure


def interventions_tilt(fits: xr.Dataset, level: float) -> Figure:
    """What the horizon does not see: error of each head with its constant tilt changed, H kept, on the same samples."""
    variants = fits["variant"].values[fits["tilt_factor"].values != 1]
    colours = layer_colours(fits["layer"].values)
    size: Looks = {"figsize": (WIDTH, 1.0 + 2.4 * len(NAMES)), "sharex": True, "sharey": "row", "squeeze": False}
    figure, axes = plt.subplots(len(NAMES), len(variants), layout="constrained", **size)

    tilt = heads_only(fits["constant_tilt"]).isel(variant=0)  # (layer, head): of the heads as they are
    for row, (statistic, name) in zip(axes, NAMES.items(), strict=True):
        for axis, variant in zip(row, variants, strict=True):
            one = fits.sel(statistic=statistic, variant=variant)
            axis.axhline(1, color=PARAMETRIC, lw=1, ls=":")
            for layer, colour in colours.items():
                value, low, high = Estimate.of(heads_only(one.sel(layer=layer)), "error_change").map(np.exp)
                x = tilt.sel(layer=layer).values
                axis.vlines(x, low, high, color=[colour], lw=0.8, alpha=0.6)
                axis.scatter(x, value, s=16, color=[colour], linewidths=0, zorder=3)
            counts = counted(one, "error_change", level)
            axis.set(yscale="log", title=f"{name}, {variant.replace('x', '×')}: {counts.words}")
            axis.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axis.yaxis.set_major_formatter("{x:g}")
            axis.yaxis.set_minor_locator(NullLocator())
        row[0].set_ylabel(f"error after over before,\n{name}, n = {int(fits['n'][-1]):,}")
    for axis in axes[-1]:
        axis.set_xlabel("constant tilt $s_0$ of the head as it is")
    dots: Looks = {"marker": "o", "ls": "none", "ms": 4.5}
    handles = [Line2D([], [], color=colour, label=f"layer {layer}", **dots) for layer, colour in colours.items()]
    handles.append(Line2D([], [], color=PARAMETRIC, lw=1, ls=":", label="no change"))
    figure.legend(handles=handles, loc="outside lower center", ncol=4, fontsize=8)
    figure.suptitle(subject(fits.attrs), fontsize=9)
    return figure
