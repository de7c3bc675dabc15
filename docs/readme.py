"""Fill the parts of the README that come from results, between their marks: `make readme` after a run."""

import csv
import json
import shutil
import sys
from pathlib import Path

import yaml
from snakemake.utils import update_config

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / (sys.argv[1] if len(sys.argv) > 1 else ".") / "results"
sys.path.insert(0, str(ROOT / "scripts"))
from attnlimit.plan.costs import GPU_SPEED, disk_bytes, job_bytes, job_count, seconds  # noqa: E402

PAPER = ("paper.yaml",), ("paper.yaml", "paper-20m.yaml")


def main() -> None:
    shutil.copy(RESULTS / "figures/beta_vs_horizon.png", ROOT / "docs")
    answer = "".join(f"- {line}\n" for line in (RESULTS / "answer.txt").read_text().splitlines())
    parts = {"answer": answer, "claims": claims_table(), "costs": costs_table()}
    path = ROOT / "README.md"
    path.write_text(fill(path.read_text(), parts))


def fill(text: str, parts: dict[str, str]) -> str:
    """Put each part between <!-- name --> and <!-- /name -->."""
    for name, part in parts.items():
        before, start, rest = text.partition(f"<!-- {name} -->\n")
        _, end, after = rest.partition(f"<!-- /{name} -->\n")
        if not end:
            raise LookupError(f"README.md: no place <!-- {name} --> … <!-- /{name} -->")
        text = before + start + part + end + after
    return text


def claims_table() -> str:
    """Each claim, its verdict, and the measured number beside what was asked."""
    records = json.loads((RESULTS / "claims.json").read_text())
    rows = [[record["claim"], f"**{record['verdict']}**", record["in_short"]] for record in records]
    return markdown(["claim", "verdict", "measured"], rows)


def markdown(head: list[str], rows: list[list[str]]) -> str:
    """A table; a bar within a cell would end it."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', '∣') for cell in line)} |\n" for line in lines)


def resolved(*overlays: str) -> dict:
    config = yaml.safe_load((ROOT / "config.yaml").read_text())
    for overlay in overlays:
        update_config(config, yaml.safe_load((ROOT / "configs" / overlay).read_text()))
    return config


def costs_table() -> str:
    """Rules whose cost grows with the population: measured in the last run, computed for the published ones."""
    columns = [measured()] + [computed(resolved(*overlays)) for overlays in PAPER]
    head = [
        "rule",
        "N = 50,000, default (measured)",
        "N = 1,000,000, paper (computed)",
        "N = 20,000,000, paper (computed)",
    ]
    rows = [[f"`{rule}`", *(column[rule] for column in columns)] for rule in columns[0]]
    return markdown(head, rows)


def measured() -> dict[str, str]:
    """From the benchmark files of the last run."""
    found = {}
    for rule in job_bytes(resolved()):
        runs = [next(csv.DictReader(path.open(), delimiter="\t")) for path in (RESULTS / "benchmarks" / rule).iterdir()]
        spent = sum(float(run["cpu_time"]) for run in runs)
        found[rule] = cell(len(runs), spent, max(float(run["max_rss"]) for run in runs) * 1e6, None)
    stored = sum(path.stat().st_size for path in (RESULTS / "embeddings").iterdir())
    return found | {"embeddings on disk": f"{stored / 1e9:.3g} GB"}


def computed(config: dict) -> dict[str, str]:
    """From the formulas of costs.py."""
    spent, jobs = seconds(config), job_count(config)
    cells = {
        rule: cell(jobs[rule], spent.get(rule), held, spent[rule] if rule == "compute_limits" else None)
        for rule, held in job_bytes(config).items()
    }
    return cells | {"embeddings on disk": f"{disk_bytes(config) / 1e9:.3g} GB"}


def cell(jobs: int, core_seconds: float | None, held: float, on_gpu: float | None) -> str:
    time = "" if core_seconds is None else f", {hours(core_seconds)} of one core"
    gpu = "" if on_gpu is None else f" or {hours(on_gpu / GPU_SPEED)} of a GPU"
    return f"{jobs} jobs{time}{gpu}, {held / 1e9:.1f} GB each"


def hours(spent: float) -> str:
    if spent < 1000:
        return f"{spent:.0f} s"
    return f"{spent / 3600:.1f} h" if spent < 36000 else f"{spent / 3600:,.0f} h"


if __name__ == "__main__":
    main()
