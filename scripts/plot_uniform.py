"""Largest error over a ball: against n, and its constant C(R) against the radius, beside the CLT and an exponential."""

import matplotlib.pyplot as plt
import numpy as np

from attnlimit.log import open_log
from attnlimit.report.style import BOUND, HEURISTIC, PALETTE, PARAMETRIC, WIDTH, layer_colours, save, set_theme
from attnlimit.store import read

SHOWN_RADII, SHOWN_SIZES = 6, 3

open_log(snakemake.log[0])
set_theme()

fits = read(snakemake.input.rates)
figure, axes = plt.subplots(2, 2, figsize=(WIDTH, 5.8), sharex="col", layout="constrained")


def spread(items, count):
    """Some of the items, evenly spread, first and last among them."""
    return np.unique(np.linspace(0, len(items) - 1, count).round().astype(int))


def points(axis, x, y, bars, full, colour, label, marker="o"):
    """Full where the scaling is reached, hollow where not."""
    axis.errorbar(x, y, bars, fmt="none", ecolor=colour, elinewidth=0.8, capsize=1.5)
    faces = [colour if reached else "white" for reached in full]
    axis.scatter(x, y, s=15, c=faces, edgecolors=[colour], linewidths=0.9, marker=marker, zorder=3)
    axis.scatter([], [], s=15, color=colour, marker=marker, label=label)


for row, dimension in zip(axes, fits["of_dimension"].values, strict=True):
    mine = fits.isel(setting=(fits["dimension"] == dimension).values).sel(of_dimension=dimension)
    mine = mine.sel(n=mine["value"].notnull().all("setting"))
    n, radius = mine["n"].values, mine["radius"].values

    shown = spread(radius, SHOWN_RADII)
    for setting, colour in zip(shown, layer_colours(shown).values(), strict=True):
        data = mine.isel(setting=setting)
        label = rf"$R$ = {radius[setting]:g}, $\beta$ = {float(data['beta']):.2f}"
        points(row[0], n, data["value"], 1.96 * data["value_se"], data["reached"].values, colour, label)
        row[0].plot(n, np.exp(float(data["intercept"])) * n ** -float(data["beta"]), color=colour, lw=0.9, ls="--")
    lowest = float(mine["value"].isel(setting=0, n=0)) / 2
    row[0].plot(n, lowest * (n / n[0]) ** -0.5, color=PARAMETRIC, lw=1.2, ls=":", label="slope $-1/2$")
    row[0].set(xscale="log", yscale="log", ylabel=r"$\mathbb{E}\,\sup_{|x|\leq R}\,|\Gamma_n(x)-\Gamma(x)|$")
    handles, labels = (entries[::-1] for entries in row[0].get_legend_handles_labels())  # in the order of the curves
    beside = {"loc": "upper left", "bbox_to_anchor": (1, 1), "handletextpad": 0.2, "borderaxespad": 0.2}
    row[0].legend(handles, labels, fontsize=7, **beside)

    row[1].plot(radius, mine["clt_sup"], color=BOUND, lw=1.2, label=r"CLT, $\mathbb{E}\,\sup_{|x|\leq R}$")
    row[1].plot(radius, mine["clt_edge"], color=BOUND, lw=1, ls=":", label="CLT at one edge point")
    full = mine["reached"].isel(n=-1).values
    growth = float(mine["growth"])
    fitted = np.exp(float(mine["growth_intercept"]) + growth * radius)
    row[1].plot(
        radius[full], fitted[full], color=HEURISTIC, lw=1.8, label=rf"fit $\propto e^{{{growth:.2f}\,R}}$, full points"
    )
    row[1].plot(radius, fitted, color=HEURISTIC, lw=0.9, ls="--", label="extended")
    for size, colour, marker in zip(
        spread(n, SHOWN_SIZES), PALETTE[:1] + PALETTE[1:2] + PALETTE[4:5], "^so", strict=True
    ):
        data = mine.isel(n=size)
        bars = 1.96 * data["constant_se"]
        points(row[1], radius, data["constant"], bars, data["reached"].values, colour, f"$n$ = {n[size]:,}", marker)
    if not full.all():
        row[1].axvspan(radius[~full][0] - 0.12, radius[-1] + 0.15, color="0.5", alpha=0.12, lw=0)
        note = f"$\\sqrt{{n}}$ scaling not reached\nat $n$ = {n[-1]:,}"
        row[1].text(0.97, 0.03, note, transform=row[1].transAxes, ha="right", va="bottom", fontsize=7)
    top = float(mine["constant"].max())
    row[1].set(yscale="log", ylim=(0.6, 30 * top), ylabel=r"$C(R)=\sqrt{n}\;\mathbb{E}\,\sup$")
    row[1].legend(loc="upper left", handletextpad=0.4, fontsize=7)
    row[0].set_title({1: "tokens on a line, $d=1$", 2: "tokens in a plane, $d=2$"}[dimension], loc="left")
axes[1, 0].set_xlabel("tokens $n$")
axes[1, 1].set_xlabel("radius $R$")
save(figure, dict(snakemake.output))
