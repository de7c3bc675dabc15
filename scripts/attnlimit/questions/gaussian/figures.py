"""Figures of question gaussian."""

import matplotlib.pyplot as plt
import numpy as np
import seaborn as sns
import xarray as xr
from matplotlib.figure import Figure

from attnlimit.drawing.panels import (
    dot,
    draw_predictions,
    draw_rates,
    hollow_key,
    horizon_axis,
    legend_below,
    plain_log,
)
from attnlimit.drawing.style import BOUND, COLOURS, NAMES, PALETTE, PARAMETRIC, WIDTH, Looks, layer_colours
from attnlimit.questions.gaussian.claims import reference_change
from attnlimit.theory.bounds import predictions

TICKS = {"_": ("bound_v1_experiment", r"$1/(2(1+\Psi))$"), "x": ("bound_v1_theorem", r"$1/(2(1+32\,\Psi))$")}
FINITE = PALETTE[4]
SHOWN = 4  # horizons of the local slopes


def by_dimension(rates: xr.Dataset, isotropic: bool) -> tuple[Figure, np.ndarray]:
    """Rates of both statistics against the horizon, by dimension: the figure and its panels."""
    rates = rates.sel(part="error")
    horizon = rates["horizon"].values  # of all settings: in one dimension none is anisotropic
    rates = rates.isel(setting=((rates["constant_tilt"] == 0) & (rates["isotropic"] == isotropic)).values)
    dimension = rates["dimension"].values
    colours = layer_colours(np.unique(dimension))
    figure, axes = plt.subplots(1, 2, figsize=(WIDTH, 3.9), sharex=True, sharey=True, layout="constrained")
    looks = {
        d: (colour, marker, shift)
        for (d, colour), marker, shift in zip(
            colours.items(), "osD^v<>", np.geomspace(0.93, 1 / 0.93, len(colours)), strict=False
        )
    }
    for axis, (statistic, name) in zip(axes, NAMES.items(), strict=True):
        draw_predictions(axis, horizon)
        horizon_axis(axis)
        for d, (colour, marker, shift) in looks.items():
            fits = rates.sel(statistic=statistic).isel(setting=dimension == d)
            for tick, (bound, _) in () if isotropic else TICKS.items():
                axis.scatter(fits["horizon"] * shift, fits[bound], s=28, color=[colour], marker=tick, lw=1.2)
            draw_rates(axis, fits, colour, marker, f"$d$ = {d}", shift)
        axis.set(title=name)
    axes[0].set(ylabel=r"rate $\beta$", ylim=(0, None))
    return figure, axes


def gaussian_beta_vs_horizon(rates: xr.Dataset) -> Figure:
    """Rate against horizon for isotropic Gaussian tokens, by dimension."""
    figure, axes = by_dimension(rates, isotropic=True)
    for axis in axes:
        drawn = axis.lines[-1].get_xdata()
        theorem = predictions(drawn, drawn**2)["bound_v1_theorem"]
        axis.plot(drawn, theorem, color=BOUND, lw=1.2, ls="-.", label="$1/(2(1+32\\,H^2))$, the same in its version 1")
    legend_below(figure, [*axes[0].get_legend_handles_labels()[0], hollow_key()], 3)
    return figure


def gaussian_anisotropic(rates: xr.Dataset) -> Figure:
    """Rate against horizon for anisotropic Gaussian tokens, with the bounds of version 1 at each point."""
    figure, axes = by_dimension(rates, isotropic=False)
    bounds = [dot(BOUND, f"{formula}, of version 1", tick, 6) for tick, (_, formula) in TICKS.items()]
    legend_below(figure, [*axes[0].get_legend_handles_labels()[0], hollow_key(), *bounds], 3, columnspacing=1)
    return figure


def gaussian_local_slopes(rates: xr.Dataset, counted: xr.Dataset) -> Figure:
    """Slopes between neighbouring sizes, isotropic Gaussian tokens: where a rate is one, and where it still moves."""
    rates, counted = (each.sel(part="error") for each in (rates, counted))
    rates = rates.isel(setting=(rates["constant_tilt"] == 0).values)
    dimension, isotropic = rates["dimension"].values, rates["isotropic"].values
    largest = np.unique(dimension)[-2:]  # below, the replicates are too few for slopes between neighbours
    columns = {"$d$ = 1, from counts": counted}
    columns |= {f"$d$ = {d}": rates.isel(setting=(dimension == d) & isotropic) for d in largest}
    known = [set(column["horizon"].values.round(9).tolist()) for column in columns.values()]
    horizons = np.sort(list(set.intersection(*known) or set.union(*known)))
    horizons = horizons[np.unique(np.linspace(0, len(horizons) - 1, SHOWN).round().astype(int))]
    colours = dict(zip(horizons, (PALETTE[place] for place in (0, 2, 1, 3)), strict=False))
    figure, axes = plt.subplots(
        2, len(columns), figsize=(WIDTH, 4.2), sharex="col", sharey=True, squeeze=False, layout="constrained"
    )

    for row, (statistic, name) in zip(axes, NAMES.items(), strict=True):
        for axis, (title, column) in zip(row, columns.items(), strict=True):
            n = column["n"].values.astype(float)  # the product of two sizes may exceed an integer
            axis.axhline(0.5, color=PARAMETRIC, lw=1, ls=":", label="1/2, as an average has")
            for number in column["setting"].values:
                fit = column.sel(setting=number, statistic=statistic)
                colour = colours.get(float(fit["horizon"].round(9)))
                if colour is None:
                    continue
                between = np.sqrt(n[:-1] * n[1:])
                axis.vlines(between, fit["local_slope_low"], fit["local_slope_high"], color=colour, lw=0.8, alpha=0.5)
                axis.plot(between, fit["local_slope"], "o-", ms=2.5, lw=1, color=colour)
            axis.set(title=f"{name}, {title}")
            plain_log(axis, most=4)
        row[0].set(ylabel=r"$\beta$ between neighbours")
    for axis in axes[1]:
        axis.set(xlabel="tokens $n$")
    for horizon, colour in colours.items():
        axes[0, 0].plot([], [], "o-", ms=2.5, lw=1, color=colour, label=f"$H$ = {horizon:g}")
    legend_below(figure, axes[0, 0].get_legend_handles_labels()[0], 6)
    return figure


