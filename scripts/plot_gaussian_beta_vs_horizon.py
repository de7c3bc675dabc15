"""Rate against horizon for Gaussian tokens, by dimension, isotropic and not."""

import matplotlib.pyplot as plt
import numpy as np

from attnlimit.base.job import begin
from attnlimit.base.store import read
from attnlimit.page.panels import draw_predictions, draw_rates, hollow_key
from attnlimit.page.style import BOUND, NAMES, WIDTH, layer_colours, save, set_theme
from attnlimit.theory.bounds import predictions

TICKS = {"_": ("bound_v1_experiment", "1/(2(1+Ψ))"), "x": ("bound_v1_theorem", "1/(2(1+32Ψ))")}

p = begin(snakemake)
set_theme()

rates = read(snakemake.input.rates).sel(part="error")
rates = rates.isel(setting=(rates["constant_tilt"] == 0).values)
dimension, isotropic = rates["dimension"].values, rates["isotropic"].values
colours = layer_colours(np.unique(dimension))
markers = dict(zip(colours, "osD^v<>", strict=False))
shifts = dict(zip(colours, np.geomspace(0.93, 1 / 0.93, len(colours)), strict=True))
figure, axes = plt.subplots(2, 2, figsize=(WIDTH, 5.6), sharex=True, sharey=True, layout="constrained")

for row, shape in zip(axes, (True, False), strict=True):
    for axis, statistic in zip(row, NAMES, strict=True):
        drawn = draw_predictions(axis, rates["horizon"].values)
        if shape:
            theorem, label = predictions(drawn, drawn**2)["bound_v1_theorem"], "1/(2(1+32Ψ)), lower bound (v1), Ψ = H²"
            axis.plot(drawn, theorem, color=BOUND, lw=1.2, ls="-.", label=label)
            for marker, (_, formula) in TICKS.items():
                label = f"{formula}, lower bound (v1), Ψ of the point"
                axis.scatter([], [], s=28, color=BOUND, marker=marker, lw=1.2, label=label)
        for d, colour in colours.items():
            chosen = (dimension == d) & (isotropic == shape)
            fits = rates.sel(statistic=statistic).isel(setting=chosen)
            for marker, (bound, _) in () if shape else TICKS.items():
                axis.scatter(fits["horizon"] * shifts[d], fits[bound], s=28, color=[colour], marker=marker, lw=1.2)
            draw_rates(axis, fits, colour, markers[d], f"d = {d}", shifts[d])
    row[0].set(ylabel=rf"rate $\beta$, {'' if shape else 'an'}isotropic $\Sigma$")
for axis, name in zip(axes[0], NAMES.values(), strict=True):
    axis.set(title=name, xscale="log")
for axis in axes[1]:
    axis.set(xlabel="horizon $H$")
handles, _ = axes[0, 0].get_legend_handles_labels()
figure.legend(handles=[*handles, hollow_key()], loc="outside lower center", ncol=2, fontsize=8)
save(figure, dict(snakemake.output), p.quick_look)
