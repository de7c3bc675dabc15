"""The error of each head at the largest n on every text, one panel a model and statistic; those that move most."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import LogLocator

from attnlimit.base.job import begin
from attnlimit.base.store import read
from attnlimit.page.style import BOUND, NAMES, WIDTH, layer_colours, save, set_theme

NAMED = 4  # heads of a panel that move most
HEIGHT = 2.7  # inches a row
LABEL = 0.045  # height of a name, of the range of ln error

p = begin(snakemake)
set_theme()

compared = read(snakemake.input.rates)
texts = {
    str(model): [str(name) for name in compared["study"].values[compared["model_of_study"].values == model]]
    for model in compared["model"].values
}
widths = [max(len(names), 2) for names in texts.values()]
errors = {statistic: np.log(compared["relative_error"].sel(statistic=statistic).values) for statistic in NAMES}
looks = {"sharey": "row", "squeeze": False, "layout": "constrained", "width_ratios": widths}
figure, axes = plt.subplots(len(NAMES), len(texts), figsize=(WIDTH, 0.6 + HEIGHT * len(NAMES)), **looks)

for column, (model, names) in zip(axes.T, texts.items(), strict=True):
    heads = compared.sel(study=names).stack(row=("layer", "head"))
    heads = heads.isel(row=heads["horizon"].notnull().all("study").values)
    colours = layer_colours(np.unique(heads["layer"].values))
    for axis, statistic in zip(column, NAMES, strict=True):
        error = heads["relative_error"].sel(statistic=statistic).transpose("row", "study").values
        places = np.arange(len(names))
        moved = np.ptp(np.log(error), axis=1)
        most = set(np.argsort(moved, kind="stable")[::-1][:NAMED] if len(names) > 1 else [])
        for row, layer in enumerate(heads["layer"].values):
            looks = {"lw": 1.6, "ms": 4, "zorder": 3} if row in most else {"lw": 0.6, "ms": 2, "alpha": 0.45}
            axis.plot(places, error[row], "o-", color=colours[int(layer)], **looks)
        height, gap = -np.inf, LABEL * float(np.nanmax(errors[statistic]) - np.nanmin(errors[statistic]))
        for row in sorted(most, key=lambda row: error[row, -1]):
            words = f"{int(heads['layer'][row])}.{int(heads['head'][row])}"
            height = max(height + gap, np.log(error[row, -1]))  # two that end together are named one above the other
            place = {"textcoords": "offset points", "fontsize": 7, "va": "center"}
            axis.annotate(words, (places[-1], np.exp(height)), (6, 0), **place)
        axis.set_yscale("log", subs=())
        axis.yaxis.set_major_locator(LogLocator(subs=(1, 2, 3, 5, 7)))
        axis.yaxis.set_major_formatter(lambda value, _: f"{100 * value:g} %")
        axis.set(xticks=places, xlim=(-0.25, len(names) - 0.55))
        axis.set_xticklabels(names if statistic == list(NAMES)[-1] else [], rotation=20)
    column[0].set_title(model)
for axis, words in zip(axes[:, 0], NAMES.values(), strict=True):
    axis.set_ylabel(f"relative error of the {words}\nat the largest $n$")
bar = figure.colorbar(plt.cm.ScalarMappable(cmap="viridis"), ax=axes, shrink=0.4, aspect=25, label="layer of the model")
bar.set_ticks([0, 1], labels=["first", "last"])
figure.suptitle(f"the {NAMED} heads of a panel that move most are named: layer.head", fontsize=8, color=BOUND)
save(figure, dict(snakemake.output), p.quick_look)
