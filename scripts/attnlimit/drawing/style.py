"""One visual language for all figures: colours, theme, shared parts, and saving the same bytes every time."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import seaborn as sns
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from attnlimit.base.files import atomic
from attnlimit.base.job import QUICK_LOOK

Looks = dict[str, Any]  # keyword arguments of matplotlib
PALETTE = sns.color_palette("colorblind")
COLOURS = {"mean": PALETTE[0], "cov": PALETTE[3]}
NAMES = {"mean": "mean", "cov": "covariance"}
BOUND, HEURISTIC, PARAMETRIC = "0.25", PALETTE[2], "0.55"
DIVERGING, COUPLING = "vlag_r", "mako_r"  # of a rate around 1/2, red for slow; of a horizon
WIDTH = 7.0  # inches: two columns of a paper
METADATA = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}}


def set_theme() -> None:
    matplotlib.use("agg")
    sns.set_theme(context="paper", style="ticks", font="DejaVu Sans")
    plt.rcParams.update(
        {
            "svg.hashsalt": "attnlimit",  # without it, svg identifiers change from run to run
            "svg.fonttype": "none",
            "pdf.fonttype": 42,
            "savefig.dpi": 200,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "legend.frameon": False,
            "axes.titlesize": 9,
            "axes.labelsize": 9,
            "legend.fontsize": 8,
            "xtick.labelsize": 8,
            "ytick.labelsize": 8,
        }
    )


def layer_colours(layers) -> dict[int, tuple]:
    """From early to late in one colour-blind safe ramp."""
    return dict(zip(map(int, layers), sns.color_palette("viridis", len(layers)), strict=True))


def css(colour) -> str:
    """A colour as pages write it, #rrggbb."""
    return to_hex(colour)


def save(figures: Mapping[str, Figure], paths: Iterable[str], quick_look: bool = False) -> None:
    """Write figures to the files of their names, dates left out, so that the same data give the same bytes.

    A quick look is marked as one in its title.
    """
    for figure in figures.values():
        if quick_look:
            figure.suptitle("\n".join(filter(None, (QUICK_LOOK, figure.get_suptitle()))), fontsize=9)
        figure.draw_without_rendering()  # the layout, once for all formats: it costs as much as a drawing
        figure.set_layout_engine(None)  # None: any layout engine would lay out each format again
    for path in map(Path, paths):
        kind = path.suffix[1:]
        with atomic(path) as temporary:
            figures[path.stem].savefig(temporary, format=kind, metadata=METADATA[kind])
