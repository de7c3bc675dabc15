"""What the horizon does not see: error of each head with its constant tilt changed, H kept, on the same samples."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullLocator

from attnlimit.base.coordinates import heads_only
from attnlimit.base.job import begin
from attnlimit.base.store import read
from attnlimit.page.panels import subject
from attnlimit.page.style import NAMES, PARAMETRIC, WIDTH, layer_colours, save, set_theme
from attnlimit.questions.interventions.fit import counted
from attnlimit.stats.estimate import Estimate

p = begin(snakemake)
set_theme()

fits = read(snakemake.input.rates)
variants = fits["variant"].values[fits["tilt_factor"].values != 1]
colours = layer_colours(fits["layer"].values)
size = {"figsize": (WIDTH, 1.0 + 2.4 * len(NAMES)), "sharex": True, "sharey": "row", "squeeze": False}
figure, axes = plt.subplots(len(NAMES), len(variants), layout="constrained", **size)

tilt = heads_only(fits["constant_tilt"]).isel(variant=0)  # (layer, head): of the heads as they are
for row, (statistic, name) in zip(axes, NAMES.items(), strict=True):
    for axis, variant in zip(row, variants, strict=True):
        one = fits.sel(statistic=statistic, variant=variant)
        axis.axhline(1, color=PARAMETRIC, lw=1, ls=":")
        for layer, colour in colours.items():
            value, low, high = Estimate.of(heads_only(one.sel(layer=layer)), "error_change").map(np.exp)
            x = tilt.sel(layer=layer).values
            axis.vlines(x, low, high, color=[colour], lw=0.8, alpha=0.6)
            axis.scatter(x, value, s=16, color=[colour], linewidths=0, zorder=3)
        counts = counted(one, "error_change", p.level)
        axis.set(yscale="log", title=f"{name}, {variant.replace('x', '×')}: {counts.words}")
        axis.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.yaxis.set_major_formatter("{x:g}")
        axis.yaxis.set_minor_locator(NullLocator())
    row[0].set_ylabel(f"error after over before,\n{name}, n = {int(fits['n'][-1]):,}")
for axis in axes[-1]:
    axis.set_xlabel("constant tilt $s_0$ of the head as it is")
dots = {"marker": "o", "ls": "none", "ms": 4.5}
handles = [Line2D([], [], color=colour, label=f"layer {layer}", **dots) for layer, colour in colours.items()]
handles.append(Line2D([], [], color=PARAMETRIC, lw=1, ls=":", label="no change"))
figure.legend(handles=handles, loc="outside lower center", ncol=4, fontsize=8)
figure.suptitle(subject(fits.attrs), fontsize=9)
save(figure, dict(snakemake.output), p.quick_look)
