"""Fill docs/published.md from finished runs of the published size, and draw its figure: part of `make readme`.

`python docs/published.py . runs/wikipedia-1m`: the default run, then larger ones; without larger ones, those of RUNS
that are there. Every number comes from the runs' tables, claims and logs.
"""

import json
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "docs")]
from readme import STATISTICS, fill, heads_of, hours, markdown, rates_table, resolved, total  # noqa: E402

from attnlimit.base.log import spent_by  # noqa: E402
from attnlimit.drawing.style import COLOURS, set_theme  # noqa: E402
from attnlimit.workflow.costs import seconds  # noqa: E402

PAGE = ROOT / "docs/published.md"
FIGURE = ROOT / "docs/published_heads.png"
RUNS = {  # folder: overlays in configs/
    ".": (),
    "runs/wikipedia-1m": ("wikipedia-1m.yaml",),
    "runs/wikipedia-1m-bge": ("wikipedia-1m.yaml", "wikipedia-1m-bge.yaml"),
}
LONG = 60.0  # core-seconds from which an estimate is compared with what was measured
ALLOWED = {"mean": 0.03, "cov": 0.06}  # standard error of a limit over the error at the largest n
LARGE = 10.0  # core-seconds of a rule that is worth a row


def main(default: str = ".", *larger: str) -> None:
    """Folders of runs, relative to the project's or absolute; nothing is done where there is no larger run."""
    folders = larger or [folder for folder in list(RUNS)[1:] if finished(ROOT / folder)]
    runs = [Run(ROOT / folder / "results") for folder in (default, *folders)]
    if len(runs) < 2:
        return
    same = [run for run in runs if run.model == runs[0].model]
    parts = {"measured": cost_rows(runs), "growth": growth_rows(same), "moves": moves(same), "verdicts": verdicts(runs)}
    parts["precision"] = "".join(precision(run) for run in runs[1:])
    PAGE.write_text(fill(PAGE.read_text(encoding="utf-8"), parts), encoding="utf-8")
    if len(same) > 1:
        draw(same)


def finished(folder: Path) -> bool:
    return (folder / "results/claims.json").is_file()


class Run:
    """What a finished run left."""

    def __init__(self, results: Path) -> None:
        self.results, self.table = results, rates_table(results)
        first = heads_of(self.table, "mean").iloc[0]
        self.model, self.text, self.population = first["model"], first["corpus"], int(first["population"])
        self.name = results.parent.name
        overlays = [overlays for folder, overlays in RUNS.items() if Path(folder).name == self.name]
        self.config = resolved(*(overlays[0] if overlays else ()))
        rows = {rule: (len(jobs), *total(jobs)) for rule, jobs in spent_by(results).items()}
        self.costs = pd.DataFrame.from_dict(rows, orient="index", columns=["jobs", "seconds", "held"])

    @property
    def title(self) -> str:
        return f"{self.model.rpartition('/')[2]}, N = {self.population:,}"

    def heads(self, statistic: str) -> pd.DataFrame:
        return heads_of(self.table, statistic).set_index(["layer", "head"])


def cost_rows(runs: list[Run]) -> str:
    """Core-seconds and the largest job's memory of every rule of the larger runs; beside it, estimate over measured."""
    rules = [rule for rule in runs[1].costs.index if any(spent(run, rule) >= LARGE for run in runs[1:])]
    rows = [[f"`{rule}`", *(cost_cell(run, rule) for run in runs)] for rule in rules]
    totals = [
        f"{hours(run.costs['seconds'].sum())} of one core, {run.costs['held'].max() / 1e9:.1f} GB, "
        f"{stored(run.results / 'embeddings') / 1e9:.1f} GB of embeddings"
        for run in runs
    ]
    return markdown(["rule", *(run.title for run in runs)], [*rows, ["all jobs of the run", *totals]])


def spent(run: Run, rule: str) -> float:
    return float(run.costs["seconds"].get(rule, 0.0))


def cost_cell(run: Run, rule: str) -> str:
    if rule not in run.costs.index:
        return "–"
    found = run.costs.loc[rule]
    estimate = seconds(run.config).get(rule, 0.0) / found["seconds"] if found["seconds"] >= LONG else 0.0
    compared = f" (estimate over measured {estimate:.2f})" if estimate else ""
    return f"{found['jobs']:.0f} jobs, {found['seconds']:.0f} s, {found['held'] / 1e9:.1f} GB{compared}"


def stored(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.glob("*")) if folder.is_dir() else 0


def growth_rows(runs: list[Run]) -> str:
    """Power of N by least squares on logarithms, of core-seconds and of memory, where a rule is in every run."""
    sizes = np.log([run.population for run in runs])
    if len(runs) < 2:
        return "No larger run of the same model yet.\n"
    rows = []
    for rule in runs[0].costs.index:
        if all(spent(run, rule) > 1 for run in runs) and spent(runs[-1], rule) >= LARGE:
            powers = [
                np.polyfit(sizes, np.log([run.costs.loc[rule, column] for run in runs]), 1)[0]
                for column in ("seconds", "held")
            ]
            times = [f"{spent(run, rule):.0f} s" for run in runs]
            rows.append([f"`{rule}`", *times, *(f"{power:.2f}" for power in powers)])
    head = [f"N = {run.population:,}" for run in runs]
    return markdown(["rule", *head, "power of N, time", "memory"], rows)


