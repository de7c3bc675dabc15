"""Rate against horizon for tokens on a sphere: chosen horizons at the left, the published scales far to the right."""

import matplotlib.pyplot as plt

from attnlimit.base.job import begin
from attnlimit.base.store import read
from attnlimit.page.panels import draw_predictions, draw_rates, hollow_key
from attnlimit.page.style import COLOURS, HEURISTIC, NAMES, WIDTH, save, set_theme

p = begin(snakemake)
set_theme()

rates = read(snakemake.input.rates).sel(part="error")
published = rates["published"].values
sides = [side for side in (~published, published) if side.any()]
figure, axes = plt.subplots(
    1, 2 * len(sides), figsize=(WIDTH, 3.2), sharey=True, layout="constrained", width_ratios=[3, 1.3][: len(sides)] * 2
)

for index, axis in enumerate(axes):
    name, side = list(COLOURS)[index // len(sides)], sides[index % len(sides)]
    data = rates.sel(statistic=name).isel(setting=side)
    horizon = draw_predictions(axis, data["horizon"].values)
    draw_rates(axis, data, COLOURS[name], "o", "measured, 95 % interval")
    axis.set(xscale="log", xlabel="horizon $H$")
    if side is published:
        most = float(rates["attended"].isel(setting=side).max())
        axis.axvspan(horizon[0], horizon[-1], color=HEURISTIC, alpha=0.08, lw=0)
        axis.set(title="published", xlabel="$H$")
        note = f"a hardmax:\nat most {most:.1f}\ntokens\nattended"
        axis.text(0.5, 0.98, note, transform=axis.transAxes, ha="center", va="top", fontsize=7)
    else:
        axis.set(title=NAMES[name])
axes[0].set(ylabel=r"rate $\beta$", ylim=(0, 0.68))
handles, _ = axes[0].get_legend_handles_labels()
figure.legend(handles=[*handles, hollow_key()], loc="outside lower center", ncol=3, fontsize=8)
save(figure, dict(snakemake.output), p.quick_look)
