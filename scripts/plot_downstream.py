"""What drawn keys do to a task: its accuracy, the error of embeddings, and the rates of texts by their horizon."""

import matplotlib.pyplot as plt
import numpy as np

from attnlimit.corpus.titles import text_name
from attnlimit.log import open_log
from attnlimit.rates.downstream import DECLARED
from attnlimit.report.panels import draw_sizes
from attnlimit.report.style import PALETTE, PARAMETRIC, WIDTH, save, set_theme
from attnlimit.store import read

SHARES = {"agreement": ("agrees with the dense model", PALETTE[0], "o"), "accuracy": ("right", PALETTE[3], "s")}
ERROR, TEXTS = PALETTE[0], "0.75"
THIRDS = (PALETTE[2], PALETTE[7], PALETTE[4])

open_log(snakemake.log[0])
set_theme()

rates, errors = read(snakemake.input.rates), read(snakemake.input.downstream)
n = rates["n"].values
figure, (task, error, horizon) = plt.subplots(1, 3, figsize=(WIDTH, 3.1), layout="constrained")


def band(axis, name: str, colour, marker: str, label: str) -> None:
    axis.fill_between(n, rates[f"{name}_low"], rates[f"{name}_high"], color=colour, alpha=0.2, lw=0)
    axis.plot(n, rates[name], color=colour, marker=marker, ms=4, lw=1.2, label=label)


for name, (label, colour, marker) in SHARES.items():
    band(task, name, colour, marker, label)
task.axhline(float(rates["dense_accuracy"]), color=SHARES["accuracy"][1], lw=1, ls="--", label="right, dense model")
task.axhline(float(rates["chance"]), color=PARAMETRIC, lw=1, ls=":", label="right by chance")
task.set(ylim=(0, 1.03), title="task", ylabel="share of texts")

each = np.exp(np.log(errors["embedding_error"]).mean("replicate")).transpose("text", "n").values
error.plot(n, each.T, color=TEXTS, lw=0.4, zorder=0)
error.plot([], [], color=TEXTS, lw=0.8, label="each text")
band(error, "embedding_error", ERROR, "o", "geometric mean")
beta, low, high = (float(rates[f"beta{end}"]) for end in ("", "_low", "_high"))
line = np.exp(float(rates["intercept"])) * n**-beta
error.plot(n, line, color="0.2", lw=1, ls="--", label=rf"$n^{{-\beta}}$, $\beta$ = {beta:.3f} [{low:.3f}, {high:.3f}]")
error.set(yscale="log", title="embedding", ylabel="error, dense embedding has length 1")

coupling, rate = rates["text_horizon"].values, rates["text_rate"].values
horizon.axhline(0.5, color=PARAMETRIC, lw=1, ls=":", label="1/2")
for place, (third, colour) in enumerate(zip(rates["tertile"].values, THIRDS, strict=True)):
    part = rates.sel(tertile=third)
    edges = float(part["tertile_from"]), float(part["tertile_to"])
    inside = (coupling >= edges[0]) & (coupling <= edges[1])
    horizon.scatter(coupling[inside], rate[inside], s=10, color=[colour], marker="o^s"[place], lw=0, alpha=0.7)
    horizon.fill_between(
        edges, *[[float(part[f"tertile_beta_{end}"])] * 2 for end in ("low", "high")], color=colour, alpha=0.25, lw=0
    )
    value = float(part["tertile_beta"])
    horizon.plot(edges, [value] * 2, color=colour, lw=2, label=f"{third} third: {value:.3f}")
declared = rates.sel(outcome=DECLARED[0], aggregation=DECLARED[1])
found = [f"{float(declared[f'correlation{end}']):+.2f}".replace("-", "−") for end in ("", "_low", "_high")]
horizon.set(xscale="log", title=f"rank correlation {found[0]} [{found[1]}, {found[2]}]")
horizon.set(xlabel=r"largest $H$ over heads and layers", ylabel=r"rate $\beta$ of a text")

for axis in (task, error):
    draw_sizes(axis, n)
    axis.set_xlabel("keys drawn in each layer, $n$")
for axis in (task, error, horizon):
    axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.24), fontsize=7)
model, text = rates.attrs["model"]["name"].split("/")[-1], text_name(rates.attrs["corpus"])
figure.suptitle(f"{model} on {text}, {rates.sizes['text']} texts, {rates.attrs['replicates']} draws each", fontsize=9)
save(figure, dict(snakemake.output))
