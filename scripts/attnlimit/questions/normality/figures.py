"""Figures of question normality."""

import matplotlib.pyplot as plt
import xarray as xr
from matplotlib.figure import Figure

from attnlimit.drawing.panels import dot, legend_below, plain, plain_log
from attnlimit.drawing.style import BOUND, PARAMETRIC, WIDTH, layer_colours


def normality(data: xr.Dataset) -> Figure:
    """Attention at one query: quantiles against the normal's, variance over its limit, coverage of the plug-in."""
    along, across = (data.sel(coordinate=name) for name in ("along", "across"))
    tilts, n, level = data["tilt"].values, data["n"].values, data.attrs["level"]
    colours = layer_colours(range(len(tilts)))
    figure, (quantiles, ratios, by_carriers) = plt.subplots(1, 3, figsize=(WIDTH, 3.6), layout="constrained")

    for tilt in (len(tilts) // 3, 2 * len(tilts) // 3):
        for size, face in ((0, "white"), (-1, colours[tilt])):
            quantile = along["error_quantile"].isel(setting=tilt, n=size)
            style = {"ms": 3, "mew": 0.6, "mfc": face, "color": colours[tilt]}
            quantiles.plot(data["normal_quantile"], quantile, "o", **style)
    quantiles.axline((0, 0), slope=1, color=PARAMETRIC, lw=1, ls=":")
    quantiles.set(title="error along the tilt:\nnormal at large $n$", xlabel="normal quantile")
    quantiles.set(ylabel="quantile, over the limiting deviation")

    for setting, colour in colours.items():
        mine, beside = along.isel(setting=setting), across.isel(setting=setting)
        bars = {"capsize": 1.5, "color": colour, "ms": 3.5, "lw": 0.9, "elinewidth": 0.8}
        label = f"$|t|$ = {tilts[setting]:g}"
        ratios.errorbar(n, mine["variance_ratio"], 1.96 * mine["variance_ratio_se"], marker="o", label=label, **bars)
        for part, marker, face in ((mine, "o", colour), (beside, "^", "white")):
            by_carriers.errorbar(
                part["carriers"], part["coverage"], 1.96 * part["coverage_se"], marker=marker, mfc=face, **bars
            )

    ratios.axhline(1, color=PARAMETRIC, lw=1, ls=":")
    ratios.set(title="its variance reaches its limit,\nlater for a large tilt", xlabel="tokens $n$")
    ratios.set_ylabel(r"$n\,\mathrm{Var}(\Gamma_n)$, over its limit")
    plain_log(ratios, most=4)
    by_carriers.axhline(level, color=PARAMETRIC, lw=1, ls=":")
    by_carriers.set(title=f"the {level:.0%} interval covers\nonce many tokens carry it")
    by_carriers.set(xlabel="tokens that carry it", ylabel="coverage")
    plain_log(by_carriers, most=4)
    handles = ratios.get_legend_handles_labels()[0]
    handles += [dot(BOUND, f"left: $n$ = {n[0]:,}", mfc="white"), dot(BOUND, f"left: $n$ = {plain(n[-1])}")]
    handles += [dot(BOUND, "right: along the tilt"), dot(BOUND, "right: across", "^", mfc="white")]
    legend_below(figure, handles, 5)
    return figure
