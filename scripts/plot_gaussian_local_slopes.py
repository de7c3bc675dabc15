"""Slopes between neighbouring sizes for isotropic Gaussian tokens: where a rate is one, and where it still moves."""

import matplotlib.pyplot as plt
import numpy as np
import seaborn as sns

from attnlimit.base.job import begin
from attnlimit.base.store import read
from attnlimit.page.panels import draw_sizes
from attnlimit.page.style import NAMES, PARAMETRIC, WIDTH, save, set_theme

p = begin(snakemake)
set_theme()

rates, counted = (read(path).sel(part="error") for path in (snakemake.input.rates, snakemake.input.counted))
rates = rates.isel(setting=(rates["constant_tilt"] == 0).values)
dimension, isotropic = rates["dimension"].values, rates["isotropic"].values
largest = np.unique(dimension)[-2:]  # below, the replicates are too few for slopes between neighbours
columns = {"d = 1, from counts": counted}
columns |= {f"d = {d}": rates.isel(setting=(dimension == d) & isotropic) for d in largest}
horizons = np.unique(np.concatenate([column["horizon"].values.round(9) for column in columns.values()]))
colours = dict(zip(horizons, sns.color_palette("viridis_r", len(horizons)), strict=True))
figure, axes = plt.subplots(
    2, len(columns), figsize=(WIDTH, 4.6), sharex="col", sharey=True, squeeze=False, layout="constrained"
)

for row, (statistic, name) in zip(axes, NAMES.items(), strict=True):
    for axis, (title, column) in zip(row, columns.items(), strict=True):
        n = column["n"].values.astype(float)  # the product of two sizes may exceed an integer
        axis.axhline(0.5, color=PARAMETRIC, lw=1, ls=":", label="1/2, parametric")
        for number in column["setting"].values:
            fit = column.sel(setting=number, statistic=statistic)
            colour = colours[float(fit["horizon"].round(9))]
            between = np.sqrt(n[:-1] * n[1:])
            axis.vlines(between, fit["local_slope_low"], fit["local_slope_high"], color=colour, lw=0.8, alpha=0.5)
            axis.plot(between, fit["local_slope"], "o-", ms=2.5, lw=1, color=colour)
        axis.set(title=f"{name}, {title}")
        draw_sizes(axis, n)
    row[0].set(ylabel=r"$\beta$ between neighbours")
for axis in axes[1]:
    axis.set(xlabel="tokens $n$")
for horizon, colour in colours.items():
    axes[0, 0].plot([], [], "o-", ms=2.5, lw=1, color=colour, label=f"H = {horizon:g}")
handles, labels = axes[0, 0].get_legend_handles_labels()
figure.legend(handles, labels, loc="outside lower center", ncol=6, fontsize=8)
save(figure, dict(snakemake.output), p.quick_look)
