"""Bias and fluctuation of the error against n, for the heads of smallest, median and largest horizon."""

import matplotlib.pyplot as plt
import numpy as np

from attnlimit.base.coordinates import heads_only
from attnlimit.base.job import begin
from attnlimit.base.store import read
from attnlimit.page.panels import draw_sizes, hollow, hollow_key, subject
from attnlimit.page.style import BOUND, COLOURS, NAMES, PARAMETRIC, WIDTH, save, set_theme

SHAPES = {"error": ("-", None), "fluctuation": ("none", "o"), "bias": ("none", "s")}

p = begin(snakemake)
set_theme()

rates = heads_only(read(snakemake.input.rates))
n = rates["n"].values
heads = rates.stack(row=("layer", "head"))
heads = heads.isel(row=np.argsort(heads["horizon"].values))
chosen = {"smallest": 0, "median": heads.sizes["row"] // 2, "largest": -1}
figure, axes = plt.subplots(2, 3, figsize=(WIDTH, 4.8), sharex=True, sharey="row", layout="constrained")

for row, (statistic, colour) in zip(axes, COLOURS.items(), strict=True):
    for axis, position in zip(row, chosen.values(), strict=True):
        head = heads.isel(row=position).sel(statistic=statistic)
        scale = float(head["limit_scale"])
        start = float(head["value"].sel(part="error")[0]) / scale
        for power, style in ((0.5, ":"), (1, (0, (1, 3)))):
            axis.plot(
                n, 1.5 * start * (n / n[0]) ** -power, color=PARAMETRIC, lw=1, ls=style, label=f"slope −{power:g}"
            )
        floor = head["noise_floor"].sel(part="bias") / scale
        axis.plot(n, floor, color=BOUND, lw=0.8, ls="--", label="noise floor of the bias")
        for part, (line, marker) in SHAPES.items():
            curve = head.sel(part=part)
            bars = 1.96 * curve["value_se"] / scale if marker else None
            face = "white" if hollow(curve) else colour
            fitted = np.isfinite(float(curve["beta"]))
            label = rf"{part}, $\beta$ = {float(curve['beta']):.2f}" if fitted else f"{part}, too few seen"
            style = {"color": colour, "mfc": face, "ms": 3.5, "lw": 0.9, "capsize": 1.5, "elinewidth": 0.8}
            axis.errorbar(n, curve["value"] / scale, bars, ls=line, marker=marker, label=label, **style)
        axis.set(yscale="log")
        draw_sizes(axis, n)
        handles, labels = axis.get_legend_handles_labels()
        axis.legend(handles[3:], labels[3:], loc="lower left", fontsize=7, handletextpad=0.3)
    row[0].set_ylabel(f"{NAMES[statistic]} error, relative")
    row[0].set_ylim(bottom=row[0].get_ylim()[0] / 6)  # room for the legends
for axis, (rank, position) in zip(axes[0], chosen.items(), strict=True):
    head = heads.isel(row=position)
    where = f"layer {int(head['layer'])}, head {int(head['head'])}"
    axis.set_title(f"{rank} $H$ = {float(head['horizon']):.2g}\n{where}")
for axis in axes[1]:
    axis.set_xlabel("tokens $n$")
figure.legend(handles=[*handles[:3], hollow_key(rates)], loc="outside lower center", ncol=4, fontsize=8)
figure.suptitle(subject(rates.attrs), fontsize=9)
save(figure, dict(snakemake.output), p.quick_look)
