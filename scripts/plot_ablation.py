"""Rate of chosen heads against the square of their horizon, as their A is scaled, with the paper's bound."""

import matplotlib.pyplot as plt

from attnlimit.base.job import begin
from attnlimit.base.store import read
from attnlimit.page.panels import draw_predictions, draw_rates, hollow_key, subject
from attnlimit.page.style import PALETTE, WIDTH, save, set_theme

PANELS = {
    "mean": ("mean", "error"),
    "covariance": ("cov", "error"),
    "covariance, fluctuation only": ("cov", "fluctuation"),
}
MARKERS = "osD^v<>PX*"

p = begin(snakemake)
set_theme()

rates = read(snakemake.input.rates)
rates = rates.isel(setting=(rates["tilt_factor"] == 1).values)
of_layer, of_head = rates["of_layer"].values, rates["of_head"].values
heads = list(dict.fromkeys(zip(of_layer, of_head, strict=True)))
figure, axes = plt.subplots(1, len(PANELS), figsize=(WIDTH, 3.6), sharey=True, layout="constrained")

for axis, (title, (statistic, part)) in zip(axes, PANELS.items(), strict=True):
    draw_predictions(axis, rates["horizon"].values, power=2, square="α²H²")
    for number, (layer, head) in enumerate(heads):
        fits = rates.sel(statistic=statistic, part=part)
        fits = fits.isel(setting=(of_layer == layer) & (of_head == head))
        unscaled = float(fits["horizon"][0] / fits["alpha"][0])  # the same from every alpha
        label = f"layer {layer}, head {head}: H = {unscaled:.2g}"
        order = fits.sortby("horizon")
        axis.plot(order["horizon"] ** 2, order["beta"], color=PALETTE[number], lw=0.7, alpha=0.5)
        draw_rates(axis, fits, PALETTE[number], MARKERS[number], label, power=2)
    axis.set(xscale="log", title=title, xlabel=r"$\alpha^2H^2$")
axes[0].set(ylabel=r"rate $\beta$", ylim=(0, None))
handles, _ = axes[0].get_legend_handles_labels()
figure.legend(handles=[*handles, hollow_key()], loc="outside lower center", ncol=3, fontsize=8)
figure.suptitle(subject(rates.attrs), fontsize=9)
save(figure, dict(snakemake.output), p.quick_look)
