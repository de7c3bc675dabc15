"""The constant C'(R) of the moments against the radius of the tokens' support: exact, as drawn, and its local power."""

import matplotlib.pyplot as plt
import numpy as np

from attnlimit.base.job import begin
from attnlimit.base.store import read
from attnlimit.page.style import NAMES, PARAMETRIC, WIDTH, layer_colours, save, set_theme

MARKERS, STYLES = "osv^", {"mean": "-", "cov": "--"}
SLOW = 0.5  # c of the exponential drawn for comparison

p = begin(snakemake)
set_theme()

data = read(snakemake.input.constants)
dimensions, drawn = data["dimension"].values, data["drawn_dimension"].values
figure, axes = plt.subplots(1, 3, figsize=(WIDTH, 3.1), layout="constrained")
powers = axes[-1]

for law, colour, marker in zip(
    range(len(dimensions)), layer_colours(range(len(dimensions))).values(), MARKERS, strict=False
):
    here, name = data.isel(law=law), str(data["law"].values[law])
    radius, root = here["radius"].values, np.sqrt(dimensions[law])
    between = np.sqrt(radius[1:] * radius[:-1]) / root
    checked = data.isel(setting=drawn == dimensions[law])
    for axis, statistic in zip(axes, NAMES, strict=False):
        axis.plot(radius / root, here["constant"].sel(statistic=statistic), color=colour, lw=1.2, label=name)
        if checked.sizes["setting"]:
            found = checked.sel(statistic=statistic)
            axis.errorbar(
                checked["drawn_radius"] / root,
                found["simulated"],
                1.96 * found["simulated_se"],
                fmt=marker,
                color=colour,
                ms=4,
                lw=1,
                capsize=1.5,
                label=f"{name}, drawn, $n$ = {data.attrs['n']:,}",
            )
        powers.plot(between, here["local_power"].sel(statistic=statistic), STYLES[statistic], color=colour, lw=1.2)

for axis, statistic in zip(axes, NAMES, strict=False):
    axis.set(
        yscale="log", title=f"constant of the {NAMES[statistic]}", ylabel=r"$C'(R)=\lim$ √$n\;\mathrm{rms\ error}$"
    )
powers.plot(between, SLOW * between, color=PARAMETRIC, lw=1.2, ls=":", label=r"right: $\exp(R/2)$, $d$ = 1")
for statistic, style in STYLES.items():
    powers.plot([], [], style, color="0.2", lw=1.2, label=f"right: {NAMES[statistic]}")
powers.set(title="its local power of $R$", ylabel=r"$d\,\ln C'/d\,\ln R$", ylim=(0, 6.5))
for axis in axes:
    axis.set(xscale="log", xlabel=r"radius over √$d$, $R/$√$d$")
handles = [axis.get_legend_handles_labels() for axis in (axes[0], powers)]
figure.legend(
    *([entry for each in handles for entry in each[part]] for part in (0, 1)),
    loc="outside lower center",
    ncol=3,
    fontsize=8,
)
save(figure, dict(snakemake.output), p.quick_look)
