"""Rate against horizon, one point a head, with the paper's lower bound and our heuristic."""

import matplotlib.pyplot as plt

from attnlimit.journal import open_log
from attnlimit.names import PARTS, STATISTICS, WHOLE_LAYER
from attnlimit.panels import draw_predictions, draw_rates
from attnlimit.store import read
from attnlimit.style import WIDTH, layer_colours, save, set_theme

PANELS = {
    "mean": ("mean", "error"),
    "covariance": ("cov", "error"),
    "covariance, fluctuation only": ("cov", "fluctuation"),
}

open_log(snakemake.log[0])
set_theme()

rates = read(snakemake.input.rates)
rates = rates.sel(head=rates["head"] != WHOLE_LAYER)
figure, axes = plt.subplots(1, len(PANELS), figsize=(WIDTH, 3.1), sharey=True, layout="constrained")

for axis, (title, (statistic, part)) in zip(axes, PANELS.items(), strict=True):
    draw_predictions(axis, rates["horizon"].values)
    for layer, colour in layer_colours(rates["layer"].values).items():
        fits = rates.sel(layer=layer, statistic=STATISTICS.index(statistic), part=PARTS.index(part))
        draw_rates(axis, fits, colour, "o", f"layer {layer}")
    axis.set(xscale="log", title=title, xlabel="horizon $H$")
axes[0].set(ylabel=r"rate $\beta$", ylim=(0, None))
handles, labels = axes[0].get_legend_handles_labels()
figure.legend(handles, labels, loc="outside lower center", ncol=3, fontsize=8)
save(figure, dict(snakemake.output))
