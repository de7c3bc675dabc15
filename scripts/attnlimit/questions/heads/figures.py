"""Figures of question heads."""

import matplotlib.pyplot as plt
import numpy as np
import seaborn as sns
import xarray as xr
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from attnlimit.base.coordinates import WHOLE_LAYER, heads_only, whole_layer
from attnlimit.drawing.panels import (
    COLUMNS,
    dot,
    draw_predictions,
    draw_rates,
    hollow,
    hollow_key,
    hollow_words,
    horizon_axis,
    layer_panels,
    legend_below,
    plain_log,
    subject,
)
from attnlimit.drawing.style import BOUND, COLOURS, COUPLING, DIVERGING, NAMES, PARAMETRIC, WIDTH, Looks, layer_colours
from attnlimit.stats.complexity import BEYOND
from attnlimit.stats.estimate import Estimate

CONTEXTS = {512: "512", 4096: "4k", 131072: "128k"}  # context lengths to compare with
PALE = 0.4  # opacity of what is extrapolated; hollow would say that a rate is no exponent
LINE = 1.6  # between two lines of text, on a logarithmic axis
LOWEST, HIGHEST = -0.25, 1.25  # shown at most: few replicates give wilder steps, and rates would be hard to read
SHAPES = {"error": ("-", None), "fluctuation": ("none", "o"), "bias": ("none", "s")}


def beta_vs_horizon(rates: xr.Dataset, gaussian: xr.Dataset | None = None, counted: xr.Dataset | None = None) -> Figure:
    """Rate against horizon: the heads of a real model, with the paper's bound and our heuristic.

    Beside them, if the run has the simulations: Gaussian tokens.
    """
    heads = heads_only(rates).stack(row=("layer", "head"))
    simulated: dict[str, xr.Dataset] = {}
    if gaussian is not None and counted is not None:
        drawn = gaussian.isel(setting=(gaussian["constant_tilt"] == 0).values)
        dimension, isotropic = drawn["dimension"].values, drawn["isotropic"].values
        simulated = {"right: $d$ = 1, $n$ to $10^{10}$": counted}
        simulated |= {
            f"right: $d$ = {d}": drawn.isel(setting=(dimension == d) & isotropic) for d in np.unique(dimension)[-2:]
        }
    markers = dict(zip(simulated, "oD^", strict=False))
    horizon = np.concatenate([data["horizon"].values for data in (heads, *simulated.values())])
    shape, height = ((len(NAMES), 2), 4.9) if simulated else ((1, len(NAMES)), 3.0)
    size: Looks = {"figsize": (WIDTH, height), "sharex": True, "sharey": True, "squeeze": False}
    figure, axes = plt.subplots(*shape, layout="constrained", **size)
    of_heads, of_tokens = axes.T if simulated else (axes[0], [])  # panels by statistic

    strongest = heads.isel(row=int(heads["horizon"].argmax("row")))
    note = f"layer {int(strongest['layer'])},\nhead {int(strongest['head'])}"
    for number, (statistic, name) in enumerate(NAMES.items()):
        chosen = {"statistic": statistic, "part": "error"}
        for panel in (of_heads[number], *of_tokens[number : number + 1]):
            draw_predictions(panel, horizon)
            horizon_axis(panel, "horizon $H$" if number or not simulated else "")
        draw_rates(of_heads[number], heads.sel(chosen), COLOURS[statistic], "o", "one head")
        for label, data in simulated.items():
            draw_rates(of_tokens[number], data.sel(chosen), COLOURS[statistic], markers[label], label)
        of_heads[number].set(ylabel=rf"rate $\beta$ of the {name}")
        where = (float(strongest["horizon"]), float(strongest["beta"].sel(chosen)))
        looks: Looks = {"ha": "center", "va": "bottom", "fontsize": 7, "color": BOUND}
        of_heads[number].annotate(note, where, (0, 5), textcoords="offset points", **looks)
    for panel in (of_heads[0], *of_tokens[:1]):
        words = "below the bound,\nwhich is for $n\\to\\infty$"
        panel.text(horizon.min(), 0.3, words, fontsize=7, va="top", color=BOUND)
    of_heads[0].set(ylim=(0, None))
    title = f"{heads.sizes['row']} heads of {subject(heads.attrs)}"
    if simulated:
        of_heads[0].set(title=title.replace(" on ", "\non "))
        of_tokens[0].set(title="simulated Gaussian tokens,\nlimit known exactly")
    else:
        figure.suptitle(title, fontsize=9)
    handles, _ = of_heads[0].get_legend_handles_labels()
    shapes = [dot(BOUND, label, marker) for label, marker in markers.items()]
    legend_below(figure, [*handles[:3], hollow_key(heads), *shapes], 2, columnspacing=3)
    return figure


def percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def token_complexity(rates: xr.Dataset, first_order: xr.Dataset | None = None) -> Figure:
    """Tokens needed until the error is a share of its scale: every head, sorted, for the mean and the covariance."""
    rates = heads_only(rates)
    if first_order is not None:
        first = heads_only(first_order)
        rates = rates.assign(tokens_predicted=first["tokens_predicted"].where(~first["few_tokens"]))
    n = rates["n"].values
    heads = rates.stack(row=("layer", "head"))
    shares = sorted(rates["eps"].values, reverse=True)
    colours = dict(zip(shares, layer_colours(range(len(shares) + 1)).values(), strict=False))  # the last is too light
    most = BEYOND * n[-1]
    above = max(most, *CONTEXTS)  # what no error reaches is counted there, in words
    figure, axes = plt.subplots(1, len(NAMES), figsize=(WIDTH, 4.0), sharey=True, layout="constrained")

    for axis, (statistic, name) in zip(axes, NAMES.items(), strict=True):
        for number, share in enumerate(shares):
            data = heads.sel(statistic=statistic, eps=share)
            data = data.isel(row=np.argsort(data["tokens_needed"].values, kind="stable"))
            tokens, low, high = Estimate.of(data, "tokens_needed")
            place, reached = np.arange(1, len(tokens) + 1), np.isfinite(tokens)
            beyond_sizes = data["tokens_needed_extrapolated"].values[reached]
            style = {"color": colours[share], "lw": 0.7, "alpha": 0.5}
            axis.vlines(place[reached], low[reached], np.minimum(high[reached], most), **style)
            faces = [(*colours[share], PALE if extrapolated else 1) for extrapolated in beyond_sizes]
            axis.scatter(place[reached], tokens[reached], s=10, c=faces, lw=0, zorder=3)
            if first_order is not None:
                predicted = data["tokens_predicted"].values
                style = {"marker": "_", "color": "black", "s": 12, "lw": 0.7, "zorder": 4}
                axis.scatter(place[predicted <= most], predicted[predicted <= most], **style)
            if not reached.all():
                words = f"{percent(share)}: {(~reached).sum()} of {len(tokens)} heads need more than {most:,}"
                height = above * LINE ** (len(shares) - number - 0.7)
                axis.text(len(tokens), height, words, color=colours[share], fontsize=7, ha="right", va="bottom")
        for length, label in CONTEXTS.items():
            axis.axhline(length, color=PARAMETRIC, lw=0.8, ls=":", zorder=0)
            if axis is axes[-1]:
                beside: Looks = {
                    "transform": axis.get_yaxis_transform(),
                    "va": "center",
                    "fontsize": 7,
                    "color": "0.35",
                }
                axis.text(1.01, length, label, **beside)
        axis.axhspan(n[-1], most, color="0.5", alpha=0.08, lw=0)
        plain_log(axis, "y")
        axis.set(
            title=f"{name} of the head's output",
            xlabel="heads, sorted for each share",
            xlim=(-1, heads.sizes["row"] + 2),
        )
    axes[0].set(ylabel=r"tokens needed, $n(\varepsilon)$", ylim=(None, above * LINE ** (len(shares) + 0.5)))
    handles = [dot(colours[share], f"error at most {percent(share)} of its scale", size=4) for share in shares]
    handles += [dot(BOUND, "pale: extrapolated (grey band)", size=4, alpha=PALE)]
    if first_order is not None:
        handles += [dot("black", "predicted by first order", "_", 5)]
    handles += [plt.Line2D([], [], color=PARAMETRIC, lw=0.8, ls=":", label="common context lengths")]
    legend_below(figure, handles, 2)
    figure.suptitle(subject(rates.attrs), fontsize=9)
    return figure


