"""Hardmax attention: the mean's error against n in one dimension, and its decay in powers of ln n in more."""

from itertools import cycle

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import FixedLocator, NullFormatter, StrMethodFormatter

from attnlimit.base.job import begin
from attnlimit.base.store import read
from attnlimit.page.style import BOUND, HEURISTIC, WIDTH, layer_colours, save, set_theme
from attnlimit.theory.bounds import heuristic_power
from attnlimit.theory.hardmax import hardmax_expected_error, hardmax_proposition

p = begin(snakemake)
set_theme()

data = read(snakemake.input.hardmax)
sigma, n, dimensions = data.attrs["sigma"], data["n"].values, data["dimension"].values.tolist()
colours = layer_colours(sorted({1, 2, *dimensions}))
smooth = np.unique(np.geomspace(n[0], n[-1], 80).round())
exact = [hardmax_expected_error(size, sigma) for size in smooth]
figure, (left, right) = plt.subplots(1, 2, figsize=(WIDTH, 3.6), layout="constrained")


def points(axis, x, name, colour, marker, label, **select):
    values, errors = (data[f"{name}_{part}"].sel(select).values for part in ("value", "value_se"))
    axis.errorbar(x, values, 1.96 * errors, fmt=marker, color=colour, ms=4, lw=1, capsize=1.5, label=label)


proposed = [hardmax_proposition(size, sigma) for size in smooth]
left.plot(smooth, proposed, color=BOUND, lw=1.2, ls="--", label="Proposition 5.1, leading term")
left.plot(smooth, exact, color=colours[1], lw=1.2, label="exact (numbers: over Prop. 5.1)")
points(left, n, "line", colours[1], "s", "simulated, 95 % interval")
for size, value, ratio in zip(n[1:5], data["expected"].values[1:5], data["ratio"].values[1:5], strict=True):
    left.annotate(f"{ratio:.3f}", (size, value), (4, 5), textcoords="offset points", fontsize=8)
left.set(xscale="log", xlabel="tokens $n$", ylabel=r"$E\,|\mathrm{mean}_n|$", title="one dimension")

right.plot(np.log(smooth), exact, color=colours[1], lw=1.2, label="$d=1$, exact")
points(right, np.log(n), "plane", colours[2], "s", "$d=2$, hull drawn")
last = data["plane_value"].values[-1]
curve = last * (np.log(smooth) / np.log(n[-1])) ** -heuristic_power(2)
right.plot(np.log(smooth), curve, color=HEURISTIC, lw=1.2, ls="--", label="$(\\ln n)^{-3/4}$, $d=2$, heuristic")
for dimension, marker in zip(dimensions, cycle("^Dv<>"), strict=False):
    label = f"$d={dimension}$, all tokens drawn"
    points(right, np.log(data["n_direct"]), "direct", colours[dimension], marker, label, dimension=dimension)
decades = [power for power in (1, 2, 3, 4, 6, 9, 12) if n[0] <= 10**power <= n[-1]]
right.set(xscale="log", xlabel=r"tokens $n$, even in $\ln\,\ln n$", ylabel=r"$E\,\|\mathrm{mean}_n\|$")
right.set(title="more dimensions; straight is a power of ln $n$")
right.minorticks_off()
right.set_xticks(np.log(10) * np.array(decades), [f"$10^{{{power}}}$" for power in decades])

for axis in (left, right):
    axis.set_yscale("log")
    axis.yaxis.set_major_locator(FixedLocator(sigma * np.array([0.05, 0.1, 0.2, 0.3, 0.5, 1])))
    axis.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axis.yaxis.set_minor_formatter(NullFormatter())
    axis.legend(loc="upper center", bbox_to_anchor=(0.45, -0.17), ncol=1 if axis is left else 2, columnspacing=1)
save(figure, dict(snakemake.output), p.quick_look)
