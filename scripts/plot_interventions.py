"""What a larger horizon does to each head: its rate before and after, the constant tilt kept, on the same samples."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D

from attnlimit.base.coordinates import heads_only
from attnlimit.base.job import begin
from attnlimit.base.store import read
from attnlimit.page.panels import draw_predictions, hollow_key, subject
from attnlimit.page.style import NAMES, WIDTH, layer_colours, save, set_theme
from attnlimit.questions.interventions.fit import counted

p = begin(snakemake)
set_theme()

fits = read(snakemake.input.rates)
variants = fits["variant"].values[fits["alpha"].values > 1]
colours = layer_colours(fits["layer"].values)
size = {"figsize": (WIDTH, 1.2 + 2.6 * len(NAMES)), "sharex": True, "sharey": "row", "squeeze": False}
figure, axes = plt.subplots(len(NAMES), len(variants), layout="constrained", **size)

for row, (statistic, name) in zip(axes, NAMES.items(), strict=True):
    for axis, variant in zip(row, variants, strict=True):
        both = fits.sel(statistic=statistic, part="error")
        before, after = both.isel(variant=0), both.sel(variant=variant)
        draw_predictions(axis, heads_only(both["horizon"]).values)
        for layer, colour in colours.items():
            old, new = (heads_only(each.sel(layer=layer)) for each in (before, after))
            known = new["slope_known"].values
            x, y = (np.stack([old[what], new[what]]) for what in ("horizon", "beta"))  # (2, head)
            axis.plot(x, y, color=colour, lw=0.7, alpha=0.35)
            axis.vlines(new["horizon"], new["beta_low"], new["beta_high"], color=[colour], lw=0.8, alpha=0.6)
            axis.scatter(old["horizon"], old["beta"], s=5, color=[colour], alpha=0.6, linewidths=0)
            faces = [colour if each else (1, 1, 1, 1) for each in known]
            axis.scatter(new["horizon"], new["beta"], s=16, c=faces, edgecolors=[colour], linewidths=0.9, zorder=3)
        counts = counted(after, "beta_change", p.level)
        axis.set(xscale="log", title=f"{name}, {variant.replace('x', '×')}: {counts.words}")
    row[0].set(ylabel=rf"rate $\beta$, {name}")
    row[0].set_ylim(bottom=0)
for axis in axes[-1]:
    axis.set_xlabel("horizon $H$ of the head, before and after")
handles, _ = axes[0, 0].get_legend_handles_labels()
dots = {"marker": "o", "ls": "none"}
handles += [Line2D([], [], color=colour, ms=4.5, label=f"layer {layer}", **dots) for layer, colour in colours.items()]
handles += [Line2D([], [], color="0.4", ms=2.5, label="the head as it is", **dots), hollow_key(words="saturated")]
figure.legend(handles=handles, loc="outside lower center", ncol=4, fontsize=8)
figure.suptitle(subject(fits.attrs), fontsize=9)
save(figure, dict(snakemake.output), p.quick_look)
