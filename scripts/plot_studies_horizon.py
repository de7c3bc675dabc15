"""Rate against horizon, a panel a study, and all studies in one with the paper's bound."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D

from attnlimit.base.job import begin
from attnlimit.base.store import read
from attnlimit.page.panels import draw_predictions, hollow, hollow_key
from attnlimit.page.style import BOUND, COLOURS, NAMES, WIDTH, save, set_theme

COLUMNS = 4
MARKERS = "oD^sv"  # of models
HEIGHT = 1.75  # inches a row

p = begin(snakemake)
set_theme()

compared = read(snakemake.input.rates)
studies, models = ([str(name) for name in compared[of].values] for of in ("study", "model"))
markers = {model: MARKERS[number % len(MARKERS)] for number, model in enumerate(models)}
horizon = compared["horizon"].values
horizon = horizon[np.isfinite(horizon)]
columns = min(COLUMNS, len(studies) + 1)
rows = -(-(len(studies) + 1) // columns)
looks = {"sharex": True, "sharey": True, "squeeze": False, "layout": "constrained"}
figure, axes = plt.subplots(rows, columns, figsize=(WIDTH, 0.9 + HEIGHT * rows), **looks)


def draw(axis, name, size, faint):
    """The heads of one study, the covariance below the mean."""
    study = compared.sel(study=name).stack(row=("layer", "head"))
    study = study.isel(row=study["horizon"].notnull().values)
    marker = markers[str(study["model_of_study"].item())]
    for statistic in ("cov", "mean"):
        fits, colour = study.sel(statistic=statistic), COLOURS[statistic]
        faces = [(1, 1, 1, faint) if empty else (*colour, faint) for empty in hollow(fits).values]
        edges = [(*colour, faint)]
        looks = {"s": size, "c": faces, "edgecolors": edges, "linewidths": 0.6, "marker": marker, "zorder": 3}
        axis.scatter(fits["horizon"], fits["beta"], **looks)


for name, axis in zip(studies, axes.flat, strict=False):
    draw_predictions(axis, horizon)
    draw(axis, name, 7, 0.8)
    axis.set_title(f"{name}\n{compared['model_of_study'].sel(study=name).item()}", fontsize=8)
pooled = axes.flat[len(studies)]
draw_predictions(pooled, horizon)
for name in studies:
    draw(pooled, name, 4, 0.35)
pooled.set_title("all studies", fontsize=8, weight="bold")
for axis in axes.flat[len(studies) + 1 :]:
    axis.set_visible(False)
for axis in axes.flat[len(studies) + 1 - columns : len(studies) + 1]:
    axis.tick_params(labelbottom=True)  # also where the panel below is empty
    axis.set_xlabel("horizon $H$")
pooled.set(xscale="log", ylim=(0, min(float(compared["beta"].max()) * 1.05, 1.2)))
for axis in axes[:, 0]:
    axis.set_ylabel(r"rate $\beta$")
handles, _ = pooled.get_legend_handles_labels()
kinds = [
    Line2D([], [], marker="o", ls="none", color=COLOURS[name], ms=4, label=f"of the {words}")
    for name, words in NAMES.items()
]
shapes = [Line2D([], [], marker=marker, ls="none", color=BOUND, ms=4, label=model) for model, marker in markers.items()]
keys = [*handles[:3], *kinds, hollow_key(compared), *(shapes if len(models) > 1 else [])]
figure.legend(handles=keys, loc="outside lower center", ncol=3, fontsize=7.5, columnspacing=2)
save(figure, dict(snakemake.output), p.quick_look)
