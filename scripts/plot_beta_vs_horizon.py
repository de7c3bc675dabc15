"""Rate against horizon: the heads of a real model beside Gaussian tokens, with the paper's bound and our heuristic."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D

from attnlimit.log import open_log
from attnlimit.report.panels import draw_predictions, draw_rates, hollow_key
from attnlimit.report.style import BOUND, COLOURS, WIDTH, save, set_theme
from attnlimit.store import read

ROWS = {
    r"$\beta$ of the mean": ("mean", "error"),
    r"$\beta$ of the covariance": ("cov", "error"),
    r"$\beta$, covariance," + "\nfluctuation only": ("cov", "fluctuation"),
}

open_log(snakemake.log[0])
set_theme()

heads = read(snakemake.input.rates)
heads = heads.stack(row=("layer", "head"))
drawn = read(snakemake.input.gaussian)
dimension, isotropic = drawn["dimension"].values, drawn["isotropic"].values
simulated = {"$d$ = 1, from counts": read(snakemake.input.counted)}
simulated |= {f"$d$ = {d}": drawn.isel(setting=(dimension == d) & isotropic) for d in np.unique(dimension)[-2:]}
markers = dict(zip(simulated, "oD^", strict=False))
horizon = np.concatenate([data["horizon"].values for data in (heads, *simulated.values())])
figure, axes = plt.subplots(len(ROWS), 2, figsize=(WIDTH, 6.8), sharex=True, sharey=True, layout="constrained")

for (left, right), (name, (statistic, part)) in zip(axes, ROWS.items(), strict=True):
    chosen = {"statistic": statistic, "part": part}
    for axis in (left, right):
        draw_predictions(axis, horizon)
    draw_rates(left, heads.sel(chosen), COLOURS[statistic], "o", "one head")
    for label, data in simulated.items():
        draw_rates(right, data.sel(chosen), COLOURS[statistic], markers[label], label)
    left.set(ylabel=name)
strongest = heads.isel(row=int(heads["horizon"].argmax("row")))
where = (float(strongest["horizon"]), float(strongest["beta"].sel(statistic="cov", part="error")))
note = f"layer {int(strongest['layer'])}, head {int(strongest['head'])}"
axes[1, 0].annotate(note, where, (5, 4), textcoords="offset points", ha="right", va="bottom", fontsize=7, color=BOUND)
model, population = heads.attrs["model"]["name"].split("/")[-1], heads.attrs["population"]
axes[0, 0].set(xscale="log", ylim=(0, None), title=f"{heads.sizes['row']} heads of {model}, {population:,} tokens")
axes[0, 1].set(title="Gaussian tokens")
for axis in axes[-1]:
    axis.set(xlabel="horizon $H$")
handles, labels = axes[0, 0].get_legend_handles_labels()
shapes = [
    Line2D([], [], marker=marker, ls="none", color=BOUND, ms=4.5, label=label) for label, marker in markers.items()
]
figure.legend(
    handles=[*handles[:3], hollow_key(), *shapes], loc="outside lower center", ncol=2, fontsize=8, columnspacing=3
)
save(figure, dict(snakemake.output))
