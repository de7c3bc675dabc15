"""One visual language for all figures: colours, theme, shared parts, and saving the same bytes every time."""

from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from attnlimit.files import atomic
from attnlimit.report.quick_look import QUICK_LOOK

# Seaborn's colours and its theme "ticks" for a paper, spelled out: seaborn takes a second to import, in every job.
CODES = "0173b2 de8f05 029e73 d55e00 cc78bc ca9161 fbafe4 949494 ece133 56b4e9"
PALETTE = [to_rgb(f"#{code}") for code in CODES.split()]
COLOURS = {"mean": PALETTE[0], "cov": PALETTE[3]}
NAMES = {"mean": "mean", "cov": "covariance"}
BOUND, HEURISTIC, PARAMETRIC = "0.25", PALETTE[2], "0.55"
DIVERGING, COUPLING = "vlag_r", "mako_r"  # of a rate around 1/2, red for slow; of a horizon; both are seaborn's
INK = ".15"
SCALE = 0.8  # of a paper
WIDTH = 7.0  # inches: two columns of a paper
METADATA = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}}


def set_theme() -> None:
    matplotlib.use("agg")
    inked = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
    theme: dict[Any, Any] = dict.fromkeys(inked, INK)
    for axis in ("xtick", "ytick"):
        theme |= {f"{axis}.major.size": 6 * SCALE, f"{axis}.major.width": 1.25 * SCALE}
        theme |= {f"{axis}.minor.size": 4 * SCALE, f"{axis}.minor.width": 1 * SCALE}
    plt.rcParams.update(theme)
    plt.rcParams.update(
        {
            "font.family": ["DejaVu Sans"],
            "font.size": 12 * SCALE,
            "axes.axisbelow": True,
            "axes.linewidth": 1.25 * SCALE,
            "grid.color": ".8",
            "legend.title_fontsize": 12 * SCALE,
            "lines.linewidth": 1.5 * SCALE,
            "lines.markersize": 6 * SCALE,
            "lines.solid_capstyle": "round",
            "patch.edgecolor": "w",
            "patch.force_edgecolor": True,
            "patch.linewidth": 1 * SCALE,
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


def ramp(name: str, count: int) -> list[tuple]:
    """So many colours of a colour map, evenly apart, its ends left out."""
    inner = np.linspace(0, 1, count + 2)[1:-1]
    return [tuple(map(float, colour[:3])) for colour in plt.get_cmap(name)(inner)]


def layer_colours(layers) -> dict[int, tuple]:
    """From early to late in one colour-blind safe ramp."""
    return dict(zip(map(int, layers), ramp("viridis", len(layers)), strict=True))


def save(figure: Figure, paths: dict[str, str], quick_look: bool = False) -> None:
    """Write a figure in each format, dates left out, so that the same data give the same bytes.

    A quick look is said to be one above all else.
    """
    if quick_look:
        figure.suptitle("\n".join(filter(None, (QUICK_LOOK, figure.get_suptitle()))), fontsize=9)
    figure.draw_without_rendering()  # the layout, once for all formats: it costs as much as a drawing
    figure.set_layout_engine(None)  # none: with a placeholder for one, each format would be drawn twice
    for kind, path in paths.items():
        with atomic(path) as temporary:
            figure.savefig(temporary, format=kind, metadata=METADATA[kind])
