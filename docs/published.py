"""Fill docs/published.md from finished runs of the published size, and draw its figures: part of `make readme`.

Every number comes from the runs' tables, stores, claims and logs; a run that is not there is left out.
"""

import json
import sys
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "docs")]
from readme import LARGEST, STATISTICS, answer_of, by_head, fill, hours, markdown, moved, rates_table, resolved, total  # noqa: E402

from attnlimit.base.log import spent_by  # noqa: E402
from attnlimit.base.store import read  # noqa: E402
from attnlimit.drawing.style import COLOURS, set_theme  # noqa: E402
from attnlimit.workflow.costs import START_SECONDS, job_count, seconds  # noqa: E402

PAGE = ROOT / "docs/published.md"
MIXTURE = "mixture-20m.yaml"
RUNS = {  # folder: overlays in configs/
    "runs/excerpt-full": ("excerpt-full.yaml",),
    str(LARGEST): ("wikipedia-1m.yaml",),
    "runs/wikipedia-1m-bge": ("wikipedia-1m.yaml", "wikipedia-1m-bge.yaml"),
}
GROWTH = {  # one layer of one mixture, from few tokens to all of it
    f"runs/{path.stem}": (MIXTURE, f"growth/{path.name}") for path in sorted(ROOT.glob("configs/growth/*.yaml"))
} | {"runs/mixture-20m": (MIXTURE,)}
LONG = 60.0  # core-seconds from which an estimate is compared with what was measured
ALLOWED = {"mean": 0.03, "cov": 0.06}  # standard error of a limit over the error at the largest n
LARGE = 10.0  # core-seconds of a rule that is worth a row
DRAWN = 60.0  # core-seconds of a rule that is worth a line in the figure


def main(default: str = ".") -> None:
    """`default` is the folder of the default run, relative to the project's; a part without a run stays as it is."""
    larger, growing = ([Run(f, overlays) for f, overlays in runs.items() if finished(f)] for runs in (RUNS, GROWTH))
    parts = parts_of_larger(Run(default, ()), larger) if larger else {}
    if growing:
        parts |= parts_of_growth(growing)
    PAGE.write_text(fill(PAGE.read_text(encoding="utf-8"), parts), encoding="utf-8")


def parts_of_larger(first: "Run", larger: list["Run"]) -> dict[str, str]:
    """Whole models with more tokens, beside the default run."""
    runs, same = [first, *larger], [first, *(run for run in larger if heads_alike(run, first))]
    if len(same) > 1:
        draw_moves(same, ROOT / "docs/published_heads.png")
    return {
        "measured": cost_rows(runs),
        "precision": "".join(map(precision, larger)),
        "verdicts": verdicts(runs),
        **({"moves": moves(same)} if len(same) > 1 else {}),
    }


def parts_of_growth(runs: list["Run"]) -> dict[str, str]:
    """One layer with more and more tokens, and what the largest of these runs found."""
    runs = sorted(runs, key=lambda run: run.population)
    largest = runs[-1]
    found = answer_of(largest.results)["conclusion"][0]
    found = f"- {found['says']} {found['detail']}\n{precision(largest)}"
    if len(runs) == 1:
        return {"one_layer": found}
    draw_growth(runs, ROOT / "docs/published_growth.png")
    return {"one_layer": found, "growth": growth_rows(runs)}


def finished(folder: str) -> bool:
    return (ROOT / folder / "results/claims.json").is_file()


class Run:
    """What a finished run left."""

    def __init__(self, folder: str, overlays: tuple[str, ...]) -> None:
        self.results, self.config = ROOT / folder / "results", resolved(*overlays)
        self.table = rates_table(self.results)
        head = by_head(self.table, "mean").iloc[0]
        self.model, self.text, self.population = head["model"], head["corpus"], int(head["population"])
        rows = {rule: (len(jobs), *total(jobs)) for rule, jobs in spent_by(self.results).items()}
        self.costs = pd.DataFrame.from_dict(rows, orient="index", columns=["jobs", "seconds", "held"])

    @property
    def title(self) -> str:
        return f"{self.model.rpartition('/')[2]}, N = {self.population:,}"

    @cached_property
    def estimates(self) -> dict[str, float]:
        """Core-seconds of a rule by the cost model, the start of its jobs included, as logs have it."""
        starts = {rule: START_SECONDS * jobs for rule, jobs in job_count(self.config).items()}
        return {rule: spent + starts.get(rule, 0.0) for rule, spent in seconds(self.config).items()}

    def heads(self, statistic: str) -> pd.DataFrame:
        """The fits of every head, and what first order predicts for it."""
        table = by_head(self.table, statistic)
        predicted = read(self.results / "rates/first_order.zarr.zip", "tokens_predicted")["tokens_predicted"]
        return table.join(predicted.sel(statistic=statistic, eps=0.05, drop=True).to_series())


