"""Beta between neighbouring sizes, one panel a layer: heads thin, the whole layer with its intervals."""

import numpy as np

from attnlimit.base.coordinates import heads_only, whole_layer
from attnlimit.base.job import begin
from attnlimit.base.store import read
from attnlimit.page.panels import COLUMNS, draw_sizes, layer_panels, subject
from attnlimit.page.style import COLOURS, NAMES, PARAMETRIC, save, set_theme

LOWEST, HIGHEST = -0.25, 1.25  # shown at most: few replicates give wilder steps, and rates would be hard to read

p = begin(snakemake)
set_theme()

rates = read(snakemake.input.rates).sel(part="error")
n = rates["n"].values
between = np.sqrt(n[:-1] * n[1:])
figure, panels = layer_panels(rates["layer"].values, 2.1)

for layer, axis in panels.items():
    axis.axhline(0.5, color=PARAMETRIC, lw=1, ls=":", label="1/2, parametric")
    for (statistic, colour), aside in zip(COLOURS.items(), (0.97, 1.03), strict=True):
        data = rates.sel(layer=layer, statistic=statistic)
        axis.plot(between, heads_only(data["local_slope"]).values.T, color=colour, alpha=0.3, lw=0.6)
        whole = whole_layer(data)
        x = between * aside  # so that the intervals do not hide each other
        axis.vlines(x, whole["local_slope_low"], whole["local_slope_high"], color=colour, lw=1.2)
        axis.plot(x, whole["local_slope"], "o", ms=3.5, color=colour, label=f"{NAMES[statistic]}, whole layer")
    axis.set(title=f"layer {layer}")
    draw_sizes(axis, n)
bottom, top = axis.get_ylim()
axis.set_ylim(max(bottom, LOWEST), min(top, HIGHEST))
for last in list(panels.values())[-COLUMNS:]:
    last.set_xlabel("tokens $n$")  # a label of the figure would lie on the legend
figure.supylabel(r"$\beta$ between neighbouring $n$", fontsize=9)
figure.legend(*axis.get_legend_handles_labels(), loc="outside lower center", ncol=3)
figure.suptitle(subject(rates.attrs), fontsize=9)
save(figure, dict(snakemake.output), p.quick_look)
