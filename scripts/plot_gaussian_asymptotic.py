"""Rates and errors on 1e6 to 1e10 Gaussian tokens in d = 1."""

import matplotlib.pyplot as plt
import numpy as np
import seaborn as sns

from attnlimit.base.job import begin
from attnlimit.base.store import read
from attnlimit.page.panels import draw_predictions, draw_rates, hollow_key
from attnlimit.page.style import COLOURS, NAMES, WIDTH, save, set_theme

p = begin(snakemake)
set_theme()

rates = read(snakemake.input.rates).sel(part="error")
n = rates["n"].values
moved = max(float(rates[f"{name}_discretisation"].max()) for name in NAMES)
note = f"the same tokens in bins twice as wide: no average error moves by more than {moved:.1%}"
colours = sns.color_palette("viridis_r", rates.sizes["setting"])
figure, (left, *right) = plt.subplots(1, 3, figsize=(WIDTH, 3.4), layout="constrained")

draw_predictions(left, rates["horizon"].values)
for statistic, marker in zip(NAMES, "os", strict=True):
    fits = rates.sel(statistic=statistic)
    draw_rates(left, fits, COLOURS[statistic], marker, NAMES[statistic])
left.set(xscale="log", xlabel="horizon $H$", ylabel=r"rate $\beta$", title="rate", ylim=(0, None))
left.set_xticks([0.3, 0.5, 1, 2, 3], ["0.3", "0.5", "1", "2", "3"])
left.minorticks_off()

for axis, (statistic, name) in zip(right, NAMES.items(), strict=True):
    for number, colour in zip(rates["setting"].values, colours, strict=True):
        fit = rates.sel(statistic=statistic, setting=number)
        scale, label = float(fit["limit_scale"]), f"H = {float(fit['horizon']):g}"
        axis.errorbar(
            n, fit["value"] / scale, 1.96 * fit["value_se"] / scale, fmt="o", ms=2.5, color=colour, label=label
        )
        axis.plot(n, np.exp(float(fit["intercept"])) * n ** -float(fit["beta"]) / scale, color=colour, lw=0.8, ls="--")
    axis.set(xscale="log", yscale="log", xlabel="tokens $n$", title=f"{name} error, relative")
pairs = [axis.get_legend_handles_labels() for axis in (left, right[0])]
handles, labels = (sum((list(pair[side]) for pair in pairs), []) for side in (0, 1))
handles.insert(5, hollow_key())  # below mean and covariance
labels.insert(5, hollow_key().get_label())
close = {"columnspacing": 1.2, "handletextpad": 0.5, "handlelength": 1.6, "fontsize": 8, "title_fontsize": 8}
figure.legend(handles, labels, loc="outside lower center", ncol=5, title=note, **close)
save(figure, dict(snakemake.output), p.quick_look)
