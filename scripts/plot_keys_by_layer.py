"""Keys for 5 % of every head, layer by layer, above the weight of the first key."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D

from attnlimit.base.job import begin
from attnlimit.base.store import read
from attnlimit.page.key_style import COLOURS, MARKERS, NAMES, key_axis
from attnlimit.page.panels import subject
from attnlimit.page.style import BOUND, PARAMETRIC, WIDTH, save, set_theme

SHOWN = ("uniform", "sink_recent", "heavy_recent")
LEAST = 0.8  # keys: heads that need fewer are drawn at its edge

p = begin(snakemake)
set_theme()

fits = read(snakemake.input.rates)
context = fits.attrs["context"]
layers = fits["layer"].values
at = fits.sel(eps=0.05, context=context)
figure, (upper, lower) = plt.subplots(
    2, 1, figsize=(WIDTH, 5.0), sharex=True, height_ratios=(2, 1), layout="constrained"
)
shown = [name for name in SHOWN if name in fits["protocol"].values]
for place, name in enumerate(shown):
    own = at.sel(protocol=name).transpose("layer", "head", ...)
    keys, reliable = np.maximum(own["first_order_keys"].values, 1), own["first_order_reliable"].values == 1
    aside = np.broadcast_to(layers[:, None] + 0.25 * (place - (len(shown) - 1) / 2), keys.shape)
    style = {"s": 10, "marker": MARKERS[name], "linewidths": 0.6, "edgecolors": [COLOURS[name]]}
    upper.scatter(aside[reliable], keys[reliable], color=[COLOURS[name]], alpha=0.6, **style)
    upper.scatter(aside[~reliable], keys[~reliable], facecolors="white", **style)
    upper.plot(layers, np.median(keys, axis=1), color=COLOURS[name], lw=1.3)
upper.axhline(context, color=PARAMETRIC, lw=1, ls=":")
upper.text(1, context, "context", transform=upper.get_yaxis_transform(), va="bottom", ha="right", fontsize=7.5)
key_axis(upper, horizontal=False)
upper.set(ylabel="n(5 %), exact first order", ylim=(LEAST, None))
weight = fits["first_weight"].transpose("layer", "head").values
lower.scatter(np.broadcast_to(layers[:, None], weight.shape), weight, s=9, color=BOUND, alpha=0.5, lw=0)
lower.plot(layers, np.median(weight, axis=1), color=BOUND, lw=1.3)
lower.set(xlabel="layer", ylabel="weight of the first key", ylim=(-0.03, 1.03))
lower.set_xticks(layers[:: -(-len(layers) // 15)])
handles = [Line2D([], [], color=COLOURS[name], marker=MARKERS[name], ms=4, label=NAMES[name]) for name in shown]
handles += [Line2D([], [], color=BOUND, marker="o", mfc="white", ls="none", ms=4, label="n below $10\\,E\\,u^2$: void")]
figure.legend(handles=handles, loc="outside lower center", ncol=2, fontsize=8)
words = f"{subject(fits.attrs)}\n{fits.attrs['windows']} windows, context {context:,}; points: heads, lines: medians"
figure.suptitle(words, fontsize=9)
save(figure, dict(snakemake.output), p.quick_look)