def moves(runs: list[Run]) -> str:
    """How far each number of a head is from that of the default run: medians, the farthest head, disjoint intervals."""
    rows = []
    for run in runs[1:]:
        for statistic, name in STATISTICS.items():
            before, after = runs[0].heads(statistic), run.heads(statistic)
            heads = before.index.intersection(after.index)
            before, after = before.loc[heads], after.loc[heads]
            step = after["beta"] - before["beta"]
            rows.append([f"β of the {name}", *far(step, "{:+.3f}"), apart(before, after, "beta")])
            step = np.log(after["tokens_5"] / before["tokens_5"])
            rows.append([f"n(5 %) of the {name}", *far(step, "{:.2f} times", np.exp), apart(before, after, "tokens_5")])
        step = np.log(after["horizon"] / before["horizon"])
        rows.append(["H", *far(step, "{:.2f} times", np.exp), "–"])
    texts = " to ".join(f"{run.population:,} tokens ({run.text})" for run in runs)
    head = ["number", "median change", "5 to 95 % of heads", "farthest head", "heads with disjoint 95 % intervals"]
    return f"From {texts}, {len(heads)} heads of {runs[0].model.rpartition('/')[2]}:\n\n" + markdown(head, rows)


def far(step: pd.Series, form: str, back=lambda number: number) -> list[str]:
    """The median, a range and the farthest of changes, in words."""
    step = step.replace([np.inf, -np.inf], np.nan).dropna()
    layer, head = step.abs().idxmax()
    low, high = (form.format(back(step.quantile(share))) for share in (0.05, 0.95))
    worst = form.format(back(step.loc[(layer, head)]))
    return [form.format(back(step.median())), f"{low} to {high}", f"{worst} (layer {layer} head {head})"]


def apart(before: pd.DataFrame, after: pd.DataFrame, name: str) -> str:
    low, high = (f"{name}_{end}" for end in ("low", "high"))
    disjoint = (after[low] > before[high]) | (before[low] > after[high])
    return f"{int(disjoint.sum())} of {len(disjoint)}"


def precision(run: Run) -> str:
    """The stated error of a limit over the error at the largest n, and which heads are above what is wanted."""
    words = []
    for statistic, name in STATISTICS.items():
        share = run.heads(statistic)["limit_se_share"]
        above = share[share > ALLOWED[statistic]]
        named = ", ".join(f"{layer}.{head}" for layer, head in above.index)
        words.append(
            f"of the {name} {100 * share.median():.1f} % (median), {100 * share.max():.1f} % at most, above "
            f"{100 * ALLOWED[statistic]:.0f} % in {len(above)} of {len(share)} heads"
            + (f" (layer.head {named})" if named else "")
        )
    return f"{run.title}: standard error of the limit over the error at the largest n, {'; '.join(words)}.\n"


def verdicts(runs: list[Run]) -> str:
    """The claims that a larger run decides, beside those of the default run."""
    found = [{each["id"]: each for each in json.loads((run.results / "claims.json").read_text())} for run in runs]
    said = [
        name
        for name in found[0]
        if any(found[1:][place].get(name, {}).get("verdict") for place in range(len(runs) - 1))
    ]
    rows = [
        [found[0][name]["claim"], *(f"**{each[name]['verdict']}**: {each[name]['in_short']}" for each in found)]
        for name in said
    ]
    return markdown(["claim", *(run.title for run in runs)], rows)


def draw(runs: list[Run]) -> None:
    """Each head in the default run against the largest one: rates, tokens needed, horizons."""
    set_theme()
    before, after = runs[0], runs[-1]
    figure, axes = plt.subplots(1, 3, figsize=(10, 3.6))
    for statistic, name in STATISTICS.items():
        both = before.heads(statistic).join(after.heads(statistic).add_suffix("_after"), how="inner")
        for axis, quantity in zip(axes, ("beta", "tokens_5"), strict=False):
            both = both.replace([np.inf, -np.inf], np.nan)
            ends = [
                np.abs(
                    both[[f"{quantity}_low{of}", f"{quantity}_high{of}"]].T.to_numpy() - both[quantity + of].to_numpy()
                )
                for of in ("", "_after")
            ]
            style = {"fmt": "o", "ms": 3, "lw": 0.6, "color": COLOURS[statistic], "label": name}
            axis.errorbar(both[quantity], both[f"{quantity}_after"], yerr=ends[1], xerr=ends[0], **style)
    axes[2].plot(both["horizon"], both["horizon_after"], "o", ms=3, color="0.3")
    for axis, name in zip(axes, ("β", "n(5 %)", "H"), strict=True):
        ends = [min(axis.get_xlim()[0], axis.get_ylim()[0]), max(axis.get_xlim()[1], axis.get_ylim()[1])]
        if name != "β":
            axis.set(xscale="log", yscale="log")
            ends = [both["horizon"].min() / 1.2, both["horizon"].max() * 1.2] if name == "H" else axis.get_xlim()
        axis.plot(ends, ends, color="0.6", lw=0.8, zorder=0)
        axis.set(xlabel=f"{name}, {before.population:,} tokens", ylabel=f"{name}, {after.population:,} tokens")
    axes[0].legend(frameon=False)
    figure.tight_layout()
    figure.savefig(FIGURE, dpi=150, metadata={"Software": None})


if __name__ == "__main__":
    main(*sys.argv[1:])