def heads_alike(run: Run, other: Run) -> bool:
    """Whether two runs have the same heads."""
    return run.model == other.model and run.config["layers"] == other.config["layers"]


def cost_rows(runs: list[Run]) -> str:
    """Core-seconds and the largest job's memory of every rule of the larger runs; beside it, estimate over measured."""
    known = dict.fromkeys(rule for run in runs[1:] for rule in run.costs.index)
    rules = [rule for rule in known if any(spent(run, rule) >= LARGE for run in runs[1:])]
    rows = [[f"`{rule}`", *(cost_cell(run, rule) for run in runs)] for rule in rules]
    totals = [
        f"{hours(run.costs['seconds'].sum())}, {run.costs['held'].max() / 1e9:.1f} GB, "
        f"{stored(run.results / 'embeddings') / 1e9:.1f} GB of embeddings"
        for run in runs
    ]
    return markdown(["rule", *(run.title for run in runs)], [*rows, ["all jobs", *totals]])


def spent(run: Run, rule: str) -> float:
    return float(run.costs["seconds"].get(rule, 0.0))


def cost_cell(run: Run, rule: str) -> str:
    if rule not in run.costs.index:
        return "–"
    jobs, taken, held = run.costs.loc[rule, ["jobs", "seconds", "held"]]
    estimate = run.estimates.get(rule, 0.0) / taken if taken >= LONG else 0.0
    compared = f"; {estimate:.2f}" if estimate else ""
    return f"{taken:.0f} s in {jobs:.0f}, {held / 1e9:.1f} GB{compared}"


def stored(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.glob("*")) if folder.is_dir() else 0


def growth_rows(runs: list[Run]) -> str:
    """Costs of every rule by N, and exponents in N: of time over all runs and in the last step, of memory."""
    rows = []
    for rule in runs[-1].costs.index:
        if spent(runs[-1], rule) >= LARGE and all(rule in run.costs.index for run in runs):
            times = [cost_cell(run, rule) for run in runs]
            powers = [power(runs, rule, "seconds"), power(runs[-2:], rule, "seconds"), power(runs, rule, "held")]
            rows.append([f"`{rule}`", *times, *(f"{each:.2f}" for each in powers)])
    head = [f"{run.population:,}" for run in runs]
    exponents = ["exponent in N", "exponent, last step", "exponent of memory"]
    return markdown(["rule", *head, *exponents], rows)


def power(runs: list[Run], rule: str, column: str) -> float:
    """Slope of ln cost on ln N by least squares."""
    sizes = np.log([run.population for run in runs])
    return float(np.polyfit(sizes, np.log([run.costs.loc[rule, column] for run in runs]), 1)[0])


def steps(runs: list[Run]) -> list[tuple[Run, Run]]:
    """What is compared: each run with the next larger one, then the first with the last."""
    return [*pairwise(runs), *([(runs[0], runs[-1])] if len(runs) > 2 else [])]


def moves(runs: list[Run]) -> str:
    """How far each number of a head moves from run to run: median, 5 and 95 % of heads, disjoint intervals."""
    rows = []
    for statistic, name in STATISTICS.items():
        for column, words, form, scale in (
            ("beta", "β", "{:+.3f}", None),
            ("tokens_5", "n(5 %), interpolated or extrapolated", "×{:.2f}", np.log),
            ("tokens_predicted", "n(5 %), first order", "×{:.2f}", np.log),
            ("horizon", "H", "×{:.2f}", np.log),
        ):
            if (column, statistic) != ("horizon", "cov"):  # one horizon for both
                cells = [moved(*(run.heads(statistic) for run in pair), column, form, scale) for pair in steps(runs)]
                rows.append([words if column == "horizon" else f"{words}, {name}", *cells])
    head = [f"{before.population:,} to {after.population:,}" for before, after in steps(runs)]
    texts = "; ".join(f"{run.population:,}: {run.text}" for run in runs)
    return f"{len(runs[0].heads('mean'))} heads of {runs[0].model.rpartition('/')[2]}. Texts: {texts}.\n\n" + markdown(
        ["change from N to N", *head], rows
    )


def precision(run: Run) -> str:
    """The stated error of a limit over the error at the largest n, and which heads are above what is wanted."""
    words = []
    for statistic, name in STATISTICS.items():
        share = run.heads(statistic)["limit_se_share"]
        above = share[share > ALLOWED[statistic]]
        named = ", ".join(f"{layer}.{head}" for layer, head in above.index)
        words.append(
            f"{name}: median {100 * share.median():.1f} %, maximum {100 * share.max():.1f} %, above "
            f"{100 * ALLOWED[statistic]:.0f} % in {len(above)} of {len(share)} heads"
            + (f" (layer.head {named})" if named else "")
        )
    return f"- {run.title}. {'; '.join(words)}.\n"


