"""Figures of question next_token."""

import matplotlib.pyplot as plt
import xarray as xr
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from attnlimit.drawing.key_style import COLOURS, MARKERS, NAMES, key_axis
from attnlimit.drawing.panels import subject
from attnlimit.drawing.style import PARAMETRIC, WIDTH
from attnlimit.stats.estimate import Estimate

PANELS = {
    "divergence": "divergence from dense",
    "agreement": "agreement of the first choice",
    "perplexity": "perplexity",
}


def next_token(fits: xr.Dataset) -> Figure:
    """The next token when every layer reads some keys: divergence from the dense model, agreement, perplexity."""
    figure, axes = plt.subplots(1, len(PANELS), figsize=(WIDTH, 3.2), layout="constrained")
    for axis, (quantity, words) in zip(axes, PANELS.items(), strict=True):
        for place, name in enumerate(fits["protocol"].values.tolist()):
            middle, low, high = Estimate.of(fits, quantity, protocol=name)
            budget = fits["budget"].sel(protocol=name).values * 1.03**place
            axis.vlines(budget, low, high, color=COLOURS[name], lw=1)
            axis.plot(budget, middle, color=COLOURS[name], marker=MARKERS[name], ms=4.5, lw=1.2, label=NAMES[name])
        key_axis(axis)
        axis.set_xlabel("keys that a query reads")
        axis.set_title(words, loc="left")
    axes[1].set_ylim(0, 1)
    for axis in (axes[0], axes[2]):
        axis.set_yscale("log")
        axis.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.yaxis.set_minor_formatter(NullFormatter())
    axes[2].axhline(float(fits["dense_perplexity"]), color=PARAMETRIC, lw=1, ls=":", label="dense model")
    handles = axes[2].get_legend_handles_labels()[0]
    figure.legend(handles=handles, loc="outside lower center", ncol=3, fontsize=8)
    context, windows = fits.attrs["context"], fits.attrs["windows"]
    figure.suptitle(f"{subject(fits.attrs)}\n{windows} windows, last half of {context:,}", fontsize=9)
    return figure