def convergence(rates: xr.Dataset, first_order: xr.Dataset | None = None) -> Figure:
    """Error against n, one panel a layer: heads thin, the whole layer with its fit."""
    rates = rates.sel(part="error")
    relative = rates["value"] / rates["limit_scale"]
    lowest = relative.min("head")
    layers, n = rates["layer"].values, rates["n"].values
    figure, panels = layer_panels(layers, 2.3)

    for layer, axis in panels.items():
        for name, colour in COLOURS.items():
            data = rates.sel(layer=layer, statistic=name)
            heads = heads_only(relative).sel(layer=layer, statistic=name)
            axis.plot(n, heads.values.T, color=colour, alpha=0.35, lw=0.6)
            whole = whole_layer(data)
            scale, beta = float(whole["limit_scale"]), float(whole["beta"])
            face = "white" if hollow(whole) else colour
            style = {"color": colour, "mfc": face, "ms": 3.5, "capsize": 1.5}
            label = rf"{NAMES[name]}, $\beta$ = {beta:.2f}"
            axis.errorbar(n, whole["value"] / scale, 1.96 * whole["value_se"] / scale, fmt="o", label=label, **style)
            fitted = np.exp(float(whole["intercept"])) * n**-beta / scale
            axis.plot(n, fitted, color=colour, lw=1, ls="--")
            if first_order is not None:
                expected = (first_order["predicted"] / first_order["limit_scale"]).where(~first_order["few_tokens"])
                expected = expected.sel(layer=layer, statistic=name)
                axis.plot(n, heads_only(expected).transpose("n", "head"), color="black", alpha=0.35, lw=0.5, ls="-.")
                axis.plot(n, whole_layer(expected), color="black", lw=0.9)
        slowest = heads_only(relative).sel(layer=layer, statistic="cov").isel(n=0).max()
        top = 1.4 * float(slowest)
        axis.plot(n, top * (n / n[0]) ** -0.5, color=PARAMETRIC, lw=1, ls=":")
        axis.text(n[-1], top * (n[-1] / n[0]) ** -0.5 * 2.4, "slope −1/2", color=PARAMETRIC, ha="right", fontsize=7)
        axis.set(title=f"layer {layer}")
        plain_log(axis, "xy", 4)
        axis.legend(loc="lower left", handletextpad=0.2)
    axis.set_ylim(bottom=0.12 * float(lowest.sel(statistic=list(COLOURS)).min()))  # room for the legends
    figure.supxlabel("tokens $n$", fontsize=9)
    figure.supylabel("distance to the limit, relative", fontsize=9)
    words = "\nblack: predicted by first order, nothing fitted" if first_order is not None else ""
    figure.suptitle(f"{subject(rates.attrs)}; ○: {hollow_words(rates)}{words}", fontsize=9)
    return figure


def heat_map(rates: xr.Dataset) -> Figure:
    """Rates and horizons of a model's heads, layer by head; circles mark rates that are no exponent."""
    rates = rates.sel(part="error")
    layers = rates["layer"].values
    columns = ["all" if head == WHOLE_LAYER else str(head) for head in rates["head"].values]
    ROW = 0.22  # inches
    height = 0.55 + ROW * len(layers)  # of one map
    figure, axes = plt.subplots(len(NAMES) + 1, 1, figsize=(WIDTH, 3 * height), layout="constrained")

    def short(number: float) -> str:
        """About two digits: thirteen must stand side by side."""
        return f"{number:.{2 if number < 1 else 1 if number < 10 else 0}f}"

    def draw_map(axis, data, title, ticks, **colours):
        numbers = np.array([[short(number) for number in row] for row in data])
        looks = {"annot": numbers, "fmt": "", "annot_kws": {"fontsize": 7.5}, "linewidths": 0.6}
        bar = {"pad": 0.01, "aspect": ROW * len(layers) / 0.12}  # as wide with few layers as with many
        sns.heatmap(data, ax=axis, xticklabels=columns, yticklabels=layers, cbar_kws=bar, **looks, **colours)
        scale = axis.collections[0].colorbar
        shown = ticks if len(layers) > 1 else ticks[::2]  # three do not stand over each other beside one layer
        scale.set_ticks(shown, labels=[short(tick) if tick else "0" for tick in shown])
        scale.minorticks_off()
        axis.set(ylabel="layer")
        axis.set_title(title, loc="left")
        axis.tick_params(length=0)
        axis.tick_params(axis="y", rotation=0)

    for axis, (statistic, name) in zip(axes, NAMES.items(), strict=False):
        fits = rates.sel(statistic=statistic)
        draw_map(
            axis,
            fits["beta"].values,
            rf"$\beta$ of the {name}; ○: {hollow_words(fits)}",
            [0, 0.5, 1],
            cmap=DIVERGING,
            vmin=0,
            center=0.5,
            vmax=1,
        )
        row, column = np.nonzero(hollow(fits).values)
        axis.scatter(column + 0.88, row + 0.22, s=11, facecolors="white", edgecolors="black", linewidths=0.7)
    low, high = float(rates["horizon"].min()), float(rates["horizon"].max())
    draw_map(
        axes[-1],
        rates["horizon"].values,
        "horizon $H$",
        [low, (low * high) ** 0.5, high],
        cmap=COUPLING,
        norm=LogNorm(),
    )
    axes[-1].set(xlabel="head")
    figure.suptitle(subject(rates.attrs), fontsize=9)
    return figure