def verdicts(runs: list[Run]) -> str:
    """The claims that a larger run decides, beside those of the default run."""
    found = [
        {each["id"]: each for each in json.loads((run.results / "claims.json").read_text(encoding="utf-8"))}
        for run in runs
    ]
    said = [name for name in found[0] if any(each.get(name, {}).get("verdict") for each in found[1:])]
    rows = [[found[0][name]["claim"], *(verdict(each.get(name)) for each in found)] for name in said]
    return markdown(["claim", *(run.title for run in runs)], rows)


def verdict(record: dict | None) -> str:
    return f"**{record['verdict']}**: {record['number']}" if record and record["verdict"] else "–"


def draw_moves(runs: list[Run], path: Path) -> None:
    """Each head in one run against the next larger one: rates, tokens needed, horizons; a row for each step."""
    set_theme()
    pairs = list(pairwise(runs))
    figure, axes = plt.subplots(len(pairs), 3, figsize=(10, 3.5 * len(pairs)), squeeze=False)
    for row, (before, after) in zip(axes, pairs, strict=True):
        for statistic, name in STATISTICS.items():
            both = before.heads(statistic).join(after.heads(statistic), how="inner", suffixes=("", "_after"))
            both = both.replace([np.inf, -np.inf], np.nan)
            for axis, column in zip(row, ("beta", "tokens_5"), strict=False):
                (x, x_bars), (y, y_bars) = (with_bars(both, column, of) for of in ("", "_after"))
                style = {"fmt": "o", "ms": 3, "lw": 0.6, "color": COLOURS[statistic], "label": name}
                axis.errorbar(x, y, xerr=x_bars, yerr=y_bars, **style)
        row[2].plot(both["horizon"], both["horizon_after"], "o", ms=3, color="0.3")
        for axis, name in zip(row, ("β", "n(5 %)", "H"), strict=True):
            if name != "β":
                axis.set(xscale="log", yscale="log")
            ends = [min(axis.get_xlim()[0], axis.get_ylim()[0]), max(axis.get_xlim()[1], axis.get_ylim()[1])]
            axis.plot(ends, ends, color="0.6", lw=0.8, zorder=0)
            axis.set(
                xlim=ends,
                ylim=ends,
                xlabel=f"{name}, {before.population:,} tokens",
                ylabel=f"{name}, {after.population:,} tokens",
            )
        row[1].set_title("more of the same text" if before.text == after.text else "another sample of Wikipedia")
    axes[0, 0].legend(frameon=False)
    save(figure, path)


def with_bars(table: pd.DataFrame, column: str, of: str) -> tuple[np.ndarray, np.ndarray]:
    """A column and how far its interval reaches below and above, (2, row)."""
    ends = table[[f"{column}_low{of}", f"{column}_high{of}"]].to_numpy().T
    return (value := table[column + of].to_numpy()), np.abs(ends - value)


def draw_growth(runs: list[Run], path: Path) -> None:
    """Core-seconds of the long rules and the largest job's memory against N."""
    set_theme()
    figure, (time, memory) = plt.subplots(1, 2, figsize=(10, 5))
    sizes = np.array([run.population for run in runs])
    last = runs[-1].costs["seconds"].sort_values(ascending=False)
    rules = [rule for rule in last.index if last[rule] >= DRAWN and all(rule in run.costs.index for run in runs)]
    for rule, colour in zip(rules, plt.get_cmap("viridis")(np.linspace(0, 0.9, len(rules))), strict=True):
        label = f"{rule}, exponent {power(runs[-2:], rule, 'seconds'):.2f} in the last step"
        time.plot(sizes, [spent(run, rule) for run in runs], "o-", color=colour, label=label)
        memory.plot(sizes, [run.costs.loc[rule, "held"] / 1e9 for run in runs], "o-", color=colour)
    time.plot(sizes, last.iloc[0] * 2 * sizes / sizes[-1], ":", color="0.5", label="proportional to N")
    time.set(xscale="log", yscale="log", xlabel="tokens N", ylabel="core-seconds, all jobs", title="time")
    memory.set(xscale="log", ylim=0, xlabel="tokens N", ylabel="GB, the largest job", title="memory")
    figure.legend(frameon=False, fontsize=8, loc="lower center", ncols=2)
    save(figure, path, rect=(0, 0.06 + 0.02 * len(rules), 1, 1))


def save(figure, path: Path, rect: tuple[float, ...] = (0, 0, 1, 1)) -> None:
    figure.tight_layout(rect=rect)
    figure.savefig(path, dpi=150, metadata={"Software": None})
    plt.close(figure)


if __name__ == "__main__":
    main(*sys.argv[1:])
