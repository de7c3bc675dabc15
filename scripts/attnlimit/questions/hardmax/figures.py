"""Figures of question hardmax."""

from itertools import cycle

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullFormatter, StrMethodFormatter

from attnlimit.drawing.style import HEURISTIC, PARAMETRIC, WIDTH, layer_colours
from attnlimit.theory.bounds import heuristic_power


def hardmax(data: xr.Dataset) -> Figure:
    """Hardmax attention: the mean's error against n in one dimension, its power of 1/ln n, and more dimensions."""
    sigma, n, dimensions = data.attrs["sigma"], data["n"].values, data["dimension"].values.tolist()
    decades, drawn = data["decades"].values, np.log10(n)
    colours = layer_colours(sorted({1, 2, *dimensions}))
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(WIDTH, 3.3), layout="constrained")

    def points(axis, x, name, colour, marker, label, **select):
        values, errors = (data[f"{name}_{part}"].sel(select).values for part in ("value", "value_se"))
        axis.errorbar(x, values, 1.96 * errors, fmt=marker, color=colour, ms=3.5, lw=1, capsize=1.5, label=label)

    proposed = data["proposition"].values
    left.plot(decades, data["exact_ratio"], color=colours[1], lw=1.2, label="$d$ = 1, exact")
    bars = 1.96 * data["line_value_se"].values / proposed
    left.errorbar(drawn, data["line_value"] / proposed, bars, fmt="s", color=colours[1], ms=3.5, label="$d$ = 1, drawn")
    left.axhline(1, color=PARAMETRIC, lw=1, ls=":")
    left.set(title="one dimension", ylabel=r"$E\,|\mathrm{mean}_n|$, over Proposition 5.1", ylim=(0.95, 1.65))

    between = np.sqrt(decades[1:] * decades[:-1])
    middle.plot(between, data["exact_local_power"], color=colours[1], lw=1.2)
    middle.axhline(0.5, color=PARAMETRIC, lw=1, ls=":")
    slope = float(data["exact_local_slope"].sel(decades_interval=np.searchsorted(between, 12.0)))
    middle.plot(
        between, slope * np.log(10) * between, color=PARAMETRIC, lw=1.2, ls="-.", label="a power of $n$, $d$ = 1"
    )
    middle.set(title="its power of $1/\\ln n$", ylabel="local power", ylim=(0, 1.25))

    short = decades <= drawn[-1]
    right.plot(decades[short], data["exact_value"].values[short], color=colours[1], lw=1.2)
    points(right, drawn, "plane", colours[2], "o", "$d$ = 2, hull drawn")
    curve = data["plane_value"].values[-1] * (drawn / drawn[-1]) ** -heuristic_power(2)
    right.plot(drawn, curve, color=HEURISTIC, lw=1.2, ls="--", label="$(\\ln n)^{-3/4}$, heuristic, $d$ = 2")
    for dimension, marker in zip(dimensions, cycle("^Dv<>"), strict=False):
        label = f"$d$ = {dimension}, all tokens drawn"
        points(right, np.log10(data["n_direct"]), "direct", colours[dimension], marker, label, dimension=dimension)
    right.set(title="more dimensions", ylabel=r"$E\,\|\mathrm{mean}_n\|$", yscale="log")

    for axis in (left, middle, right):
        axis.set(xscale="log", xlabel=r"$\log_{10} n$")
    right.minorticks_off()
    right.set_xticks(*[[power for power in (1, 2, 4, 8, 12) if power <= drawn[-1]]] * 2)
    right.yaxis.set_major_locator(FixedLocator(sigma * np.array([0.05, 0.1, 0.2, 0.5, 1])))
    right.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    right.yaxis.set_minor_formatter(NullFormatter())
    handles = [axis.get_legend_handles_labels() for axis in (left, middle, right)]
    figure.legend(
        *([entry for each in handles for entry in each[part]] for part in (0, 1)),
        loc="outside lower center",
        ncol=3,
        fontsize=8,
    )
    return figure
