"""Keys for 5 % against the length of the context, and the power that they grow with."""

import matplotlib.pyplot as plt
import numpy as np

from attnlimit.base.job import begin
from attnlimit.base.store import read
from attnlimit.page.key_style import COLOURS, MARKERS, NAMES, key_axis
from attnlimit.page.panels import subject
from attnlimit.page.style import PARAMETRIC, WIDTH, save, set_theme
from attnlimit.stats.estimate import Estimate

SHOWN = (-0.3, 2.3)  # powers; a head that hardly needs keys may have any

p = begin(snakemake)
set_theme()

fits = read(snakemake.input.rates)
contexts = fits["context"].values.astype(float)
growing = [name for name in fits["protocol"].values if fits["growth"].sel(protocol=name).notnull().any()]
figure, (left, right) = plt.subplots(1, 2, figsize=(WIDTH, 3.6), width_ratios=(1.2, 1), layout="constrained")
for place, name in enumerate(growing):
    style = {"color": COLOURS[name], "marker": MARKERS[name], "ms": 4.5, "lw": 1.2}
    middle, low, high = Estimate.of(fits, "median_first_order_keys", eps=0.05, protocol=name)
    aside = contexts * 1.02 ** (place - (len(growing) - 1) / 2)
    left.vlines(aside, low, high, color=COLOURS[name], lw=1)
    power, least, most = Estimate.of(fits, "median_growth", protocol=name)
    label = f"{NAMES[name]}: {power:.2f} [{least:.2f}, {most:.2f}]"
    left.plot(aside, middle, **style, label=label)
    ordered = np.sort(fits["growth"].sel(protocol=name).values.ravel())
    right.plot(ordered, np.arange(1, len(ordered) + 1) / len(ordered), color=COLOURS[name], lw=1.3)
left.plot(contexts, contexts, color=PARAMETRIC, lw=1, ls=":", label="as many as the context has")
key_axis(left, values=contexts)
key_axis(left, horizontal=False)
left.set(xlabel="context, tokens", ylabel="n(5 %), exact first order, median head")
for power, words in ((0, "a limit"), (1, "a share")):
    right.axvline(power, color=PARAMETRIC, lw=1, ls=":")
    right.text(power, 1.02, words, ha="center", va="bottom", fontsize=7.5, color="0.35")
right.set(xlabel="power of the context", ylabel="share of heads", ylim=(0, 1), xlim=SHOWN)
figure.legend(
    handles=left.get_legend_handles_labels()[0],
    loc="outside lower center",
    ncol=2,
    fontsize=8,
    title="power, median head",
)
figure.suptitle(f"{subject(fits.attrs)}\n{fits.attrs['windows']} windows", fontsize=9)
save(figure, dict(snakemake.output), p.quick_look)
