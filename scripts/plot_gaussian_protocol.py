"""What a finite reference in place of the limit does to the rate, with the same samples."""

import matplotlib.pyplot as plt

from attnlimit.journal import open_log
from attnlimit.names import PARTS, STATISTICS
from attnlimit.panels import draw_predictions, draw_rates
from attnlimit.store import read
from attnlimit.style import NAMES, PALETTE, WIDTH, save, set_theme

open_log(snakemake.log[0])
set_theme()

rates, errors = read(snakemake.input.rates).sel(part=PARTS.index("error")), read(snakemake.input.errors)
exact = errors["exact"].values
ratio = float(errors["horizon_published"][0] / errors["horizon"][0])  # the same at every scale
figure, axes = plt.subplots(1, 2, figsize=(WIDTH, 3.4), sharey=True, layout="constrained")

for (statistic, name), axis in zip(NAMES.items(), axes, strict=True):
    fits = rates.sel(statistic=STATISTICS.index(statistic))
    draw_predictions(axis, fits["horizon"].values)
    pairs = [fits.isel(setting=exact), fits.isel(setting=~exact)]
    if exact.any() and not exact.all():
        axis.vlines(pairs[0]["horizon"], pairs[0]["beta"], pairs[1]["beta"], color="0.6", lw=0.8)
    draw_rates(axis, pairs[0], PALETTE[0], "o", "against the closed form")
    draw_rates(axis, pairs[1], PALETTE[1], "s", f"against {errors.attrs['reference_tokens']} tokens")
    axis.set(xscale="log", title=name, xlabel=r"horizon $H$, with the softmax scale $1/\sqrt{d}$")
    published = axis.secondary_xaxis("top", functions=(lambda h: h * ratio, lambda h: h / ratio))
    published.set_xlabel(r"$H$ without $1/\sqrt{d}$, as published", fontsize=8)
axes[0].set(ylabel=r"rate $\beta$", ylim=(0, None))
handles, labels = axes[0].get_legend_handles_labels()
figure.legend(handles, labels, loc="outside lower center", ncol=3, fontsize=8)
save(figure, dict(snakemake.output))
