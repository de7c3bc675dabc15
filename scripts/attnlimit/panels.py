"""Parts of the figures that draw a rate against the horizon."""

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from attnlimit.geometry import predictions
from attnlimit.style import BOUND, HEURISTIC, PARAMETRIC


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
    axis: Axes, fits: xr.Dataset, colour, marker: str, label: str, shift: float = 1.0, power: int = 1
) -> None:
    """Fits (setting,) with their intervals against H to a power; hollow where saturated or no power law.

    shift moves the points aside.
    """
    x, beta = fits["horizon"].values ** power * shift, fits["beta"].values
    axis.vlines(x, fits["beta_low"].values, fits["beta_high"].values, color=[colour], lw=0.8, alpha=0.6)
    hollow = (fits["misfit"] | fits["saturated"]).values
    faces = [(1, 1, 1, 1) if empty else colour for empty in hollow]
    axis.scatter(x, beta, s=16, c=faces, edgecolors=[colour], linewidths=0.9, zorder=3, marker=marker)
    axis.scatter([], [], s=16, color=[colour], marker=marker, label=label)  # a filled one for the legend
