"""Errors of drawn keys against how many a query reads, with the exact first order; n(5 %) by theory and measured."""

import matplotlib.pyplot as plt
import numpy as np

from attnlimit.base.job import begin
from attnlimit.base.store import read
from attnlimit.page.key_style import COLOURS, MARKERS, NAMES, key_axis
from attnlimit.page.panels import subject
from attnlimit.page.style import PARAMETRIC, WIDTH, save, set_theme
from attnlimit.questions.keys.first_order import RELIABLE

p = begin(snakemake)
set_theme()

fits = read(snakemake.input.rates)
context, n = fits.attrs["context"], fits["n"].values
cells = fits.stack(cell=("layer", "head"))
figure, (left, right) = plt.subplots(1, 2, figsize=(WIDTH, 4.0), width_ratios=(1.25, 1), layout="constrained")

handles = []
for name in fits["protocol"].values.tolist():
    own = cells.sel(protocol=name)
    middle = own["rms"].median("cell").values
    seen = middle > 1e-4  # below, all keys are read
    budget, style = own["budget"].values, {"color": COLOURS[name], "lw": 1.2}
    left.plot(budget[seen], middle[seen], marker=MARKERS[name], ms=4, **style, label=NAMES[name])
    theory = own["first_order_keys"].sel(eps=0.05, context=context) * 0.05**2  # c1 / S^2
    if theory.notnull().all():
        line = np.sqrt(theory.median("cell").values / n)
        from_n = n >= RELIABLE * float(own["second_moment"].sel(context=context).median("cell"))
        left.plot(budget[from_n], line[from_n], color="0.15", lw=1.4, ls=(0, (2, 1.5)), zorder=4)
handles += left.get_legend_handles_labels()[0]
handles += left.plot(
    [], [], color="0.15", lw=1.4, ls=(0, (2, 1.5)), label="exact first order, from $n = 10\\,E\\,u^2$ on"
)
left.axhline(0.05, color=PARAMETRIC, lw=1, ls=":")
left.axvline(context, color=PARAMETRIC, lw=0.8)
place = left.get_xaxis_transform()
left.text(context * 1.06, 0.02, "context", transform=place, fontsize=7.5, rotation=90, color="0.35")
key_axis(left)
left.set(yscale="log", xlabel="keys that a query reads", ylabel="relative error, median head")

at = cells.sel(eps=0.05)
for name in fits["protocol"].values.tolist():
    own = at.sel(protocol=name)
    use = own["first_order_ratio"].notnull().values
    if use.any():
        predicted = own["first_order_keys"].sel(context=context).values[use]
        right.scatter(
            own["keys"].values[use], predicted, s=9, color=COLOURS[name], marker=MARKERS[name], lw=0, alpha=0.55
        )
ends = [n[0], n[-1]]
right.plot(ends, ends, color=PARAMETRIC, lw=1, ls=":")
key_axis(right)
key_axis(right, horizontal=False)
used = int(at["first_order_ratio"].notnull().sum())
ratio = [float(fits[f"median_first_order_ratio{end}"].sel(eps=0.05)) for end in ("", "_low", "_high")]
right.set(xlabel="n(5 %), measured", ylabel="n(5 %), exact first order")
words = (
    f"{used} heads and protocols\nmedian ratio {ratio[0]:.2f} [{ratio[1]:.2f}, {ratio[2]:.2f}]" if used else "no head"
)
right.text(0.04, 0.96, words, transform=right.transAxes, va="top", fontsize=8)
figure.legend(handles=handles, loc="outside lower center", ncol=3, fontsize=8)
figure.suptitle(f"{subject(fits.attrs)}\n{fits.attrs['windows']} windows, context {context:,}", fontsize=9)
save(figure, dict(snakemake.output), p.quick_look)