def gaussian_protocol(rates: xr.Dataset) -> Figure:
    """What a finite reference in place of the limit does to the rate, with the same samples, and what it should do."""
    rates = rates.sel(part="error")
    exact, tokens = rates["exact"].values, rates.attrs["reference_tokens"]
    ratio = float(rates["horizon_published"][0] / rates["horizon"][0])  # the same at every scale
    figure, axes = plt.subplots(1, 2, figsize=(WIDTH, 3.6), sharey=True, layout="constrained")

    for (statistic, name), axis in zip(NAMES.items(), axes, strict=True):
        fits = rates.sel(statistic=statistic)
        draw_predictions(axis, fits["horizon"].values)
        pairs = [fits.isel(setting=exact), fits.isel(setting=~exact)]
        draw_rates(axis, pairs[0], COLOURS[statistic], "o", "to the exact limit, mean")
        draw_rates(axis, pairs[1], FINITE, "s", f"to {tokens:,} tokens instead")
        if statistic == "mean":  # the covariance has a bias that sample and reference share
            beta = pairs[0]["beta"].values
            expected = beta - [reference_change(each, rates["n"].values, tokens) for each in beta]
            label = "predicted for these: errors of\nboth add in quadrature"
            order = np.argsort(pairs[0]["horizon"].values)
            axis.plot(pairs[0]["horizon"][order], expected[order], color="black", lw=1.3, zorder=4, label=label)
        axis.set(title=name)
        horizon_axis(axis, f"horizon $H$ (as published, without $1/\\sqrt{{d}}$: × {ratio:.2g})")
    axes[0].set(ylabel=r"rate $\beta$", ylim=(0, None))
    handles = [
        *axes[0].get_legend_handles_labels()[0],
        hollow_key(),
        dot(COLOURS["cov"], "to the exact limit, covariance"),
    ]
    legend_below(figure, handles, 3, columnspacing=1)
    return figure


def gaussian_asymptotic(rates: xr.Dataset) -> Figure:
    """Rates and errors on 1e6 to 1e10 Gaussian tokens in d = 1."""
    rates = rates.sel(part="error")
    n = rates["n"].values
    moved = max(float(rates[f"{name}_discretisation"].max()) for name in NAMES)
    note = f"the same tokens in bins twice as wide: no average error moves by more than {moved:.1%}"
    colours = sns.color_palette("viridis_r", rates.sizes["setting"])
    figure, (left, *right) = plt.subplots(1, 3, figsize=(WIDTH, 3.4), layout="constrained")

    draw_predictions(left, rates["horizon"].values)
    for statistic, marker in zip(NAMES, "os", strict=True):
        fits = rates.sel(statistic=statistic)
        draw_rates(left, fits, COLOURS[statistic], marker, NAMES[statistic])
    left.set(ylabel=r"rate $\beta$", title="rate", ylim=(0, None))
    horizon_axis(left)

    for axis, (statistic, name) in zip(right, NAMES.items(), strict=True):
        for number, colour in zip(rates["setting"].values, colours, strict=True):
            fit = rates.sel(statistic=statistic, setting=number)
            scale, label = float(fit["limit_scale"]), f"$H$ = {float(fit['horizon']):g}"
            axis.errorbar(
                n, fit["value"] / scale, 1.96 * fit["value_se"] / scale, fmt="o", ms=2.5, color=colour, label=label
            )
            axis.plot(
                n, np.exp(float(fit["intercept"])) * n ** -float(fit["beta"]) / scale, color=colour, lw=0.8, ls="--"
            )
        axis.set(xlabel="tokens $n$", title=f"{name} error, relative")
        plain_log(axis, "xy")
    pairs = [axis.get_legend_handles_labels() for axis in (left, right[0])]
    handles, labels = (sum((list(pair[side]) for pair in pairs), []) for side in (0, 1))
    handles.insert(5, hollow_key())  # below mean and covariance
    labels.insert(5, hollow_key().get_label())
    close: Looks = {"columnspacing": 1.2, "handletextpad": 0.5, "handlelength": 1.6, "fontsize": 8, "title_fontsize": 8}
    figure.legend(handles, labels, loc="outside lower center", ncol=5, title=note, **close)
    return figure