def local_slopes(rates: xr.Dataset) -> Figure:
    """Beta between neighbouring sizes, one panel a layer: heads thin, the whole layer with its intervals."""
    rates = rates.sel(part="error")
    n = rates["n"].values
    between = np.sqrt(n[:-1] * n[1:])
    figure, panels = layer_panels(rates["layer"].values, 2.1)

    for layer, axis in panels.items():
        axis.axhline(0.5, color=PARAMETRIC, lw=1, ls=":", label="1/2, as an average has")
        for (statistic, colour), aside in zip(COLOURS.items(), (0.97, 1.03), strict=True):
            data = rates.sel(layer=layer, statistic=statistic)
            axis.plot(between, heads_only(data["local_slope"]).values.T, color=colour, alpha=0.3, lw=0.6)
            whole = whole_layer(data)
            x = between * aside  # so that the intervals do not hide each other
            axis.vlines(x, whole["local_slope_low"], whole["local_slope_high"], color=colour, lw=1.2)
            axis.plot(x, whole["local_slope"], "o", ms=3.5, color=colour, label=f"{NAMES[statistic]}, whole layer")
        axis.set(title=f"layer {layer}")
        plain_log(axis, most=4)
    if rates.attrs.get("nested"):
        middle = heads_only(rates["local_slope"].sel(statistic="mean")).median("head")  # (layer, interval)
        row, place = np.unravel_index(np.abs(middle.values - 0.5).argmax(), middle.shape)
        layer = int(middle["layer"][row])
        words = "all heads and all $n$ of a layer\nshare their draws: one slope too\nhigh, its neighbours too low"
        looks: Looks = {"fontsize": 7, "ha": "center", "va": "bottom"}
        looks["arrowprops"] = {"arrowstyle": "-", "color": "0.4", "lw": 0.8}
        top = float(heads_only(rates["local_slope"]).sel(layer=layer).isel(interval=place).max())
        where = (between[place], min(top, HIGHEST))
        panels[layer].annotate(words, where, (0.5, 0.02), textcoords="axes fraction", **looks)
    bottom, top = axis.get_ylim()
    axis.set_ylim(max(bottom, LOWEST), min(top, HIGHEST))
    for last in list(panels.values())[-COLUMNS:]:
        last.set_xlabel("tokens $n$")  # a label of the figure would lie on the legend
    figure.supylabel(r"$\beta$ between neighbouring $n$", fontsize=9)
    legend_below(figure, axis.get_legend_handles_labels()[0], 3)
    figure.suptitle(subject(rates.attrs), fontsize=9)
    return figure


def bias_fluctuation(rates: xr.Dataset) -> Figure:
    """Bias and fluctuation of the error against n, for the heads of smallest, median and largest horizon."""
    rates = heads_only(rates)
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
                label = rf"{part}, $\beta$ = {float(curve['beta']):.2f}" if fitted else f"{part} below its noise floor"
                looks = {"color": colour, "mfc": face, "ms": 3.5, "lw": 0.9, "capsize": 1.5, "elinewidth": 0.8}
                axis.errorbar(n, curve["value"] / scale, bars, ls=line, marker=marker, label=label, **looks)
            plain_log(axis, "xy", 4)
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
    legend_below(figure, [*handles[:3], hollow_key(rates)], 4)
    figure.suptitle(subject(rates.attrs), fontsize=9)
    return figure
