"""Figures of question patterns."""

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from attnlimit.drawing.panels import COLUMNS, layer_panels, legend_below, plain, subject
from attnlimit.drawing.style import BOUND, PALETTE, PARAMETRIC, Looks
from attnlimit.stats.estimate import Estimate

LOOKS = {  # label, colour, marker, dashes: those that draw keys are dashed. All others are grey
    "random": ("random keys", PALETTE[0], "o", "--"),
    "window": ("window: nearest keys", PALETTE[1], "s", "-"),
    "global_window_random": ("first keys, window, random: BigBird-like", PALETTE[2], "P", "--"),
    "herding": ("coreset by herding, for all queries", PALETTE[3], "D", "-"),
    "top": ("largest scores (oracle)", BOUND, "*", "-"),
}
OTHERS = ("window_random", "window_random_50", "strided", "dilated", "pooled")  # random_shared has the error of random

LOWEST = 0.02  # what is below is cut off: few budgets of few patterns
TICKS = 4  # a factor of n between two


def patterns(rates: xr.Dataset) -> Figure:
    """Error of sparse attention against the keys that a query reads: one line a pattern, one panel a layer."""
    inside = rates.sel(n=rates["n"] <= rates.attrs["block"], statistic="pointwise")
    n = inside["n"].values
    figure, panels = layer_panels(rates["layer"].values, height=2.0)
    ticks = n[0] * TICKS ** np.arange(np.log(n[-1] / n[0]) / np.log(TICKS) + 1e-9)

    for number, (layer, axis) in enumerate(panels.items()):
        for share in rates["eps"].values:
            axis.axhline(share, color=PARAMETRIC, lw=0.8, ls=":", zorder=0)
            place: Looks = {"transform": axis.get_yaxis_transform(), "va": "center", "fontsize": 7, "color": PARAMETRIC}
            axis.text(1.01, share, f"{100 * share:.0f} %", **place)
        for name in OTHERS:
            if name in inside["pattern"]:
                value = inside["median_value"].sel(layer=layer, pattern=name)
                axis.plot(n, value, color="0.75", lw=0.9, zorder=1)
        for name, (label, colour, marker, dashes) in LOOKS.items():
            if name in inside["pattern"]:
                value, low, high = Estimate.of(inside.sel(layer=layer, pattern=name), "median_value")
                axis.fill_between(n, low, high, color=colour, alpha=0.2, lw=0)
                style: Looks = {"color": colour, "ls": dashes, "marker": marker, "ms": 4.5, "mew": 0.3, "mec": "white"}
                axis.plot(n, value, lw=1.3, label=label, **style)
        if "theory_value" in rates:
            expected = np.median(inside["theory_value"].sel(layer=layer).values, 0)
            axis.plot(n, expected, color=BOUND, lw=0.9, ls=":", label="random keys, theory, nothing fitted")
        axis.set(title=f"layer {layer}", yscale="log", ylim=(LOWEST, 1.5))
        axis.set_xscale("log")
        axis.set_xticks(ticks, [f"{tick:.0f}" for tick in ticks])
        axis.set_xticks([], minor=True)
        axis.set_yticks([0.02, 0.1, 1], [plain(each) for each in (0.02, 0.1, 1)])
        if number % COLUMNS == 0:
            axis.set_ylabel("relative error")
        if number >= len(panels) - COLUMNS:
            axis.set_xlabel("keys that a query reads, $n$")
    handles, _ = next(iter(panels.values())).get_legend_handles_labels()
    others = "strided, dilated, pooled, mixed: see the table"
    legend_below(figure, [*handles, Line2D([], [], color="0.75", lw=0.9, label=others)], 2)
    figure.suptitle(f"{subject(rates.attrs)}; medians over heads, {rates.attrs['blocks']} blocks", fontsize=9)
    return figure
