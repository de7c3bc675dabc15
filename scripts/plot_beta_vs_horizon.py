"""Rate against horizon, one point a head, with the paper's lower bound and our heuristic."""

import matplotlib.pyplot as plt
import numpy as np

from attnlimit.geometry import predictions
from attnlimit.journal import open_log
from attnlimit.names import PARTS, STATISTICS, WHOLE_LAYER
from attnlimit.store import read
from attnlimit.style import BOUND, HEURISTIC, PARAMETRIC, WIDTH, layer_colours, save, set_theme

open_log(snakemake.log[0])
set_theme()

rates = read(snakemake.input.rates)
rates = rates.sel(head=rates["head"] != WHOLE_LAYER)
layers = rates["layer"].values
panels = [("mean", "error"), ("cov", "error"), ("cov", "fluctuation")]
titles = ["mean", "covariance", "covariance, fluctuation only"]
horizon = np.geomspace(rates["horizon"].min() / 1.3, rates["horizon"].max() * 1.3, 200)
curves = predictions(horizon, horizon**2)
figure, axes = plt.subplots(1, 3, figsize=(WIDTH, 3.1), sharey=True, layout="constrained")

for (statistic, part), title, axis in zip(panels, titles, axes, strict=True):
    axis.axhline(0.5, color=PARAMETRIC, lw=1, ls=":", label="1/2, parametric")
    axis.plot(
        horizon,
        curves["heuristic"],
        color=HEURISTIC,
        lw=1.2,
        ls="--",
        label="min(1/2, 1/(1+H²)), our heuristic",
    )
    axis.plot(horizon, curves["bound_v3"], color=BOUND, lw=1.2, label="1/(2(1+H²)), lower bound (v3)")
    axis.fill_between(horizon, 0, curves["bound_v3"], color=BOUND, alpha=0.08, lw=0)
    for layer, colour in layer_colours(layers).items():
        data = rates.sel(layer=layer, statistic=STATISTICS.index(statistic), part=PARTS.index(part))
        beta, low, high = (data[name].values for name in ("beta", "beta_low", "beta_high"))
        bars = np.abs(np.stack([beta - low, high - beta]))
        x = data["horizon"].values
        axis.errorbar(x, beta, bars, fmt="none", ecolor=colour, elinewidth=0.7, alpha=0.6)
        hollow = (data["misfit"] | data["saturated"]).values
        faces = [(1, 1, 1, 1) if empty else colour for empty in hollow]
        axis.scatter(x, beta, s=16, c=faces, edgecolors=[colour], linewidths=0.9, zorder=3, label=f"layer {layer}")
    axis.set(xscale="log", title=title, xlabel="horizon $H$")
axes[0].set(ylabel=r"rate $\beta$", ylim=(0, None))
handles, labels = axes[0].get_legend_handles_labels()
figure.legend(handles, labels, loc="outside lower center", ncol=3, fontsize=8)
save(figure, dict(snakemake.output))
