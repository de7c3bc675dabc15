"""Figures of question uniform."""

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from attnlimit.drawing.panels import hollow_key
from attnlimit.drawing.style import BOUND, HEURISTIC, PALETTE, PARAMETRIC, WIDTH, layer_colours

SHOWN_RADII, SHOWN_COMPACT, SHOWN_SIZES = 6, 2, 3
TITLES = {
    "gaussian, d = 1": "Gaussian tokens on a line, $d=1$",
    "gaussian, d = 2": "Gaussian tokens in a plane, $d=2$",
}
COMPACT = {"interval, d = 1": "the interval $[-1,1]$", "circle, d = 2": "the unit circle"}
BESIDE = {"loc": "upper left", "bbox_to_anchor": (1, 1), "handletextpad": 0.2, "borderaxespad": 0.2}
ERROR, CONSTANT = r"$\mathrm{E}\,\sup_{|x|\leq R}\,|\Gamma_n(x)-\Gamma(x)|$", r"$C(R)=$ √$n\;\mathrm{E}\,\sup$"


def uniform(fits: xr.Dataset) -> Figure:
    """Largest error over a ball: against n; its constant C(R) against the radius, beside the CLT and an exponential."""
    of_law = {
        law: fits.isel(setting=(fits["law"] == law).values).sel(of_law=law).dropna("n", subset=["value"])
        for law in fits["of_law"].values.tolist()
    }
    compact = [law for law, mine in of_law.items() if mine["compact"].all()]
    wide = [law for law in of_law if law not in compact]
    rows = len(wide) + bool(compact)
    figure, axes = plt.subplots(rows, 2, figsize=(WIDTH, 2.9 * rows), layout="constrained")
    for below in axes[1:, 0]:
        below.sharex(axes[0, 0])

    def spread(items, count):
        """Some of the items, evenly spread, first and last among them."""
        return np.unique(np.linspace(0, len(items) - 1, count).round().astype(int))

    def points(axis, x, y, bars, full, colour, label, marker="o"):
        """Hollow where the error does not fall like 1/sqrt(n): its slope is no exponent there."""
        axis.errorbar(x, y, bars, fmt="none", ecolor=colour, elinewidth=0.8, capsize=1.5)
        faces = [colour if reached else "white" for reached in full]
        axis.scatter(x, y, s=15, c=faces, edgecolors=[colour], linewidths=0.9, marker=marker, zorder=3)
        axis.scatter([], [], s=15, color=colour, marker=marker, label=label)

    def errors(axis, mine, setting, colour, before="", marker="o"):
        """The error of one ball against n, with its fit."""
        data, n = mine.isel(setting=setting), mine["n"].values
        label = rf"{before}$R$ = {float(data['radius']):g}, $\beta$ = {float(data['beta']):.2f}"
        points(axis, n, data["value"], 1.96 * data["value_se"], data["reached"].values, colour, label, marker)
        axis.plot(n, np.exp(float(data["intercept"])) * n ** -float(data["beta"]), color=colour, lw=0.9, ls="--")

    def finish_errors(axis, n, lowest):
        """Axes of the left-hand panels, a line of slope -1/2, and the legend in the order of the curves."""
        axis.plot(n, lowest * (n / n[0]) ** -0.5, color=PARAMETRIC, lw=1.2, ls=":", label="slope $-1/2$")
        axis.set(xscale="log", yscale="log", ylabel=ERROR)
        handles, labels = (entries[::-1] for entries in axis.get_legend_handles_labels())
        axis.legend(handles, labels, fontsize=7, **BESIDE)

    for row, law in zip(axes, wide, strict=False):
        mine = of_law[law]
        n, radius = mine["n"].values, mine["radius"].values

        shown = spread(radius, SHOWN_RADII)
        for setting, colour in zip(shown, layer_colours(shown).values(), strict=True):
            errors(row[0], mine, setting, colour)
        finish_errors(row[0], n, float(mine["value"].isel(setting=0, n=0)) / 2)
        row[0].set_title(TITLES[law], loc="left")

        row[1].plot(radius, mine["clt_sup"], color=BOUND, lw=1.2, label=r"CLT, $\mathrm{E}\,\sup_{|x|\leq R}$")
        row[1].plot(radius, mine["clt_edge"], color=BOUND, lw=1, ls=":", label="CLT at one edge point")
        full = mine["reached"].isel(n=-1).values
        growth = float(mine["growth"])
        fitted = np.exp(float(mine["growth_intercept"]) + growth * radius)
        row[1].plot(radius[full], fitted[full], color=HEURISTIC, lw=1.8, label=rf"fit $\propto e^{{{growth:.2f}\,R}}$")
        row[1].plot(radius, fitted, color=HEURISTIC, lw=0.9, ls="--", label="extended")
        for size, colour, marker in zip(
            spread(n, SHOWN_SIZES), PALETTE[:1] + PALETTE[1:2] + PALETTE[4:5], "^so", strict=True
        ):
            data = mine.isel(n=size)
            bars = 1.96 * data["constant_se"]
            points(row[1], radius, data["constant"], bars, data["reached"].values, colour, f"$n$ = {n[size]:,}", marker)
        if not full.all():
            row[1].axvspan(radius[~full][0] - 0.12, radius[-1] + 0.15, color="0.5", alpha=0.12, lw=0)
            note = f"√$n$ scaling not reached\nat $n$ = {n[-1]:,}"
            row[1].text(0.97, 0.03, note, transform=row[1].transAxes, ha="right", va="bottom", fontsize=7)
        top = float(mine["constant"].max())
        row[1].set(yscale="log", ylim=(0.6, 30 * top), ylabel=CONSTANT)
        row[1].legend(loc="upper left", handletextpad=0.4, fontsize=7)

    if compact:
        left, right = axes[-1]
        for law, colours, marker in zip(compact, (PALETTE[0:2], PALETTE[4:6]), "os", strict=False):
            mine = of_law[law]
            for setting, colour in zip(spread(mine["radius"], SHOWN_COMPACT), colours, strict=True):
                errors(left, mine, setting, colour, f"{law.split(',')[0]}, ", marker)
            largest, radius = mine.isel(n=-1), mine["radius"].values
            label = f"{law.split(',')[0]}, $n$ = {int(largest['n']):,}"
            bars = 1.96 * largest["constant_se"]
            points(right, radius, largest["constant"], bars, largest["reached"].values, colours[0], label, marker)
            right.plot(
                radius, mine["clt_sup"], color=BOUND, lw=1.2, label="CLT, as above" if law == compact[-1] else None
            )
            right.plot(radius, mine["clt_edge"], color=BOUND, lw=1, ls=":")
        longest = max((of_law[law]["n"].values for law in compact), key=len)
        finish_errors(left, longest, min(float(of_law[law]["value"].isel(setting=0, n=0)) for law in compact) / 2)
        named = [COMPACT[law] for law in compact]
        left.set_title(f"tokens uniform on {' and on '.join(named)}", loc="left")
        top = max(float(of_law[law]["constant"].isel(n=-1).max()) for law in compact)
        right.set(ylim=(0, 1.7 * top), ylabel=CONSTANT)
        right.legend(loc="upper left", handletextpad=0.4, fontsize=7)
    axes[-1, 0].set_xlabel("tokens $n$")
    axes[-1, 1].set_xlabel("radius $R$")
    figure.legend(handles=[hollow_key(words="√$n$ scaling not reached")], loc="outside lower center", fontsize=8)
    return figure
