"""The rate of each head on every text, one panel a model and statistic; the heads that move most are named."""

import matplotlib.pyplot as plt
import numpy as np

from attnlimit.base.job import begin
from attnlimit.base.store import read
from attnlimit.page.panels import hollow
from attnlimit.page.style import BOUND, NAMES, PARAMETRIC, WIDTH, layer_colours, save, set_theme

NAMED = 4  # heads of a panel that move most
HEIGHT = 2.7  # inches a row
LABEL = 0.045  # height of a name, of the rates' range

p = begin(snakemake)
set_theme()

compared = read(snakemake.input.rates).sel(part="error")
texts = {
    str(model): [str(name) for name in compared["study"].values[compared["model_of_study"].values == model]]
    for model in compared["model"].values
}
widths = [max(len(names), 2) for names in texts.values()]
rates = {statistic: compared["beta"].sel(statistic=statistic).values for statistic in NAMES}
looks = {"sharey": "row", "squeeze": False, "layout": "constrained", "width_ratios": widths}
figure, axes = plt.subplots(len(NAMES), len(texts), figsize=(WIDTH, 0.6 + HEIGHT * len(NAMES)), **looks)

for column, (model, names) in zip(axes.T, texts.items(), strict=True):
    heads = compared.sel(study=names).stack(row=("layer", "head"))
    heads = heads.isel(row=heads["horizon"].notnull().all("study").values)
    colours = layer_colours(np.unique(heads["layer"].values))
    for axis, statistic in zip(column, NAMES, strict=True):
        fits = heads.sel(statistic=statistic)
        beta, empty = (array.transpose("row", "study").values for array in (fits["beta"], hollow(fits)))
        places = np.arange(len(names))
        axis.axhline(0.5, color=PARAMETRIC, lw=1, ls=":", zorder=0)
        moved = np.ptp(beta, axis=1)
        most = set(np.argsort(moved, kind="stable")[::-1][:NAMED] if len(names) > 1 else [])
        for row, layer in enumerate(fits["layer"].values):
            colour, chosen = colours[int(layer)], row in most
            axis.plot(places, beta[row], color=colour, lw=1.6 if chosen else 0.6, alpha=1 if chosen else 0.45, zorder=2)
            faces = [(1, 1, 1, 1) if mark else colour for mark in empty[row]]
            edge = {"edgecolors": [colour], "linewidths": 0.6, "zorder": 3}
            axis.scatter(places, beta[row], s=14 if chosen else 6, c=faces, **edge)
        height, gap = -np.inf, LABEL * float(np.nanmax(rates[statistic]) - np.nanmin(rates[statistic]))
        for row in sorted(most, key=lambda row: beta[row, -1]):
            words = f"{int(fits['layer'][row])}.{int(fits['head'][row])}"
            height = max(height + gap, beta[row, -1])  # two heads that end together are named one above the other
            axis.annotate(words, (places[-1], height), (6, 0), textcoords="offset points", fontsize=7, va="center")
        axis.set(xticks=places, xlim=(-0.25, len(names) - 0.55))
        axis.set_xticklabels(names if statistic == list(NAMES)[-1] else [], rotation=20)
    column[0].set_title(model)
for axis, words in zip(axes[:, 0], NAMES.values(), strict=True):
    axis.set_ylabel(rf"$\beta$ of the {words}")
bar = figure.colorbar(plt.cm.ScalarMappable(cmap="viridis"), ax=axes, shrink=0.4, aspect=25, label="layer of the model")
bar.set_ticks([0, 1], labels=["first", "last"])
figure.suptitle(f"the {NAMED} heads of a panel that move most are named: layer.head", fontsize=8, color=BOUND)
save(figure, dict(snakemake.output), p.quick_look)
