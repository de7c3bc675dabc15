"""Parts that figures share: a rate against the horizon, one panel a layer."""

from collections.abc import Iterable
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import Locator, NullFormatter

from attnlimit.drawing.style import BOUND, HEURISTIC, PARAMETRIC, WIDTH, Looks
from attnlimit.sources.corpus.location import text_name
from attnlimit.theory.bounds import predictions

COLUMNS = 3  # of a figure with one panel a layer
STEPS = ((1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8), (1, 1.5, 2, 3, 4, 5, 7), (1, 2, 5), (1, 3), (1,))  # of a decade
CROWD = 100  # points from which on they are drawn small


def plain(value: float, _: float | None = None) -> str:
    """A number as all figures write it: 0.05, 2, 1,000; powers of ten where that would be long."""
    if value == 0 or 1e-4 < abs(value) < 1e5:
        return f"{value:,.6g}".replace("-", "−")
    mantissa, power = f"{value:.0e}".split("e")
    return ("" if mantissa == "1" else rf"{mantissa}$\times$") + f"$10^{{{int(power)}}}$"


class RoundNumbers(Locator):
    """Round numbers for a logarithmic axis, `most` of them at most, from every twelfth decade to a fine grid."""

    def __init__(self, most: int = 6):
        self.most = most

    def __call__(self) -> list[float]:
        return self.tick_values(*self.axis.get_view_interval())  # type: ignore[union-attr]

    def tick_values(self, vmin: float, vmax: float) -> list[float]:
        first, last = int(np.floor(np.log10(vmin))), int(np.ceil(np.log10(vmax)))
        ticks: list[float] = []
        for steps, every in [(steps, 1) for steps in STEPS] + [((1,), every) for every in (2, 3, 4, 6, 12)]:
            powers = [10.0**power for power in range(first, last + 1) if power % every == 0]
            ticks = [step * power for power in powers for step in steps if vmin <= step * power <= vmax * (1 + 1e-9)]
            if len(ticks) <= self.most:
                break
        return ticks


def plain_log(axis: Axes, sides: str = "x", most: int = 6) -> None:
    """Logarithmic axes, x, y or both, that name round numbers as plain ones."""
    for side in sides:
        axis.set(**{f"{side}scale": "log"})
        line = {"x": axis.xaxis, "y": axis.yaxis}[side]
        line.set_major_locator(RoundNumbers(most))
        line.set_major_formatter(plain)
        line.set_minor_formatter(NullFormatter())


def horizon_axis(axis: Axes, label: str = "horizon $H$") -> None:
    """The horizon, in every figure the same: logarithmic, plain numbers."""
    plain_log(axis)
    axis.set_xlabel(label)


def legend_below(figure: Figure, handles: list, columns: int, **looks) -> None:
    """One legend for all panels, below them."""
    style: Looks = {"loc": "outside lower center", "ncol": columns, "fontsize": 8}
    figure.legend(handles=handles, **style | looks)


def legends_below_panels(axes: Iterable[Axes], drop: float = 0.24) -> None:
    """A legend for each panel, below it, where there are no data."""
    for axis in axes:
        axis.legend(loc="upper center", bbox_to_anchor=(0.45, -drop), fontsize=7, handlelength=1.8, borderaxespad=0)


def dot(colour, label: str, marker: str = "o", size: float = 4.5, **looks) -> Line2D:
    """A point for a legend."""
    return Line2D([], [], **{"color": colour, "marker": marker, "ms": size, "ls": "none", "label": label} | looks)


def draw_predictions(axis: Axes, horizon: np.ndarray) -> np.ndarray:
    """1/2, our heuristic and the paper's bound of v3 as curves over the range of the given horizons, returned."""
    drawn = np.geomspace(horizon.min() / 1.3, horizon.max() * 1.3, 200)
    curves = predictions(drawn, drawn**2)
    axis.axhline(0.5, color=PARAMETRIC, lw=1, ls=":", label="1/2, as an average has")
    axis.plot(
        drawn, curves["heuristic"], color=HEURISTIC, lw=1.2, ls="--", label=r"$\min(1/2,\,1/(1+H^2))$, our heuristic"
    )
    axis.plot(drawn, curves["bound_v3"], color=BOUND, lw=1.2, label="$1/(2(1+H^2))$, lower bound of the paper")
    axis.fill_between(drawn, 0, curves["bound_v3"], color=BOUND, alpha=0.08, lw=0)
    return drawn


def draw_rates(axis: Axes, fits: xr.Dataset, colour, marker: str, label: str, shift: float = 1.0) -> None:
    """Fits (setting,) with their intervals against H, hollow where `hollow` says so. shift moves the points aside."""
    x, beta = fits["horizon"].values * shift, fits["beta"].values
    size, faint = (16, 0.6) if len(x) <= CROWD else (6, 0.25)
    axis.vlines(x, fits["beta_low"].values, fits["beta_high"].values, color=[colour], lw=0.8, alpha=faint)
    faces = [(1, 1, 1, 1) if empty else colour for empty in hollow(fits).values]
    axis.scatter(x, beta, s=size, c=faces, edgecolors=[colour], linewidths=0.9, zorder=3, marker=marker)
    axis.scatter([], [], s=16, color=[colour], marker=marker, label=label)  # a filled one for the legend


def hollow(fits: xr.Dataset) -> xr.DataArray:
    """Fits whose beta is no exponent, or not one of this limit."""
    return fits["misfit"] | fits["saturated"] | fits["limit_uncertain"]


def hollow_words(fits: xr.Dataset | None = None) -> str:
    """What hollow points mean; uncertain limits are named only if there are any."""
    uncertain = fits is not None and bool(fits["limit_uncertain"].any())
    return "no power law, saturated, or limit uncertain" if uncertain else "no power law, or saturated"


def hollow_key(fits: xr.Dataset | None = None, words: str = "") -> Line2D:
    """What the legend says of a hollow point: that its rate is no exponent, and why."""
    return dot(BOUND, words or hollow_words(fits), mfc="white")


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
