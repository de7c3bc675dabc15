"""What a finite reference in place of the limit does to the rate, with the same samples."""

import matplotlib.pyplot as plt
from matplotlib.legend_handler import HandlerTuple

from attnlimit.base.job import begin
from attnlimit.base.store import read
from attnlimit.page.panels import draw_predictions, draw_rates, hollow_key
from attnlimit.page.style import COLOURS, NAMES, PALETTE, WIDTH, save, set_theme

FINITE = PALETTE[4]

p = begin(snakemake)
set_theme()

rates = read(snakemake.input.rates).sel(part="error")
exact = rates["exact"].values
ratio = float(rates["horizon_published"][0] / rates["horizon"][0])  # the same at every scale
figure, axes = plt.subplots(1, 2, figsize=(WIDTH, 3.4), sharey=True, layout="constrained")

for (statistic, name), axis in zip(NAMES.items(), axes, strict=True):
    fits = rates.sel(statistic=statistic)
    draw_predictions(axis, fits["horizon"].values)
    pairs = [fits.isel(setting=exact), fits.isel(setting=~exact)]
    if exact.any() and not exact.all():
        axis.vlines(pairs[0]["horizon"], pairs[0]["beta"], pairs[1]["beta"], color="0.6", lw=0.8)
    draw_rates(axis, pairs[0], COLOURS[statistic], "o", "against the closed form")
    draw_rates(axis, pairs[1], FINITE, "s", f"against {rates.attrs['reference_tokens']} tokens")
    axis.set(xscale="log", title=name, xlabel="horizon $H$, with the softmax scale 1/√$d$")
    published = axis.secondary_xaxis("top", functions=(lambda h: h * ratio, lambda h: h / ratio))
    published.set_xlabel("$H$ without 1/√$d$, as published", fontsize=8)
axes[0].set(ylabel=r"rate $\beta$", ylim=(0, None))
handles, labels = axes[0].get_legend_handles_labels()
both = tuple(axis.get_legend_handles_labels()[0][3] for axis in axes)  # the closed form is in the colour of the panel
handles[3], pair = both, {tuple: HandlerTuple(ndivide=None)}
figure.legend(
    [*handles, hollow_key()],
    [*labels, hollow_key().get_label()],
    handler_map=pair,
    loc="outside lower center",
    ncol=3,
    fontsize=8,
)
save(figure, dict(snakemake.output), p.quick_look)
