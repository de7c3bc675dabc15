"""What the horizon does not see: rates against the constant tilt, of heads as they are, of heads changed, simulated."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import Normalize

from attnlimit.base.coordinates import heads_only
from attnlimit.base.job import begin
from attnlimit.base.store import read
from attnlimit.page.panels import draw_predictions, draw_rates, hollow, hollow_key, subject
from attnlimit.page.style import COUPLING, NAMES, PALETTE, PARAMETRIC, WIDTH, save, set_theme

MARKERS = "osD^v<>PX*"

p = begin(snakemake)
set_theme()

stores = {name: read(path).sel(part="error") for name, path in snakemake.input.items()}
titles = {"heads": "heads as they are", "ablation": "heads, constant tilt scaled", "gaussian": "Gaussian tokens"}
columns = [name for name in titles if name in stores]
size = {"figsize": (WIDTH, 5.4), "sharey": "row", "sharex": "col", "squeeze": False, "layout": "constrained"}
figure, axes = plt.subplots(len(NAMES), len(columns), **size)


def draw_heads(axis, rates):
    """Against H, in the colour of the constant tilt."""
    heads = heads_only(rates).stack(row=("layer", "head"))
    draw_predictions(axis, heads["horizon"].values)
    norm = Normalize(0, float(heads["constant_tilt"].max()))
    colour = plt.get_cmap(COUPLING)(norm(heads["constant_tilt"].values))
    x, empty = heads["horizon"].values, hollow(heads).values
    axis.vlines(x, heads["beta_low"].values, heads["beta_high"].values, color=colour, lw=0.7, alpha=0.6)
    faces = np.where(empty[:, None], 1.0, colour)
    axis.scatter(x, heads["beta"].values, s=14, c=faces, edgecolors=colour, linewidths=0.9, zorder=3)
    axis.set(xscale="log")
    return plt.cm.ScalarMappable(norm, COUPLING)


def draw_lines(axis, groups):
    """Against the constant tilt, one line a group of fits."""
    axis.axhline(0.5, color=PARAMETRIC, lw=1, ls=":")
    for number, (label, fits) in enumerate(groups.items()):
        fits = fits.sortby("constant_tilt")
        axis.plot(fits["constant_tilt"], fits["beta"], color=PALETTE[number], lw=0.7, alpha=0.5)
        draw_rates(axis, fits, PALETTE[number], MARKERS[number], label, against="constant_tilt")


def changed_heads(rates):
    """The heads of the ablation with A as it is, by layer and head."""
    rates = rates.isel(setting=(rates["alpha"] == 1).values)
    pairs = zip(rates["of_layer"].values, rates["of_head"].values, strict=True)
    names = [f"layer {layer}, head {head}" for layer, head in pairs]
    return {name: rates.isel(setting=np.array(names) == name) for name in dict.fromkeys(names)}


def simulated(rates):
    """Isotropic tokens in the dimension with constant tilts, by horizon."""
    tilted = rates.isel(setting=(rates["constant_tilt"] > 0).values)
    horizons = np.unique(tilted["horizon"].values.round(9))
    same = rates["isotropic"] & (rates["dimension"] == tilted["dimension"][0])
    near = {f"H = {h:g}": same & (abs(rates["horizon"] - h) < 1e-6) for h in horizons}
    return {label: rates.isel(setting=chosen.values) for label, chosen in near.items()}


for row, (statistic, name) in zip(axes, NAMES.items(), strict=True):
    for axis, column in zip(row, columns, strict=True):
        rates = stores[column].sel(statistic=statistic)
        if column == "heads":
            colours = draw_heads(axis, rates)
            figure.colorbar(colours, ax=axis, pad=0.02, aspect=30).set_label("constant tilt $s_0$", fontsize=7)
        else:
            draw_lines(axis, changed_heads(rates) if column == "ablation" else simulated(rates))
    row[0].set(ylabel=rf"rate $\beta$, {name}", ylim=(0, None))
for axis, column in zip(axes[0], columns, strict=True):
    axis.set_title(titles[column])
for axis, column in zip(axes[-1], columns, strict=True):
    axis.set_xlabel("horizon $H$" if column == "heads" else "constant tilt $s_0$")
handles = [handle for axis in axes[0] for handle in axis.get_legend_handles_labels()[0]]
figure.legend(handles=[*handles, hollow_key(stores.get("heads"))], loc="outside lower center", ncol=3, fontsize=8)
model = next((stores[name] for name in ("heads", "ablation") if name in stores), None)
if model is not None:
    figure.suptitle(subject(model.attrs), fontsize=9)
save(figure, dict(snakemake.output), p.quick_look)
