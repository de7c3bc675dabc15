"""Rates and horizons of a model's heads, layer by head; circles mark rates that are no exponent."""

import matplotlib.pyplot as plt
import numpy as np
import seaborn as sns
from matplotlib.colors import LogNorm

from attnlimit.base.coordinates import WHOLE_LAYER
from attnlimit.base.job import begin
from attnlimit.base.store import read
from attnlimit.page.panels import hollow_words, subject
from attnlimit.page.style import COUPLING, DIVERGING, NAMES, WIDTH, save, set_theme

p = begin(snakemake)
set_theme()

rates = read(snakemake.input.rates).sel(part="error")
layers = rates["layer"].values
columns = ["all" if head == WHOLE_LAYER else str(head) for head in rates["head"].values]
ROW = 0.22  # inches
height = 0.55 + ROW * len(layers)  # of one map
figure, axes = plt.subplots(len(NAMES) + 1, 1, figsize=(WIDTH, 3 * height), layout="constrained")


def short(number: float) -> str:
    """About two digits, without the nought before the point: thirteen must stand side by side."""
    return f"{number:.2f}".lstrip("0") if number < 1 else f"{number:.{1 if number < 10 else 0}f}"


def heat_map(axis, data, title, ticks, **colours):
    numbers = np.array([[short(number) for number in row] for row in data])
    looks = {"annot": numbers, "fmt": "", "annot_kws": {"fontsize": 8}, "linewidths": 0.6}
    bar = {"pad": 0.01, "aspect": ROW * len(layers) / 0.12}  # as wide with few layers as with many
    sns.heatmap(data, ax=axis, xticklabels=columns, yticklabels=layers, cbar_kws=bar, **looks, **colours)
    scale = axis.collections[0].colorbar
    shown = ticks if len(layers) > 1 else ticks[::2]  # three do not stand over each other beside one layer
    scale.set_ticks(shown, labels=[short(tick) if tick else "0" for tick in shown])
    scale.minorticks_off()
    axis.set(ylabel="layer")
    axis.set_title(title, loc="left")
    axis.tick_params(length=0)
    axis.tick_params(axis="y", rotation=0)


for axis, (statistic, name) in zip(axes, NAMES.items(), strict=False):
    fits = rates.sel(statistic=statistic)
    heat_map(
        axis,
        fits["beta"].values,
        rf"$\beta$ of the {name}; ○: {hollow_words(fits)}",
        [0, 0.5, 1],
        cmap=DIVERGING,
        vmin=0,
        center=0.5,
        vmax=1,
    )
    row, column = np.nonzero((fits["misfit"] | fits["saturated"] | fits["limit_uncertain"]).values)
    axis.scatter(column + 0.88, row + 0.22, s=11, facecolors="white", edgecolors="black", linewidths=0.7)
low, high = float(rates["horizon"].min()), float(rates["horizon"].max())
heat_map(
    axes[-1], rates["horizon"].values, "horizon $H$", [low, (low * high) ** 0.5, high], cmap=COUPLING, norm=LogNorm()
)
axes[-1].set(xlabel="head")
figure.suptitle(subject(rates.attrs), fontsize=9)
save(figure, dict(snakemake.output), p.quick_look)
