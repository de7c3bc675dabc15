"""Tokens needed until the error is a share of its scale: every head, sorted, for the mean and the covariance."""

import matplotlib.pyplot as plt
import numpy as np

from attnlimit.base.coordinates import heads_only
from attnlimit.base.job import begin
from attnlimit.base.store import read
from attnlimit.page.panels import subject
from attnlimit.page.style import BOUND, NAMES, PARAMETRIC, WIDTH, layer_colours, save, set_theme
from attnlimit.stats.estimate import Estimate

CONTEXTS = {512: "512", 4096: "4k", 131072: "128k"}  # context lengths to compare with
PALE = 0.4  # opacity of what is extrapolated; hollow would say that a rate is no exponent
FARTHEST = 10  # n(eps) is followed up to ten times the largest n

p = begin(snakemake)
set_theme()

rates = heads_only(read(snakemake.input.rates))
first = heads_only(read(snakemake.input.first_order)) if snakemake.input.get("first_order") else None
if first is not None:
    rates = rates.assign(tokens_predicted=first["tokens_predicted"].where(~first["few_tokens"]))
n = rates["n"].values
heads = rates.stack(row=("layer", "head"))
shares = sorted(rates["eps"].values, reverse=True)
colours = dict(zip(shares, layer_colours(range(len(shares))).values(), strict=True))
beyond = {share: FARTHEST * n[-1] * 1.3**place for place, share in enumerate(shares, 1)}  # where "more than" is drawn
figure, axes = plt.subplots(1, len(NAMES), figsize=(WIDTH, 3.8), sharey=True, layout="constrained")

for axis, (statistic, name) in zip(axes, NAMES.items(), strict=True):
    for share in shares:
        data = heads.sel(statistic=statistic, eps=share)
        data = data.isel(row=np.argsort(data["tokens_needed"].values, kind="stable"))
        tokens, low, high = Estimate.of(data, "tokens_needed")
        place, reached = np.arange(1, len(tokens) + 1), np.isfinite(tokens)
        beyond_sizes = data["tokens_needed_extrapolated"].values[reached]
        style = {"color": colours[share], "lw": 0.7, "alpha": 0.5}
        axis.vlines(place[reached], low[reached], np.minimum(high[reached], beyond[share]), **style)
        faces = [(*colours[share], PALE if extrapolated else 1) for extrapolated in beyond_sizes]
        axis.scatter(place[reached], tokens[reached], s=10, c=faces, lw=0, zorder=3)
        axis.scatter(
            place[~reached], np.full((~reached).sum(), beyond[share]), s=12, color=colours[share], marker="^", lw=0
        )
        if first is not None:
            style = {"marker": "_", "color": "black", "s": 12, "lw": 0.7, "zorder": 4}
            axis.scatter(place, np.minimum(data["tokens_predicted"].values, beyond[share]), **style)
        axis.scatter([], [], s=9, color=colours[share], label=f"{100 * share:.0f} % of its scale")
    for length, label in CONTEXTS.items():
        axis.axhline(length, color=PARAMETRIC, lw=0.8, ls=":", zorder=0)
        axis.text(1, length * 1.06, label, color=PARAMETRIC, fontsize=7, va="bottom")
    axis.axhspan(n[-1], FARTHEST * n[-1], color="0.5", alpha=0.08, lw=0)
    axis.set(title=f"{name} of the head's output", xlabel="heads, sorted for each share", yscale="log")
axes[0].set(ylabel=r"tokens needed, $n(\varepsilon)$")
handles, _ = axes[0].get_legend_handles_labels()
words = "pale: extrapolated beyond the largest $n$ (grey band)"
handles += [plt.Line2D([], [], marker="o", color=BOUND, alpha=PALE, ls="none", ms=4, label=words)]
handles += [plt.Line2D([], [], marker="^", color=BOUND, ls="none", ms=4, label=f"more than {FARTHEST * n[-1]:,}")]
if first is not None:
    words = "predicted by first order"
    handles += [plt.Line2D([], [], marker="_", color="black", ls="none", ms=5, label=words)]
figure.legend(handles=handles, loc="outside lower center", ncol=3, fontsize=8)
figure.suptitle(subject(rates.attrs), fontsize=9)
save(figure, dict(snakemake.output), p.quick_look)
