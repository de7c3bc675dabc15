"""Rate against horizon: the heads of a real model, with the paper's bound and our heuristic.

Beside them, if the run has the simulations: Gaussian tokens.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D

from attnlimit.base.coordinates import heads_only
from attnlimit.base.job import begin
from attnlimit.base.store import read
from attnlimit.page.panels import draw_predictions, draw_rates, hollow_key, subject
from attnlimit.page.style import BOUND, COLOURS, WIDTH, save, set_theme

ROWS = {
    r"$\beta$ of the mean": ("mean", "error"),
    r"$\beta$ of the covariance": ("cov", "error"),
    r"$\beta$, covariance," + "\nfluctuation only": ("cov", "fluctuation"),
}

p = begin(snakemake)
set_theme()

heads = heads_only(read(snakemake.input.rates)).stack(row=("layer", "head"))
simulated = {}
if "gaussian" in snakemake.input.keys():  # noqa: SIM118
    drawn = read(snakemake.input.gaussian)
    drawn = drawn.isel(setting=(drawn["constant_tilt"] == 0).values)
    dimension, isotropic = drawn["dimension"].values, drawn["isotropic"].values
    simulated = {"$d$ = 1, from counts": read(snakemake.input.counted)}
    simulated |= {f"$d$ = {d}": drawn.isel(setting=(dimension == d) & isotropic) for d in np.unique(dimension)[-2:]}
markers = dict(zip(simulated, "oD^", strict=False))
horizon = np.concatenate([data["horizon"].values for data in (heads, *simulated.values())])
shape, height = ((len(ROWS), 2), 6.8) if simulated else ((1, len(ROWS)), 3.2)
looks = {"figsize": (WIDTH, height), "sharex": True, "sharey": True, "squeeze": False, "layout": "constrained"}
figure, axes = plt.subplots(*shape, **looks)
of_heads, of_tokens = axes.T if simulated else (axes[0], [])  # panels by statistic

for number, (name, (statistic, part)) in enumerate(ROWS.items()):
    chosen = {"statistic": statistic, "part": part}
    for panels in (of_heads, of_tokens)[: 2 if simulated else 1]:
        draw_predictions(panels[number], horizon)
    draw_rates(of_heads[number], heads.sel(chosen), COLOURS[statistic], "o", "one head")
    for label, data in simulated.items():
        draw_rates(of_tokens[number], data.sel(chosen), COLOURS[statistic], markers[label], label)
    of_heads[number].set(ylabel=name)
strongest = heads.isel(row=int(heads["horizon"].argmax("row")))
where = (float(strongest["horizon"]), float(strongest["beta"].sel(statistic="cov", part="error")))
note = f"layer {int(strongest['layer'])}, head {int(strongest['head'])}"
looks = {"ha": "right", "va": "bottom", "fontsize": 7, "color": BOUND}
plate = {"fc": "white", "ec": "none", "alpha": 0.7, "pad": 0.5}  # it may lie on other heads
of_heads[1].annotate(note, where, (5, 4), textcoords="offset points", bbox=plate, **looks)
of_heads[0].set(xscale="log", ylim=(0, None))
title = f"{heads.sizes['row']} heads of {subject(heads.attrs)}"
if simulated:
    of_heads[0].set(title=title.replace(" on ", "\non "))
    of_tokens[0].set(title="Gaussian tokens")
else:
    figure.suptitle(title, fontsize=9)
for axis in axes[-1]:
    axis.set(xlabel="horizon $H$")
handles, labels = of_heads[0].get_legend_handles_labels()
shapes = [
    Line2D([], [], marker=marker, ls="none", color=BOUND, ms=4.5, label=label) for label, marker in markers.items()
]
figure.legend(
    handles=[*handles[:3], hollow_key(heads), *shapes], loc="outside lower center", ncol=2, fontsize=8, columnspacing=3
)
save(figure, dict(snakemake.output), p.quick_look)
