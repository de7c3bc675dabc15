"""Rate against horizon for tokens on a sphere: chosen horizons at the left, the published scales far to the right."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D

from attnlimit.geometry import predictions
from attnlimit.journal import open_log
from attnlimit.names import PARTS, STATISTICS
from attnlimit.store import read
from attnlimit.style import BOUND, COLOURS, HEURISTIC, NAMES, PARAMETRIC, WIDTH, save, set_theme

open_log(snakemake.log[0])
set_theme()

errors = read(snakemake.input.errors)
rates = read(snakemake.input.rates).sel(part=PARTS.index("error"))
published = np.array(rates.attrs["published"])
sides = [side for side in (~published, published) if side.any()]
figure, axes = plt.subplots(
    1, 2 * len(sides), figsize=(WIDTH, 3.2), sharey=True, layout="constrained", width_ratios=[3, 1.3][: len(sides)] * 2
)

for index, axis in enumerate(axes):
    name, side = list(COLOURS)[index // len(sides)], sides[index % len(sides)]
    data = rates.sel(statistic=STATISTICS.index(name)).isel(setting=side)
    x, beta = data["horizon"].values, data["beta"].values
    horizon = np.geomspace(x.min() / 2, x.max() * 2, 200)
    curves = predictions(horizon, horizon**2)
    axis.axhline(0.5, color=PARAMETRIC, lw=1, ls=":")
    axis.plot(horizon, curves["heuristic"], color=HEURISTIC, lw=1.2, ls="--")
    axis.plot(horizon, curves["bound_v3"], color=BOUND, lw=1.2)
    axis.fill_between(horizon, 0, curves["bound_v3"], color=BOUND, alpha=0.08, lw=0)
    bars = np.abs(np.stack([beta - data["beta_low"].values, data["beta_high"].values - beta]))
    hollow = (data["misfit"] | data["saturated"]).values
    faces = [(1, 1, 1, 1) if empty else COLOURS[name] for empty in hollow]
    axis.errorbar(x, beta, bars, fmt="none", ecolor=COLOURS[name], elinewidth=0.9, capsize=1.5)
    axis.scatter(x, beta, s=22, c=faces, edgecolors=[COLOURS[name]], linewidths=1, zorder=3)
    axis.set(xscale="log", xlabel="horizon $H$")
    if side is published:
        most = float(errors["attended"].isel(setting=side).max())
        axis.axvspan(horizon[0], horizon[-1], color=HEURISTIC, alpha=0.08, lw=0)
        axis.set(title="published", xlabel="$H$")
        note = f"a hardmax:\nat most {most:.1f}\ntokens\nattended"
        axis.text(0.5, 0.98, note, transform=axis.transAxes, ha="center", va="top", fontsize=7)
    else:
        axis.set(title=NAMES[name])
axes[0].set(ylabel=r"rate $\beta$", ylim=(0, 0.68))
filled = {"marker": "o", "ls": "none", "color": "0.3", "ms": 4.5}
figure.legend(
    handles=[
        Line2D([], [], **filled, label="measured, 95 % interval"),
        Line2D([], [], **filled, mfc="white", label="no power law, or saturated"),
        Line2D([], [], color=PARAMETRIC, lw=1, ls=":", label="1/2, parametric"),
        Line2D([], [], color=BOUND, lw=1.2, label="1/(2(1+H²)), lower bound (v3)"),
        Line2D([], [], color=HEURISTIC, lw=1.2, ls="--", label="min(1/2, 1/(1+H²)), our heuristic (n → ∞)"),
    ],
    loc="outside lower center",
    ncol=3,
)
save(figure, dict(snakemake.output))
