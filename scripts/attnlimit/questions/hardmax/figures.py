"""Figures of question hardmax."""

from itertools import cycle

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullFormatter, StrMethodFormatter

from attnlimit.drawing.panels import legends_below_panels, plain_log
from attnlimit.drawing.style import HEURISTIC, PARAMETRIC, WIDTH, layer_colours
from attnlimit.theory.bounds import heuristic_power


def hardmax(data: xr.Dataset) -> Figure:
    """Hardmax attention: the mean's error against n in one dimension, its power of 1/ln n, and more dimensions."""
    sigma, n, dimensions = data.attrs["sigma"], data["n"].values, data["dimension"].values.tolist()
    decades, drawn = data["decades"].values, np.log10(n)
    colours = layer_colours(sorted({1, 2, *dimensions}))
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(WIDTH, 3.9), layout="constrained")

    def points(axis, x, name, colour, marker, label, **select):
        values, errors = (data[f"{name}_{part}"].sel(select).values for part in ("value", "value_se"))
        axis.errorbar(x, values, 1.96 * errors, fmt=marker, color=colour, ms=3.5, lw=1, capsize=1.5, label=label)

    proposed = data["proposition"].values
    left.plot(decades, data["exact_ratio"], color=colours[1], lw=1.2, label="exact expectation")
    bars = 1.96 * data["line_value_se"].values / proposed
    left.errorbar(drawn, data["line_value"] / proposed, bars, fmt="s", color=colours[1], ms=3.5, label="simulated")
    left.axhline(1, color=PARAMETRIC, lw=1, ls=":", label="1: leading term of Prop. 5.1")
    left.set(title="$d$ = 1: error over\nthe paper's leading term", ylabel="ratio", ylim=(0.95, 1.65))

    between = np.sqrt(decades[1:] * decades[:-1])
    middle.plot(between, data["exact_local_power"], color=colours[1], lw=1.2, label="exact expectation")
    middle.axhline(0.5, color=PARAMETRIC, lw=1, ls=":", label=r"1/2: error $\propto(\ln n)^{-1/2}$")
    slope = float(data["exact_local_slope"].sel(decades_interval=np.searchsorted(between, 12.0)))
    middle.plot(
        between, slope * np.log(10) * between, color=PARAMETRIC, lw=1.2, ls="-.", label="if it were a power of $n$"
    )
    middle.set(
        title="$d$ = 1: local power of $1/\\ln n$,\nfalls like $(\\ln n)^{-1/2}$", ylabel="local power", ylim=(0, 1.25)
    )

    short = decades <= drawn[-1]
    right.plot(decades[short], data["exact_value"].values[short], color=colours[1], lw=1.2, label="$d$ = 1, exact")
    points(right, drawn, "plane", colours[2], "o", "$d$ = 2, by convex hulls")
    curve = data["plane_value"].values[-1] * (drawn / drawn[-1]) ** -heuristic_power(2)
    right.plot(drawn, curve, color=HEURISTIC, lw=1.2, ls="--", label="$(\\ln n)^{-3/4}$, our heuristic, $d$ = 2")
    for dimension, marker in zip(dimensions, cycle("^Dv<>"), strict=False):
        label = f"$d$ = {dimension}, all tokens"
        points(right, np.log10(data["n_direct"]), "direct", colours[dimension], marker, label, dimension=dimension)
    right.set(title="error in more dimensions\n", ylabel=r"$\mathrm{E}\,\|\mathrm{mean}_n\|$", yscale="log")

    for axis in (left, middle, right):
        plain_log(axis, most=3)
        axis.set_xlabel(r"digits of $n$: $\log_{10} n$")
    right.minorticks_off()
    right.set_xticks(*[[power for power in (1, 2, 4, 8, 12) if power <= drawn[-1]]] * 2)
    right.yaxis.set_major_locator(FixedLocator(sigma * np.array([0.05, 0.1, 0.2, 0.5, 1])))
    right.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    right.yaxis.set_minor_formatter(NullFormatter())
    legends_below_panels((left, middle, right))
    return figure
