"""Figures of question uniform."""

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from attnlimit.drawing.panels import hollow_key, legend_below, legends_below_panels, plain_log
from attnlimit.drawing.style import BOUND, HEURISTIC, PALETTE, PARAMETRIC, WIDTH, layer_colours

SHOWN_RADII = 4
ERROR, CONSTANT = r"$\mathrm{E}\,\sup_{|x|\leq R}\,|\Gamma_n(x)-\Gamma(x)|$", r"$C(R)=\sqrt{n}\;\mathrm{E}\,\sup$"
LOOKS = ((PALETTE[0], "o"), (PALETTE[1], "s"))
NAMED = {"gaussian": "Gaussian", "interval": "on $[-1,1]$", "circle": "on the unit circle"}


def uniform(fits: xr.Dataset) -> Figure:
    """Largest error over a ball: against n; its constant C(R) against the radius, beside the CLT and an exponential."""
    of_law = {
        law: fits.isel(setting=(fits["law"] == law).values).sel(of_law=law).dropna("n", subset=["value"])
        for law in fits["of_law"].values.tolist()
    }
    compact = [law for law, mine in of_law.items() if mine["compact"].all()]
    wide = [law for law in of_law if law not in compact]
    kinds = [kind for kind in (wide, compact) if kind]
    figure, (errors, *constants) = plt.subplots(1, 1 + len(kinds), figsize=(WIDTH, 4.0), layout="constrained")

    def points(axis, x, y, bars, full, colour, marker="o"):
        """Hollow where the error does not fall like 1/sqrt(n): its slope is no exponent there."""
        axis.errorbar(x, y, bars, fmt="none", ecolor=colour, elinewidth=0.8, capsize=1.5)
        faces = [colour if reached else "white" for reached in full]
        axis.scatter(x, y, s=15, c=faces, edgecolors=[colour], linewidths=0.9, marker=marker, zorder=3)

    def words(law):
        return f"{NAMED[law.split(',')[0]]}, $d$ = {law.rsplit(' ', 1)[-1]}"

    law = kinds[0][0]
    mine = of_law[law]
    n = mine["n"].values
    chosen = np.unique(np.linspace(0, mine.sizes["setting"] - 1, SHOWN_RADII).round().astype(int))
    for setting, colour in zip(chosen, layer_colours(chosen).values(), strict=True):
        data = mine.isel(setting=setting)
        points(errors, n, data["value"], 1.96 * data["value_se"], data["reached"].values, colour)
        fitted = np.exp(float(data["intercept"])) * n ** -float(data["beta"])
        label = rf"$R$ = {float(data['radius']):g}, $\beta$ = {float(data['beta']):.2f}"
        errors.plot(n, fitted, color=colour, lw=1, ls="--", label=label)
    guide = float(mine["value"].isel(setting=0, n=0)) / 2 * (n / n[0]) ** -0.5
    errors.plot(n, guide, color=PARAMETRIC, lw=1.2, ls=":", label="slope −1/2")
    errors.set(xlabel="tokens $n$", ylabel=ERROR, title=f"largest error over a ball\n{words(law)}")
    plain_log(errors, "xy", 5)

    def draw_constants(axis: Axes, laws: list[str]) -> None:
        """C(R) at the largest n of each law, what the CLT gives, and for laws that are not compact an exponential."""
        for law, (colour, marker) in zip(laws, LOOKS, strict=False):
            mine = of_law[law]
            radius, last = mine["radius"].values, mine.isel(n=-1)
            full = last["reached"].values
            points(axis, radius, last["constant"], 1.96 * last["constant_se"], full, colour, marker)
            axis.plot([], [], marker, color=colour, ms=4, label=f"{words(law)}, $n$ = {int(last['n']):,}")
            axis.plot(radius, mine["clt_sup"], color=BOUND, lw=1.2)
            growth = float(mine["growth"])  # NaN with too few radii for a line
            if law in wide and np.isfinite(growth):
                fitted = np.exp(float(mine["growth_intercept"]) + growth * radius)
                axis.plot(radius[full], fitted[full], color=HEURISTIC, lw=1.8)
                axis.plot(
                    radius, fitted, color=HEURISTIC, lw=0.9, ls="--", label=rf"fit $\propto e^{{{growth:.2f}\,R}}$"
                )
        axis.plot([], [], color=BOUND, lw=1.2, label="what the CLT gives")
        axis.set(xlabel="radius $R$", ylabel=CONSTANT)

    for axis, laws in zip(constants, kinds, strict=True):
        draw_constants(axis, laws)
        top = max(float(of_law[law]["constant"].isel(n=-1).max()) for law in laws)
        if laws is wide:
            plain_log(axis, "y", 5)
            axis.set(title="its constant grows\nwith the ball", ylim=(0.6, 10 * top))
        else:
            axis.set(title="compact laws:\nit levels off", ylim=(0, 1.2 * top))
    legends_below_panels((errors, *constants), 0.22)
    legend_below(figure, [hollow_key(words=r"$\sqrt{n}$ scaling not reached at this $n$")], 1)
    return figure
