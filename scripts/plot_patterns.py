"""Error of sparse attention against the keys that a query reads: one line a pattern, one panel a layer."""

import numpy as np

from attnlimit.log import open_log
from attnlimit.report.panels import draw_sizes, layer_panels, subject
from attnlimit.report.style import BOUND, PALETTE, PARAMETRIC, save, set_theme
from attnlimit.store import read

LOOKS = {  # label, colour, marker, dashes; those that draw keys at random are dashed
    "random": ("random, for each query", PALETTE[0], "o", "--"),
    "random_shared": ("random, the same for all", PALETTE[9], "o", "--"),
    "window": ("window: nearest keys", PALETTE[1], "s", "-"),
    "window_random": ("half window, half random", PALETTE[3], "D", "--"),
    "window_random_50": ("window and 50 random (published)", PALETTE[4], "D", "--"),
    "global_window_random": ("first keys, window, random (BigBird)", PALETTE[2], "P", "--"),
    "strided": ("strided: even steps", PALETTE[5], "^", "-"),
    "dilated": ("dilated: every second key", PALETTE[6], "v", "-"),
    "pooled": ("pooled: means of neighbours", PALETTE[7], "X", "-"),
    "top": ("top: largest scores (oracle)", BOUND, "*", "-"),
}

open_log(snakemake.log[0])
set_theme()

rates = read(snakemake.input.rates)
inside = rates.sel(n=rates["n"] <= rates.attrs["block"], statistic="pointwise")
n = inside["n"].values
figure, panels = layer_panels(rates["layer"].values, height=2.1)

for layer, axis in panels.items():
    for share in rates["eps"].values:
        axis.axhline(share, color=PARAMETRIC, lw=0.7, ls=":", zorder=0)
        axis.text(n[0], share * 1.04, f"{100 * share:.0f} %", color=PARAMETRIC, fontsize=7, va="bottom")
    for name in inside["pattern"].values:
        label, colour, marker, dashes = LOOKS[name]
        data = inside.sel(layer=layer, pattern=name)
        value, low, high = (data[f"median_value{end}"].values for end in ("", "_low", "_high"))
        axis.fill_between(n, low, high, color=colour, alpha=0.15, lw=0)
        axis.plot(n, value, color=colour, ls=dashes, lw=1.1, marker=marker, ms=3.2, mew=0, label=label)
    if "theory_value" in rates:
        expected = np.median(inside["theory_value"].sel(layer=layer).values, 0)
        axis.plot(n, expected, color=PALETTE[0], lw=0.8, ls=":", label=r"theory of random keys, $\sqrt{c_1/n}$")
    axis.set(title=f"layer {layer}", yscale="log")
    draw_sizes(axis, n)
lowest = inside["median_value"].min()
for axis in list(panels.values())[:1]:
    axis.set_ylim(max(float(lowest) / 1.5, 0.002), 2)
figure.supxlabel("keys that a query reads, $n$", fontsize=9)
figure.supylabel("error at a query, relative to the spread of values", fontsize=9)
handles, _ = next(iter(panels.values())).get_legend_handles_labels()
figure.legend(handles=handles, loc="outside lower center", ncol=3, fontsize=7.5)
figure.suptitle(f"{subject(rates.attrs)}; medians over heads, {rates.attrs['blocks']} blocks", fontsize=9)
save(figure, dict(snakemake.output))
