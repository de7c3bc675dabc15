"""How many independent heads a layer is worth, by layer and study, with intervals."""

import matplotlib.pyplot as plt

from attnlimit.base.job import begin
from attnlimit.base.store import read
from attnlimit.page.style import NAMES, PALETTE, PARAMETRIC, WIDTH, save, set_theme
from attnlimit.stats.estimate import Estimate

MARKERS = "oD^svP*"
LEAST, TOP = 0.8, 1.7  # of the axis: below 1 and above all heads only intervals reach
SPREAD = 0.3  # half the width that the studies of a layer take

p = begin(snakemake)
set_theme()

compared = read(snakemake.input.rates)
studies = [str(name) for name in compared["study"].values]
models = [str(name) for name in compared["model"].values]
figure, axes = plt.subplots(1, len(NAMES), figsize=(WIDTH, 3.4), sharey=True, layout="constrained")

for axis, (statistic, words) in zip(axes, NAMES.items(), strict=True):
    for number, name in enumerate(studies):
        fit = compared.sel(study=name, statistic=statistic)
        fit = fit.isel(layer=fit["layer_heads"].notnull().values)
        aside = SPREAD * (2 * number / max(len(studies) - 1, 1) - 1)
        x, colour = fit["layer"].values + aside, PALETTE[number % len(PALETTE)]
        value, low, high = Estimate.of(fit, "layer_heads")
        axis.vlines(x, low, high, color=[colour], lw=0.9, alpha=0.8)
        marker = MARKERS[models.index(str(fit["model_of_study"].item())) % len(MARKERS)]
        label = f"{name} ({fit['model_of_study'].item()})" if len(models) > 1 else name
        axis.plot(x, value, marker, color=colour, ms=4, label=label)
    heads = sorted({int(each) for each in compared["heads"].values})
    for each in heads:
        axis.axhline(each, color=PARAMETRIC, lw=1.2, ls="--", zorder=0)
        place = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points", "va": "bottom", "ha": "right"}
        axis.annotate(f"{each} independent heads", (0.99, each), (0, 2), fontsize=7, color="0.35", **place)
    axis.axhline(1, color=PARAMETRIC, lw=1, ls=":", zorder=0)
    axis.set(yscale="log", xlabel="layer", title=f"errors of the {words}", xticks=compared["layer"].values)
    ticks = [each for each in (1, 2, 3, 4, 6, 8, 12, 16, 24) if each <= max(heads)]
    axis.set_yticks(ticks, [str(each) for each in ticks])
    axis.minorticks_off()
axes[0].set_ylim(LEAST, TOP * max(heads))
axes[0].set_ylabel("independent heads\nthat a layer is worth, $h_{\\mathrm{eff}}$")
handles, labels = axes[0].get_legend_handles_labels()
figure.legend(handles, labels, loc="outside lower center", ncol=4 if len(models) == 1 else 3, fontsize=7.5)
save(figure, dict(snakemake.output), p.quick_look)
