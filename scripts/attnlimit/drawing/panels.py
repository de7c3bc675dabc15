"""Parts that figures share: a rate against the horizon, one panel a layer."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullFormatter

from attnlimit.drawing.style import BOUND, HEURISTIC, PARAMETRIC, WIDTH
from attnlimit.sources.corpus.location import text_name
from attnlimit.theory.bounds import predictions

COLUMNS = 3  # of a figure with one panel a layer
CROWD = 100  # points from which on they are drawn small


def draw_predictions(axis: Axes, horizon: np.ndarray, power: int = 1, square: str = "H²") -> np.ndarray:
    """1/2, our heuristic and the paper's bound of v3 as curves over the range of the given horizons, returned.

    Drawn against H to a power; square is what the legend calls H².
    """
    drawn = np.geomspace(horizon.min() / 1.3, horizon.max() * 1.3, 200)
    curves = predictions(drawn, drawn**2)
    axis.axhline(0.5, color=PARAMETRIC, lw=1, ls=":", label="1/2, parametric")
    x = drawn**power
    axis.plot(
        x, curves["heuristic"], color=HEURISTIC, lw=1.2, ls="--", label=f"min(1/2, 1/(1+{square})), our heuristic"
    )
    axis.plot(x, curves["bound_v3"], color=BOUND, lw=1.2, label=f"1/(2(1+{square})), lower bound (v3)")
    axis.fill_between(x, 0, curves["bound_v3"], color=BOUND, alpha=0.08, lw=0)
    return drawn


def draw_rates(
    axis: Axes,
    fits: xr.Dataset,
    colour,
    marker: str,
    label: str,
    shift: float = 1.0,
    power: int = 1,
    against: str = "horizon",
) -> None:
    """Fits (setting,) with their intervals against H, or another coupling, to a power.

    Hollow where `hollow` says so. shift moves the points aside.
    """
    x, beta = fits[against].values ** power * shift, fits["beta"].values
    size, faint = (16, 0.6) if len(x) <= CROWD else (6, 0.25)
    axis.vlines(x, fits["beta_low"].values, fits["beta_high"].values, color=[colour], lw=0.8, alpha=faint)
    faces = [(1, 1, 1, 1) if empty else colour for empty in hollow(fits).values]
    axis.scatter(x, beta, s=size, c=faces, edgecolors=[colour], linewidths=0.9, zorder=3, marker=marker)
    axis.scatter([], [], s=16, color=[colour], marker=marker, label=label)  # a filled one for the legend


def hollow(fits: xr.Dataset) -> xr.DataArray:
    """Fits whose beta is no exponent, or not one of this limit."""
    return fits["misfit"] | fits["saturated"] | fits["limit_uncertain"]


def hollow_words(fits: xr.Dataset | None = None) -> str:
    """What hollow points mean; uncertain limits are named only where there are any."""
    uncertain = fits is not None and bool(fits["limit_uncertain"].any())
    return "no power law, saturated, or limit uncertain" if uncertain else "no power law, or saturated"


def hollow_key(fits: xr.Dataset | None = None, words: str = "") -> Line2D:
    """What the legend says of a hollow point: that its rate is no exponent, and why."""
    style: dict[str, Any] = {"marker": "o", "ls": "none", "color": BOUND, "mfc": "white", "ms": 4.5}
    return Line2D([], [], label=words or hollow_words(fits), **style)


def draw_sizes(axis: Axes, n: np.ndarray) -> None:
    """Sample sizes on a logarithmic axis; over less than a decade, three of them are named instead of powers of ten."""
    axis.set_xscale("log")
    if n[-1] < 10 * n[0]:
        axis.set_xticks([n[0], n[len(n) // 2], n[-1]], [f"{size:g}" for size in (n[0], n[len(n) // 2], n[-1])])
    axis.xaxis.set_minor_formatter(NullFormatter())  # it would name 2, 3, 4 and 6 times a power, one over the other


def layer_panels(layers: np.ndarray, height: float) -> tuple[Figure, dict[int, Axes]]:
    """One panel a layer, `height` inches each, in rows of three that share their axes."""
    columns = min(COLUMNS, len(layers))
    rows = -(-len(layers) // columns)
    size: dict[str, Any] = {"figsize": (WIDTH, 0.6 + height * rows), "layout": "constrained"}
    figure, axes = plt.subplots(rows, columns, sharex=True, sharey=True, squeeze=False, **size)
    for axis in axes.flat[len(layers) :]:
        axis.set_visible(False)
    for axis in axes.flat[len(layers) - columns : len(layers)]:
        axis.tick_params(labelbottom=True)  # also where the panel below is empty
    return figure, dict(zip(map(int, layers), axes.flat, strict=False))


def subject(attrs: dict) -> str:
    """Whose numbers a figure shows: model, text, and how many tokens, from the attrs of a store."""
    model = attrs["model"]["name"].split("/")[-1]
    return f"{model} on {text_name(attrs['corpus'])}, {attrs['population']:,} tokens"
