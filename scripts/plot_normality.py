"""Attention at one query: quantiles against the normal's, variance over its limit, coverage of the plug-in interval."""

import matplotlib.pyplot as plt

from attnlimit.base.job import begin
from attnlimit.base.store import read
from attnlimit.page.style import PARAMETRIC, WIDTH, layer_colours, save, set_theme

p = begin(snakemake)
set_theme()

data = read(snakemake.input.normality)
along, across = (data.sel(coordinate=name) for name in ("along", "across"))
tilts, n = data["tilt"].values, data["n"].values
figure, axes = plt.subplots(2, 2, figsize=(WIDTH, 5.8), layout="constrained")
(quantiles, ratios), (by_effective, by_carriers) = axes

shown = [(tilt, size) for tilt in (len(tilts) // 3, 2 * len(tilts) // 3) for size in (0, len(n) - 1)]
tilt_colours = layer_colours(range(len(tilts)))
for (tilt, size), marker in zip(shown, "osv^", strict=True):
    label = f"$|t|$ = {tilts[tilt]:g}, $n$ = {n[size]:,}"
    quantile = along["error_quantile"].isel(setting=tilt, n=size)
    quantiles.plot(
        data["normal_quantile"],
        quantile,
        marker,
        ms=2.6,
        mew=0,
        color=tilt_colours[tilt],
        label=label,
    )
quantiles.axline((0, 0), slope=1, color=PARAMETRIC, lw=1, ls=":", label="normal")
quantiles.set(xlabel="normal quantile", ylabel="quantile of the error,\nover its limiting deviation")
quantiles.legend(loc="upper left", handletextpad=0.2, fontsize=7)

for size, colour in layer_colours(range(len(n))).items():
    here = along.isel(n=size)
    bars, style = 1.96 * here["variance_ratio_se"], {"marker": "o", "ms": 3, "lw": 0.9, "capsize": 1.5}
    ratios.errorbar(tilts, here["variance_ratio"], bars, color=colour, label=f"$n$ = {n[size]:,}", **style)
ratios.axhline(1, color=PARAMETRIC, lw=1, ls=":")
ratios.set(xlabel="tilt $|t|$", ylabel=r"$n\,\mathrm{Var}(\Gamma_n)$, over its limit")
ratios.legend(loc="lower left", handletextpad=0.4, fontsize=7)

for axis, x, label, parts in (
    (by_effective, "effective_mean", r"effective sample size $1/\sum w_i^2$", ((along, "o"), (across, "^"))),
    (by_carriers, "carriers", "effective sample size², over $n$", ((along, "o"),)),
):
    for setting, colour in tilt_colours.items():
        for part, marker in parts:
            here = part.isel(setting=setting)
            axis.errorbar(
                here[x],
                here["coverage"],
                1.96 * here["coverage_se"],
                color=colour,
                label=f"$|t|$ = {tilts[setting]:g}" if part is along else None,
                marker=marker,
                ms=3.5,
                lw=0.7,
                elinewidth=0.7,
                capsize=1.2,
            )
    axis.axhline(data.attrs["level"], color=PARAMETRIC, lw=1, ls=":")
    axis.set(xscale="log", xlabel=label, ylabel=f"coverage of the {data.attrs['level']:.0%} interval")
by_effective.legend(loc="lower right", handletextpad=0.4, fontsize=7, title="● along $t$, ▲ across", title_fontsize=7)
by_carriers.legend(loc="lower right", handletextpad=0.4, fontsize=7, title="along $t$", title_fontsize=7)
save(figure, dict(snakemake.output), p.quick_look)
