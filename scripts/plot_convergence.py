"""Error against n, one panel a layer: heads thin, the whole layer with its fit."""

import numpy as np

from attnlimit.base.coordinates import heads_only, whole_layer
from attnlimit.base.job import begin
from attnlimit.base.store import read
from attnlimit.page.panels import draw_sizes, hollow, hollow_words, layer_panels, subject
from attnlimit.page.style import COLOURS, NAMES, PARAMETRIC, save, set_theme

p = begin(snakemake)
set_theme()

rates = read(snakemake.input.rates).sel(part="error")
first = read(snakemake.input.first_order) if snakemake.input.get("first_order") else None
relative = rates["value"] / rates["limit_scale"]
lowest = relative.min("head")
layers, n = rates["layer"].values, rates["n"].values
figure, panels = layer_panels(layers, 2.3)

for layer, axis in panels.items():
    for name, colour in COLOURS.items():
        data = rates.sel(layer=layer, statistic=name)
        heads = heads_only(relative).sel(layer=layer, statistic=name)
        axis.plot(n, heads.values.T, color=colour, alpha=0.35, lw=0.6)
        whole = whole_layer(data)
        scale, beta = float(whole["limit_scale"]), float(whole["beta"])
        face = "white" if hollow(whole) else colour
        style = {"color": colour, "mfc": face, "ms": 3.5, "capsize": 1.5}
        label = rf"{NAMES[name]}, $\beta$ = {beta:.2f}"
        axis.errorbar(n, whole["value"] / scale, 1.96 * whole["value_se"] / scale, fmt="o", label=label, **style)
        fitted = np.exp(float(whole["intercept"])) * n**-beta / scale
        axis.plot(n, fitted, color=colour, lw=1, ls="--")
        if first is not None:
            expected = (first["predicted"] / first["limit_scale"]).where(~first["few_tokens"])
            expected = expected.sel(layer=layer, statistic=name)
            axis.plot(n, heads_only(expected).transpose("n", "head"), color="black", alpha=0.35, lw=0.5, ls="-.")
            axis.plot(n, whole_layer(expected), color="black", lw=0.9)
    slowest = heads_only(relative).sel(layer=layer, statistic="cov").isel(n=0).max()
    top = 1.4 * float(slowest)
    axis.plot(n, top * (n / n[0]) ** -0.5, color=PARAMETRIC, lw=1, ls=":")
    axis.text(n[-1], top * (n[-1] / n[0]) ** -0.5 * 2.4, "slope −1/2", color=PARAMETRIC, ha="right", fontsize=7)
    axis.set(yscale="log", title=f"layer {layer}")
    draw_sizes(axis, n)
    axis.legend(loc="lower left", handletextpad=0.2)
axis.set_ylim(bottom=0.12 * float(lowest.sel(statistic=list(COLOURS)).min()))  # room for the legends
figure.supxlabel("tokens $n$", fontsize=9)
figure.supylabel("distance to the limit, relative", fontsize=9)
words = "\nblack: predicted by first order, nothing fitted" if first is not None else ""
figure.suptitle(f"{subject(rates.attrs)}; ○: {hollow_words(rates)}{words}", fontsize=9)
save(figure, dict(snakemake.output), p.quick_look)
