"""Figures of question studies."""

from textwrap import fill

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from attnlimit.drawing.panels import dot, draw_predictions, hollow, hollow_key, horizon_axis
from attnlimit.drawing.style import BOUND, COLOURS, NAMES, PALETTE, PARAMETRIC, WIDTH, Looks, layer_colours
from attnlimit.stats.estimate import Estimate

COLUMNS = 4
CHARACTERS = 20  # of a line above a panel
MARKERS = "oD^svP*"  # of models
NAMED = 4  # heads of a panel that move most
LABEL = 0.045  # height of a name, of the range of ln error
LEAST, TOP = 0.8, 1.7  # of the axis: below 1 and above all heads only intervals reach
SPREAD = 0.3  # half the width that the studies of a layer take


def studies_horizon(compared: xr.Dataset) -> Figure:
    """Rate against horizon, a panel a study, and all studies in one with the paper's bound."""
    studies, models = ([str(name) for name in compared[of].values] for of in ("study", "model"))
    markers = {model: MARKERS[number % len(MARKERS)] for number, model in enumerate(models)}
    horizon = compared["horizon"].values
    horizon = horizon[np.isfinite(horizon)]
    columns = min(COLUMNS, len(studies) + 1)
    rows = -(-(len(studies) + 1) // columns)
    looks: Looks = {"sharex": True, "sharey": True, "squeeze": False, "layout": "constrained"}
    figure, axes = plt.subplots(rows, columns, figsize=(WIDTH, 0.9 + 1.75 * rows), **looks)

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
        model = fill(str(compared["model_of_study"].sel(study=name).item()), CHARACTERS)
        axis.set_title(f"{name}\n{model}", fontsize=7)
    pooled = axes.flat[len(studies)]
    draw_predictions(pooled, horizon)
    for name in studies:
        draw(pooled, name, 4, 0.35)
    pooled.set_title("all studies", fontsize=8, weight="bold")
    for axis in axes.flat[len(studies) + 1 :]:
        axis.set_visible(False)
    for axis in axes.flat[len(studies) + 1 - columns : len(studies) + 1]:
        axis.tick_params(labelbottom=True)  # also where the panel below is empty
        horizon_axis(axis)
    pooled.set(ylim=(0, min(float(compared["beta"].max()) * 1.05, 1.2)))
    for axis in axes[:, 0]:
        axis.set_ylabel(r"rate $\beta$")
    handles, _ = pooled.get_legend_handles_labels()
    kinds = [dot(COLOURS[name], f"of the {words}", size=4) for name, words in NAMES.items()]
    shapes = [dot(BOUND, model, marker, 4) for model, marker in markers.items()]
    keys = [*handles[:3], *kinds, hollow_key(compared), *(shapes if len(models) > 1 else [])]
    figure.legend(handles=keys, loc="outside lower center", ncol=3, fontsize=7.5, columnspacing=2)
    return figure


def studies_heads(compared: xr.Dataset) -> Figure:
    """The error of each head at the largest n on every text, one panel a model and statistic; those that move most.

    Models with several texts, if there are any.
    """
    texts = {
        str(model): [str(name) for name in compared["study"].values[compared["model_of_study"].values == model]]
        for model in compared["model"].values
    }
    texts = {model: names for model, names in texts.items() if len(names) > 1} or texts
    widths = [max(len(names), 2) for names in texts.values()]
    errors = {statistic: np.log(compared["relative_error"].sel(statistic=statistic).values) for statistic in NAMES}
    looks: Looks = {"sharey": "row", "squeeze": False, "layout": "constrained", "width_ratios": widths}
    figure, axes = plt.subplots(len(NAMES), len(texts), figsize=(WIDTH, 0.6 + 2.7 * len(NAMES)), **looks)

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
                height = max(
                    height + gap, np.log(error[row, -1])
                )  # two that end together are named one above the other
                place = {"textcoords": "offset points", "fontsize": 7, "va": "center"}
                axis.annotate(words, (places[-1], np.exp(height)), (6, 0), **place)
            axis.set_yscale("log", subs=())
            axis.yaxis.set_major_locator(LogLocator(subs=(1, 2, 3, 5, 7)))
            axis.yaxis.set_major_formatter(lambda value, _: f"{100 * value:g} %")
            axis.set(xticks=places, xlim=(-0.25, len(names) - 0.55))
            axis.set_xticklabels(names if statistic == list(NAMES)[-1] else [], rotation=30, ha="right")
        column[0].set_title(model)
    for axis, words in zip(axes[:, 0], NAMES.values(), strict=True):
        axis.set_ylabel(f"relative error of the {words}\nat the largest $n$")
    bar = figure.colorbar(
        plt.cm.ScalarMappable(cmap="viridis"), ax=axes, shrink=0.4, aspect=25, label="layer of the model"
    )
    bar.set_ticks([0, 1], labels=["first", "last"])
    figure.suptitle(f"the {NAMED} heads of a panel that move most are named: layer.head", fontsize=8, color=BOUND)
    return figure


def studies_shared_noise(compared: xr.Dataset) -> Figure:
    """How many independent heads a layer is worth, by layer and study, with intervals."""
    studies = [str(name) for name in compared["study"].values]
    models = [str(name) for name in compared["model"].values]
    figure, axes = plt.subplots(1, len(NAMES), figsize=(WIDTH, 3.4), sharey=True, layout="constrained")

    for axis, (statistic, words) in zip(axes, NAMES.items(), strict=True):
        for number, name in enumerate(studies):
            fit = compared.sel(study=name, statistic=statistic)
            fit = fit.isel(layer=fit["layer_heads"].notnull().values)
            aside = SPREAD * (2 * number / max(len(studies) - 1, 1) - 1)
            x, colour = fit["layer"].values + aside, PALETTE[number % len(PALETTE)]
            value, low, high = Estimate.of(fit, "layer_heads")
            axis.vlines(x, low, high, color=[colour], lw=0.9, alpha=0.8)
            marker = MARKERS[models.index(str(fit["model_of_study"].item())) % len(MARKERS)]
            label = f"{name} ({fit['model_of_study'].item()})" if len(models) > 1 else name
            axis.plot(x, value, marker, color=colour, ms=4, label=label)
        heads = sorted({int(each) for each in compared["heads"].values})
        for each in heads:
            axis.axhline(each, color=PARAMETRIC, lw=1.2, ls="--", zorder=0)
            place = {
                "xycoords": ("axes fraction", "data"),
                "textcoords": "offset points",
                "va": "bottom",
                "ha": "right",
            }
            axis.annotate(f"{each} independent heads", (0.99, each), (0, 2), fontsize=7, color="0.35", **place)
        axis.axhline(1, color=PARAMETRIC, lw=1, ls=":", zorder=0)
        axis.set(yscale="log", xlabel="layer", title=f"errors of the {words}", xticks=compared["layer"].values)
        ticks = [each for each in (1, 2, 3, 4, 6, 8, 12, 16, 24) if each <= max(heads)]
        axis.set_yticks(ticks, [str(each) for each in ticks])
        axis.minorticks_off()
    axes[0].set_ylim(LEAST, TOP * max(heads))
    axes[0].set_ylabel("independent heads\nthat a layer is worth, $h_{\\mathrm{eff}}$")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncol=4 if len(models) == 1 else 2, fontsize=7.5)
    return figure
