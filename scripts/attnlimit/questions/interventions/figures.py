"""Figures of question interventions."""

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from attnlimit.base.coordinates import heads_only
from attnlimit.drawing.panels import dot, draw_predictions, hollow_key, horizon_axis, legend_below, plain_log, subject
from attnlimit.drawing.style import BOUND, COLOURS, NAMES, PARAMETRIC, WIDTH, Looks
from attnlimit.questions.interventions.fit import counted, strongest
from attnlimit.stats.estimate import Estimate

OLD = "0.6"
SHOWN = (0.15, 8.0)  # of a ratio of errors; what is beyond is drawn at the edge


def interventions(fits: xr.Dataset, level: float) -> Figure:
    """What a larger horizon does to each head: its rate before and after, constant tilt kept, on the same samples."""
    variants = fits["variant"].values[fits["alpha"].values > 1]
    largest = str(strongest(fits)["variant"].item())
    size: Looks = {"figsize": (WIDTH, 3.9), "sharex": True, "sharey": True, "layout": "constrained"}
    figure, axes = plt.subplots(1, len(NAMES), **size)

    for axis, (statistic, name) in zip(axes, NAMES.items(), strict=True):
        both = heads_only(fits.sel(statistic=statistic, part="error")).stack(row=("layer", "head"))
        old, new = both.isel(variant=0), both.sel(variant=largest)
        draw_predictions(axis, both["horizon"].values)
        x, y = (np.stack([old[what], new[what]]) for what in ("horizon", "beta"))  # (2, row)
        axis.plot(x, y, color=OLD, lw=0.5, alpha=0.3)
        axis.scatter(*(old[what] for what in ("horizon", "beta")), s=7, color=OLD, linewidths=0, zorder=3)
        axis.vlines(new["horizon"], new["beta_low"], new["beta_high"], color=[COLOURS[statistic]], lw=0.8, alpha=0.5)
        faces = [COLOURS[statistic] if known else (1, 1, 1) for known in new["slope_known"].values]
        axis.scatter(x[1], y[1], s=16, c=faces, edgecolors=[COLOURS[statistic]], linewidths=0.9, zorder=4)
        start, end = zip(np.median(x, axis=1), np.median(y, axis=1), strict=True)
        axis.annotate("", end, start, arrowprops={"arrowstyle": "-|>", "color": "black", "lw": 1.8}, zorder=6)
        changed = {each: fits.sel(statistic=statistic, part="error", variant=each) for each in variants}
        counts = [f"{shown(each)}: {counted(fit, 'beta_change', level).words}" for each, fit in changed.items()]
        axis.set_title("\n".join([name, *counts]))
        horizon_axis(axis, "horizon $H$ of the head")
    axes[0].set(ylabel=r"rate $\beta$", ylim=(0, None))
    handles = [*axes[0].get_legend_handles_labels()[0]]
    handles += [
        dot(OLD, "a head as it is", size=3),
        *(dot(COLOURS[each], f"{shown(largest)}, {NAMES[each]}") for each in NAMES),
    ]
    handles += [
        hollow_key(words="saturated"),
        Line2D([], [], color="black", lw=1.8, marker=">", ms=4, label="median head"),
    ]
    legend_below(figure, handles, 3)
    figure.suptitle(subject(fits.attrs), fontsize=9)
    return figure


def shown(variant: str) -> str:
    """A variant as titles name it."""
    return variant.replace("H x", "$H$ ×").replace("x", "×")


def interventions_tilt(fits: xr.Dataset, level: float) -> Figure:
    """What the horizon does not see: error of each head with its constant tilt changed, H kept, heads sorted."""
    variants = fits["variant"].values[fits["tilt_factor"].values != 1]
    size: Looks = {"figsize": (WIDTH, 3.7), "sharex": True, "sharey": True, "squeeze": False}
    figure, axes = plt.subplots(1, len(variants), layout="constrained", **size)

    for axis, variant in zip(axes[0], variants, strict=True):
        axis.axhline(1, color=PARAMETRIC, lw=1, ls=":")
        counts = []
        for statistic, aside in zip(NAMES, (0, 0.4), strict=True):
            one, colour = fits.sel(statistic=statistic, variant=variant), COLOURS[statistic]
            heads = heads_only(one).stack(row=("layer", "head"))
            heads = heads.isel(row=np.argsort(heads["error_change"].values, kind="stable"))
            value, low, high = Estimate.of(heads, "error_change").map(np.exp)
            x = np.arange(1, len(value) + 1) + aside
            axis.vlines(x, low, high, color=[colour], lw=0.7, alpha=0.5)
            faces = np.where(((low > 1) | (high < 1))[:, None], [(*colour, 1)], [(1, 1, 1, 1)])
            for mask, marker in (
                (value > SHOWN[1], "^"),
                (value < SHOWN[0], "v"),
                ((value >= SHOWN[0]) & (value <= SHOWN[1]), "o"),
            ):
                place = np.clip(value[mask], SHOWN[0] * 1.05, SHOWN[1] / 1.05)
                axis.scatter(
                    x[mask], place, s=13, c=faces[mask], edgecolors=[colour], linewidths=0.8, marker=marker, zorder=3
                )
            counts.append(f"{NAMES[statistic]}: {counted(one, 'error_change', level).words}")
        words = "no constant tilt (centred)" if variant == "centred" else f"constant {shown(variant)}"
        axis.set_title("\n".join([words, *counts]))
        plain_log(axis, "y", 8)
        axis.set(ylim=SHOWN, xlabel="heads, sorted")
    axes[0, 0].set_ylabel(f"error after over before, $n$ = {int(fits['n'][-1]):,}")
    handles = [dot(COLOURS[each], f"{name} of a head, with its 95 % interval") for each, name in NAMES.items()]
    handles += [
        hollow_key(words="interval contains 1"),
        Line2D([], [], color=PARAMETRIC, lw=1, ls=":", label="no change"),
    ]
    handles += [dot(BOUND, "beyond the axis", "^")]
    legend_below(figure, handles, 3)
    figure.suptitle(subject(fits.attrs), fontsize=9)
    return figure
