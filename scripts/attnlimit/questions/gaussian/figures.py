"""Figures of question gaussian."""

import matplotlib.pyplot as plt
import numpy as np
import seaborn as sns
import xarray as xr
from matplotlib.figure import Figure
from matplotlib.legend_handler import HandlerTuple

from attnlimit.drawing.panels import draw_predictions, draw_rates, hollow_key, plain_log
from attnlimit.drawing.style import BOUND, COLOURS, NAMES, PALETTE, PARAMETRIC, WIDTH, Looks, layer_colours
from attnlimit.theory.bounds import predictions

TICKS = {"_": ("bound_v1_experiment", "1/(2(1+Ψ))"), "x": ("bound_v1_theorem", "1/(2(1+32Ψ))")}
FINITE = PALETTE[4]


def gaussian_beta_vs_horizon(rates: xr.Dataset) -> Figure:
    """Rate against horizon for Gaussian tokens, by dimension, isotropic and not."""
    rates = rates.sel(part="error")
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
                theorem, label = (
                    predictions(drawn, drawn**2)["bound_v1_theorem"],
                    "1/(2(1+32Ψ)), lower bound (v1), Ψ = H²",
                )
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
    return figure


def gaussian_local_slopes(rates: xr.Dataset, counted: xr.Dataset) -> Figure:
    """Slopes between neighbouring sizes, isotropic Gaussian tokens: where a rate is one, and where it still moves."""
    rates, counted = (each.sel(part="error") for each in (rates, counted))
    rates = rates.isel(setting=(rates["constant_tilt"] == 0).values)
    dimension, isotropic = rates["dimension"].values, rates["isotropic"].values
    largest = np.unique(dimension)[-2:]  # below, the replicates are too few for slopes between neighbours
    columns = {"d = 1, from counts": counted}
    columns |= {f"d = {d}": rates.isel(setting=(dimension == d) & isotropic) for d in largest}
    horizons = np.unique(np.concatenate([column["horizon"].values.round(9) for column in columns.values()]))
    colours = dict(zip(horizons, sns.color_palette("viridis_r", len(horizons)), strict=True))
    figure, axes = plt.subplots(
        2, len(columns), figsize=(WIDTH, 4.6), sharex="col", sharey=True, squeeze=False, layout="constrained"
    )

    for row, (statistic, name) in zip(axes, NAMES.items(), strict=True):
        for axis, (title, column) in zip(row, columns.items(), strict=True):
            n = column["n"].values.astype(float)  # the product of two sizes may exceed an integer
            axis.axhline(0.5, color=PARAMETRIC, lw=1, ls=":", label="1/2, parametric")
            for number in column["setting"].values:
                fit = column.sel(setting=number, statistic=statistic)
                colour = colours[float(fit["horizon"].round(9))]
                between = np.sqrt(n[:-1] * n[1:])
                axis.vlines(between, fit["local_slope_low"], fit["local_slope_high"], color=colour, lw=0.8, alpha=0.5)
                axis.plot(between, fit["local_slope"], "o-", ms=2.5, lw=1, color=colour)
            axis.set(title=f"{name}, {title}")
            plain_log(axis)
        row[0].set(ylabel=r"$\beta$ between neighbours")
    for axis in axes[1]:
        axis.set(xlabel="tokens $n$")
    for horizon, colour in colours.items():
        axes[0, 0].plot([], [], "o-", ms=2.5, lw=1, color=colour, label=f"H = {horizon:g}")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncol=6, fontsize=8)
    return figure


def gaussian_protocol(rates: xr.Dataset) -> Figure:
    """What a finite reference in place of the limit does to the rate, with the same samples."""
    rates = rates.sel(part="error")
    exact = rates["exact"].values
    ratio = float(rates["horizon_published"][0] / rates["horizon"][0])  # the same at every scale
    figure, axes = plt.subplots(1, 2, figsize=(WIDTH, 3.4), sharey=True, layout="constrained")

    for (statistic, name), axis in zip(NAMES.items(), axes, strict=True):
        fits = rates.sel(statistic=statistic)
        draw_predictions(axis, fits["horizon"].values)
        pairs = [fits.isel(setting=exact), fits.isel(setting=~exact)]
        if exact.any() and not exact.all():
            axis.vlines(pairs[0]["horizon"], pairs[0]["beta"], pairs[1]["beta"], color="0.6", lw=0.8)
        draw_rates(axis, pairs[0], COLOURS[statistic], "o", "against the closed form")
        draw_rates(axis, pairs[1], FINITE, "s", f"against {rates.attrs['reference_tokens']} tokens")
        axis.set(xscale="log", title=name, xlabel="horizon $H$, with the softmax scale 1/√$d$")
        published = axis.secondary_xaxis("top", functions=(lambda h: h * ratio, lambda h: h / ratio))
        published.set_xlabel("$H$ without 1/√$d$, as published", fontsize=8)
    axes[0].set(ylabel=r"rate $\beta$", ylim=(0, None))
    handles, labels = axes[0].get_legend_handles_labels()
    both = tuple(
        axis.get_legend_handles_labels()[0][3] for axis in axes
    )  # the closed form is in the colour of the panel
    handles[3] = both
    pair: Looks = {"handler_map": {tuple: HandlerTuple(ndivide=None)}, "loc": "outside lower center", "ncol": 3}
    figure.legend(handles=[*handles, hollow_key()], labels=[*labels, hollow_key().get_label()], fontsize=8, **pair)
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
    left.set(xscale="log", xlabel="horizon $H$", ylabel=r"rate $\beta$", title="rate", ylim=(0, None))
    left.set_xticks([0.3, 0.5, 1, 2, 3], ["0.3", "0.5", "1", "2", "3"])
    left.minorticks_off()

    for axis, (statistic, name) in zip(right, NAMES.items(), strict=True):
        for number, colour in zip(rates["setting"].values, colours, strict=True):
            fit = rates.sel(statistic=statistic, setting=number)
            scale, label = float(fit["limit_scale"]), f"H = {float(fit['horizon']):g}"
            axis.errorbar(
                n, fit["value"] / scale, 1.96 * fit["value_se"] / scale, fmt="o", ms=2.5, color=colour, label=label
            )
            axis.plot(
                n, np.exp(float(fit["intercept"])) * n ** -float(fit["beta"]) / scale, color=colour, lw=0.8, ls="--"
            )
        axis.set(xscale="log", yscale="log", xlabel="tokens $n$", title=f"{name} error, relative")
    pairs = [axis.get_legend_handles_labels() for axis in (left, right[0])]
    handles, labels = (sum((list(pair[side]) for pair in pairs), []) for side in (0, 1))
    handles.insert(5, hollow_key())  # below mean and covariance
    labels.insert(5, hollow_key().get_label())
    close: Looks = {"columnspacing": 1.2, "handletextpad": 0.5, "handlelength": 1.6, "fontsize": 8, "title_fontsize": 8}
    figure.legend(handles, labels, loc="outside lower center", ncol=5, title=note, **close)
    return figure
