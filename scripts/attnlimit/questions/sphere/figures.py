"""Figures of question sphere."""

from itertools import cycle

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from attnlimit.drawing.panels import draw_predictions, draw_rates, hollow_key, horizon_axis, plain_log
from attnlimit.drawing.style import COLOURS, HEURISTIC, NAMES, PARAMETRIC, WIDTH, layer_colours

MARKERS, STYLES = "osv^", {"mean": "-", "cov": "--"}
SLOW = 0.5  # c of the exponential drawn for comparison


def sphere_beta_vs_horizon(rates: xr.Dataset) -> Figure:
    """Rate against horizon for tokens on a sphere: chosen horizons at the left, the published scales to the right."""
    rates = rates.sel(part="error")
    published = rates["published"].values
    sides = [side for side in (~published, published) if side.any()]
    figure, axes = plt.subplots(
        1,
        2 * len(sides),
        figsize=(WIDTH, 3.2),
        sharey=True,
        layout="constrained",
        width_ratios=[3, 1.3][: len(sides)] * 2,
    )

    for index, axis in enumerate(axes):
        name, side = list(COLOURS)[index // len(sides)], sides[index % len(sides)]
        data = rates.sel(statistic=name).isel(setting=side)
        horizon = draw_predictions(axis, data["horizon"].values)
        draw_rates(axis, data, COLOURS[name], "o", "measured, 95 % interval")
        horizon_axis(axis, "$H$" if side is published else "horizon $H$")
        if side is published:
            most = float(rates["attended"].isel(setting=side).max())
            axis.axvspan(horizon[0], horizon[-1], color=HEURISTIC, alpha=0.08, lw=0)
            axis.set(title="published")
            plain_log(axis, most=2)
            clear = {"facecolor": "white", "alpha": 0.85, "linewidth": 0, "pad": 1}  # of the line at 1/2
            note = f"a hardmax:\nat most {most:.1f}\ntokens\nattended"
            axis.text(0.5, 0.98, note, transform=axis.transAxes, ha="center", va="top", fontsize=7, bbox=clear)
        else:
            axis.set(title=NAMES[name])
    axes[0].set(ylabel=r"rate $\beta$", ylim=(0, 0.68))
    handles, _ = axes[0].get_legend_handles_labels()
    figure.legend(handles=[*handles, hollow_key()], loc="outside lower center", ncol=3, fontsize=8)
    return figure


def constants(data: xr.Dataset) -> Figure:
    """The constant C'(R) of the moments against the radius of the support: exact, as drawn, and its local power."""
    dimensions, drawn = data["dimension"].values, data["drawn_dimension"].values
    figure, axes = plt.subplots(1, 3, figsize=(WIDTH, 3.1), layout="constrained")
    powers = axes[-1]

    for law, colour, marker in zip(
        range(len(dimensions)), layer_colours(range(len(dimensions))).values(), cycle(MARKERS), strict=False
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
    return figure
