"""Figures of question normality."""

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from attnlimit.drawing.style import HEURISTIC, PARAMETRIC, WIDTH, layer_colours
from attnlimit.questions.normality.fit import FEWEST_CARRIERS, power_of_carriers


def normality(data: xr.Dataset) -> Figure:
    """Attention at one query: quantiles against the normal's, variance over its limit, coverage of the plug-in."""
    along, across = (data.sel(coordinate=name) for name in ("along", "across"))
    tilts, n, level = data["tilt"].values, data["n"].values, data.attrs["level"]
    colours = layer_colours(range(len(tilts)))
    figure, axes = plt.subplots(2, 2, figsize=(WIDTH, 6.0), layout="constrained")
    (quantiles, ratios), (by_carriers, shortfalls) = axes
    shortfall, power = float(data["shortfall"]), float(data["shortfall_power"])

    for tilt, size, marker in [
        (t, s, m) for t in (len(tilts) // 3, 2 * len(tilts) // 3) for s, m in ((0, "s"), (-1, "o"))
    ]:
        label = f"$|t|$ = {tilts[tilt]:g}, $n$ = {n[size]:,}"
        quantile = along["error_quantile"].isel(setting=tilt, n=size)
        quantiles.plot(data["normal_quantile"], quantile, marker, ms=2.6, mew=0, color=colours[tilt], label=label)
    quantiles.axline((0, 0), slope=1, color=PARAMETRIC, lw=1, ls=":")
    quantiles.set(title="quantiles of the error along the tilt", xlabel="normal quantile")
    quantiles.set(ylabel="quantile, over the limiting deviation")
    quantiles.legend(loc="upper left", handletextpad=0.2, fontsize=7)

    for setting, colour in colours.items():
        mine, beside = along.isel(setting=setting), across.isel(setting=setting)
        bars = {"capsize": 1.5, "color": colour, "ms": 3.5, "lw": 0.9, "elinewidth": 0.8}
        label = f"$|t|$ = {tilts[setting]:g}"
        ratios.errorbar(n, mine["variance_ratio"], 1.96 * mine["variance_ratio_se"], marker="o", label=label, **bars)
        for part, marker, face in ((mine, "o", colour), (beside, "^", "white")):
            by_carriers.errorbar(
                part["carriers"], part["coverage"], 1.96 * part["coverage_se"], marker=marker, mfc=face, **bars
            )
        if tilts[setting] > 0:
            missing = level - mine["coverage"].values
            shown = missing > 0  # on a logarithmic axis
            below = np.minimum(1.96 * mine["coverage_se"].values, 0.9 * np.abs(missing))
            heights = np.stack([below, 1.96 * mine["coverage_se"].values])[:, shown]
            shortfalls.errorbar(mine["carriers"].values[shown], missing[shown], heights, fmt="o", **bars)

    ratios.axhline(1, color=PARAMETRIC, lw=1, ls=":")
    ratios.set(title="variance along the tilt, over its limit", xlabel="tokens $n$", xscale="log")
    ratios.set(ylabel=r"$n\,\mathrm{Var}(\Gamma_n)$, over its limit")
    by_carriers.axhline(level, color=PARAMETRIC, lw=1, ls=":")
    by_carriers.set(title="coverage: ● along the tilt, △ across", xscale="log")
    by_carriers.set(xlabel="carriers: effective sample size², over $n$", ylabel=f"coverage of the {level:.0%} interval")
    few = np.geomspace(FEWEST_CARRIERS, 1e5, 50)
    if np.isfinite(shortfall):
        label = rf"${shortfall:.3f}\,(\mathrm{{carriers}}/1000)^{{-{power:.2f}}}$"
        shortfalls.plot(few, power_of_carriers(few, shortfall, power), color=HEURISTIC, lw=1.4, label=label)
        shortfalls.legend(loc="upper right", fontsize=8)
    shortfalls.set(title="how far coverage along the tilt falls short", xscale="log", yscale="log")
    shortfalls.set(xlabel="carriers", ylabel=f"{level:.0%} less coverage")
    shortfalls.set(xlim=(1, 1e6), ylim=(5e-4, 1))
    figure.legend(*ratios.get_legend_handles_labels(), loc="outside lower center", ncol=6, fontsize=8, columnspacing=1)
    return figure
