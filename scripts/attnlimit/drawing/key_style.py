"""How figures show the ways in which a query reads some keys of its context."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from attnlimit.drawing.style import PALETTE

NAMES = {
    "uniform": "uniform sample",
    "sink": "first key, and a sample",
    "recent": "last keys, and a sample",
    "sink_recent": "first and last, and a sample",
    "heavy_recent": "heavy and last, and a sample",
    "reservoir": "first and last, carried sample",
    "window": "plain window",
    "sink_window": "window with the first key",
    "top": "largest weights",
}
COLOURS = dict(zip(NAMES, [PALETTE[place] for place in (7, 1, 4, 0, 2, 9, 3, 5, 6)], strict=True))
MARKERS = dict(zip(NAMES, "osD^vPXp*", strict=True))


def key_axis(axis: Axes, horizontal: bool = True, values: np.ndarray | None = None) -> None:
    """Numbers of keys on a logarithmic axis, as plain numbers; at these values, or at powers of ten."""
    side = axis.xaxis if horizontal else axis.yaxis
    (axis.set_xscale if horizontal else axis.set_yscale)("log")
    if values is None:
        side.set_major_locator(LogLocator(numticks=12))
    else:
        side.set_ticks(values)
    side.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:g}"))
    side.set_minor_formatter(NullFormatter())
