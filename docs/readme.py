"""Fill the parts of README.md and docs/ that come from results, between their marks: `make readme` after a run."""

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr
import yaml

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "scripts"))
from attnlimit.attention.key_protocols import SAMPLED  # noqa: E402
from attnlimit.base.log import Spent, spent_by  # noqa: E402
from attnlimit.base.store import read  # noqa: E402
from attnlimit.bench.limits import HEAD, table_rows  # noqa: E402
from attnlimit.questions.atlas.report import SUMMARY, model_rows  # noqa: E402
from attnlimit.stats.estimate import Estimate  # noqa: E402
from attnlimit.stats.verdicts import FAILS, HOLDS, chance_words  # noqa: E402
from attnlimit.workflow.costs import ASSUMED, GPU_SPEED, disk_bytes, job_bytes, job_count, seconds  # noqa: E402
from attnlimit.workflow.overlays import resolve  # noqa: E402
from attnlimit.workflow.registry import all_chapters, exclusive_chapters, figures, questions_of  # noqa: E402

LEADING = next(iter(figures(all_chapters())))  # of page and report too
PAPER = ("paper.yaml",), ("paper.yaml", "paper-20m.yaml")
LARGEST = Path("runs/wikipedia-1m")  # the largest run of all heads: configs/wikipedia-1m.yaml
ATLAS = Path("runs/atlas")  # what `make atlas` ends with
LANGUAGE = Path("runs/smollm2")  # the run of configs/smollm2.yaml
STUDIES = Path("runs/studies")  # the comparison that `make studies` ends with
UNPERTURBED = "wikipedia"  # the study that those of configs/studies/perturbed are compared with
PERTURBED = {
    "words": "words in random order",
    "sentences": "sentences in random order",
    "repeat": "64 words repeated",
    "wikipedia-again": "unchanged, another seed",
}
ON_GPU = ("compute_limits", "attend_queries")  # rules whose time on a GPU is told
ON_DISK = "embeddings on disk"
NORMAL = 1.96  # half-width of a 95 % interval in standard errors
STATISTICS = {"mean": "mean", "cov": "covariance"}


def main(folder: str = ".") -> None:
    """The folder is that of a run, relative to the project's."""
    results = ROOT / folder / "results"
    shutil.copy(results / f"figures/{LEADING}.png", ROOT / "docs")
    photograph(results / "index.html", ROOT / "docs/page.png")
    parts = parts_of(results)
    for path in pages(ROOT):
        path.write_text(fill(path.read_text(encoding="utf-8"), parts), encoding="utf-8")
    if left := set(parts) - {name for path in pages(ROOT) for name in marks(path.read_text(encoding="utf-8"))}:
        sys.exit(f"README.md and docs/: no place <!-- {min(left)} --> … <!-- /{min(left)} -->")


def photograph(page: Path, picture: Path) -> None:
    """The top of a page as a browser shows it, where there is one; else the picture stays as it is."""
    if (browser := shutil.which("chromium")) is None:
        return
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-background-networking"]
    with tempfile.TemporaryDirectory() as profile:
        options += [f"--user-data-dir={profile}", "--window-size=1300,1150", f"--screenshot={picture}"]
        subprocess.run([browser, *options, page.resolve().as_uri()], check=True, capture_output=True)  # noqa: S603  # ours


def pages(root: Path) -> list[Path]:
    return [root / "README.md", *sorted((root / "docs").glob("*.md"))]


def marks(text: str) -> list[str]:
    """Names of the places to fill, each a line <!-- name --> with a line <!-- /name --> below it."""
    return re.findall(r"^<!-- (\w+) -->\n(?:.*\n)*?<!-- /\1 -->$", text, re.M)


def fill(text: str, parts: dict[str, str]) -> str:
    """Put each part between its marks, where there are any; what no part is for stays as it is."""
    for name, part in parts.items():
        place = rf"(?m)^(<!-- {name} -->\n)(?:.*\n)*?(<!-- /{name} -->)$"
        text = re.sub(place, lambda found, part=part: found[1] + part + found[2], text)
    return text


def parts_of(results: Path) -> dict[str, str]:
    """Every part that these results can fill: a benchmark and a second run are made on demand."""
    table = rates_table(results)
    parts = {
        "time": time_taken(results),
        "headlines": headlines_table(results),
        "claims": claims_table(results),
        "answer": said(results),
        "details": "".join(f"- {line}\n" for line in details(table, results)),
        "intervals": intervals(table),
        "costs": costs_table(results),
    }
    if all((ROOT / run / "results/answer.json").is_file() for run in (LARGEST, LANGUAGE)):
        parts |= {"finding": finding(results), "tokens": tokens_table(results)}
    if (bench := results / "bench/attention.json").is_file():
        parts["bench"] = bench_table(json.loads(bench.read_text(encoding="utf-8")))
        parts["limits"] = markdown(
            list(HEAD), table_rows(json.loads(bench.with_name("limits.json").read_text(encoding="utf-8")))
        )
    if (studies := ROOT / STUDIES / "results/claims.json").is_file():
        parts["studies"] = said(studies.parent)
        parts["studied"] = claims_table(studies.parent)
        parts["elsewhere"] = elsewhere(ROOT / f"{STUDIES}.yaml")
    if (atlas := ROOT / ATLAS / "results/rates/atlas.zarr.zip").is_file():
        parts["atlas"] = said(atlas.parents[1])
        parts["atlas_models"] = markdown(list(SUMMARY), [list(row) for row in model_rows(read(atlas))])
        shutil.copy(atlas.parents[1] / "figures/atlas_depth.png", ROOT / "docs")
    tables = {name: ROOT / f"runs/{name}/results" for name in (UNPERTURBED, *PERTURBED)}
    if all((path / "rates.csv").is_file() for path in tables.values()):
        parts["perturbed"] = perturbed_table({name: rates_table(path) for name, path in tables.items()})
    if (language := ROOT / LANGUAGE / "results/rates/keys.zarr.zip").is_file():
        parts |= language_parts(language.parents[1])
    return parts


def language_parts(results: Path) -> dict[str, str]:
    """Of a run on a language model: keys and rates by protocol, the next token, verdicts, and what it cost."""
    keys, answers = (read(results / f"rates/{name}.zarr.zip") for name in ("keys", "next_token"))
    spent, held = total_of(results)
    about = (
        f"{keys.attrs['windows']} windows, context {keys.attrs['context']:,}. The jobs took {hours(spent)} of one core"
    )
    return {
        "language_keys": keys_by_protocol(keys),
        "language_next_token": next_tokens(answers),
        "language_claims": claims_table(results),
        "language_cost": f"{about}, each at most {held / 1e9:.1f} GB of memory.\n",
    }


def keys_by_protocol(fits: xr.Dataset) -> str:
    """n(5 %), β and the share of a cache over heads, and the growth with the context with its interval over windows."""
    at, rows = fits.sel(eps=0.05, context=fits.attrs["context"]), []

    def over_heads(name: str, protocol: str, digits: str, times: float = 1.0) -> str:
        levels = times * at[name].sel(protocol=protocol).quantile((0.05, 0.5, 0.95), ("layer", "head"))
        return " / ".join(f"{float(level):{digits}}" for level in levels)

    for name in SAMPLED:
        power, low, high = Estimate.of(fits, "median_growth", protocol=name)
        row = [over_heads("first_order_keys", name, ",.0f"), over_heads("beta", name, ".2f")]
        row += [over_heads("cache_share", name, ".0f", 100.0), f"{power:.2f} [{low:.2f}, {high:.2f}]"]
        rows.append([f"`{name}`", *row])
    head = [
        "protocol",
        "n(5 %) by first order, drawn keys only",
        "β",
        "share of a cache, %",
        "exponent of n(5 %) in the context length",
    ]
    return markdown(head, rows)


def next_tokens(fits: xr.Dataset) -> str:
    """Divergence, agreement and perplexity by protocol and keys read, with intervals over windows."""
    digits, rows = {"divergence": ".3f", "agreement": ".2f", "perplexity": ".1f"}, []
    for name in fits["protocol"].values.tolist():
        for n in fits["n"].values.tolist():
            found = {quantity: Estimate.of(fits, quantity, protocol=name, n=n) for quantity in digits}
            words = [f"{e.value:{digits[q]}} [{e.low:{digits[q]}}, {e.high:{digits[q]}}]" for q, e in found.items()]
            rows.append([f"`{name}`", f"{int(fits['budget'].sel(protocol=name, n=n))}", *words])
    dense = f"perplexity (dense: {float(fits['dense_perplexity']):.1f})"
    return markdown(["protocol", "keys read", "KL divergence from dense", "agreement", dense], rows)


def said(results: Path) -> str:
    """The lines of a run's answer as a list."""
    return "".join(f"- {line}\n" for line in (results / "answer.txt").read_text(encoding="utf-8").splitlines() if line)


def rates_table(results: Path) -> pd.DataFrame:
    """The fits of the error itself."""
    table = pd.read_csv(results / "rates.csv", dtype={"head": str, "setting": str}, comment="#")
    return table[table["part"] == "error"]


def heads_of(table: pd.DataFrame, statistic: str) -> pd.DataFrame:
    return table[(table["source"] == "heads") & (table["head"] != "all") & (table["statistic"] == statistic)]


def by_head(table: pd.DataFrame, statistic: str) -> pd.DataFrame:
    """The fits of every head, by layer and head."""
    heads = heads_of(table, statistic)
    return heads.astype({"layer": int, "head": int}).set_index(["layer", "head"])


def perturbed_table(tables: dict[str, pd.DataFrame]) -> str:
    """How each head changes from the text as it is to what was done to it; the last row is chance."""
    columns = {
        "β, mean": ("mean", "beta", "{:+.3f}", None),
        "n(5 %), mean": ("mean", "tokens_5", "×{:.2f}", np.log),
        "error at the largest n, covariance": ("cov", "relative_error", "×{:.2f}", np.log),
        "H": ("mean", "horizon", "×{:.2f}", np.log),
    }
    rows = []
    for name, words in PERTURBED.items():
        pairs = {each: [by_head(tables[study], each) for study in (UNPERTURBED, name)] for each in STATISTICS}
        rows.append([f"`{name}`: {words}", *(moved(*pairs[each], *rest) for each, *rest in columns.values())])
    return markdown(["change from `wikipedia` to", *columns], rows)


def moved(before: pd.DataFrame, after: pd.DataFrame, column: str, form: str, scale) -> str:
    """Changes of heads in words: differences, or ratios where the scale is a logarithm; the largest with its head."""
    both = before.join(after, how="inner", suffixes=("", "_after"))
    ends = [scale(both[name]) if scale else both[name] for name in (column, f"{column}_after")]
    change = (ends[1] - ends[0]).replace([np.inf, -np.inf], np.nan).dropna()

    def told(number: float) -> str:
        return form.format(np.exp(number) if scale else number)

    layer, head = change.abs().idxmax()
    low, middle, high = (told(change.quantile(level)) for level in (0.05, 0.5, 0.95))
    said = f"{middle} [{low}, {high}], largest {told(change[layer, head])} ({layer}.{head})"
    if f"{column}_low" not in both:
        return said
    disjoint = (both[f"{column}_low_after"] > both[f"{column}_high"]) | (
        both[f"{column}_low"] > both[f"{column}_high_after"]
    )
    return f"{said}; {int(disjoint.sum())} disjoint"


def answer_of(results: Path) -> dict:
    return json.loads((results / "answer.json").read_text(encoding="utf-8"))


def by_the_largest(results: Path, key: str) -> list:
    """Of the answer: what is said first, of how fast heads converge, by the largest run; the rest by this one."""
    return [answer_of(ROOT / LARGEST / "results")[key][0], *answer_of(results)[key][1:]]


def finding(results: Path) -> str:
    """What page and terminal open with.

    How fast heads converge is told of the largest run that was made, keys of a language model of its own run.
    """
    sentences = [*by_the_largest(results, "conclusion"), answer_of(ROOT / LANGUAGE / "results")["conclusion"][-1]]
    return "".join(f"- **{each['says']}** {each['detail']}".rstrip() + "\n" for each in sentences)


def tokens_table(results: Path) -> str:
    """How many tokens for 5 %, side by side: answers of the largest run, the default one, that on a language model."""
    found = by_the_largest(results, "answers") + answer_of(ROOT / LANGUAGE / "results")["answers"]
    numbers = [
        "<br>".join(f"{drawn}: **{number}**" if drawn else f"**{number}**" for drawn, number in each["numbers"].items())
        for each in found
    ]
    return markdown([each["case"] for each in found], [numbers, [each["words"] for each in found]])


def headlines_table(results: Path) -> str:
    """The paper's claims by headline, a row for each experiment, with one number each."""
    records = json.loads((results / "claims.json").read_text(encoding="utf-8"))
    tested = [record for record in records if record["verdict"] and not record["ours"]]
    rows = []
    for headline in dict.fromkeys(record["headline"] for record in tested):
        shared = [record for record in tested if record["headline"] == headline]
        for first, each in zip([headline, *[""] * len(shared)], shared, strict=False):
            said = verdict_of(each)
            rows.append([first, said, f"{each['experiment']}: {each['number']}"])
    return markdown(["claim of the paper", "verdict", "measured"], rows)


def verdict_of(record: dict) -> str:
    """In bold, with what stands beside it."""
    return f"**{record['verdict']}**" + (f" ({'; '.join(record['marks'])})" if record["marks"] else "")


def elsewhere(compared: Path) -> str:
    """After what the run found of the paper's bound: the studies that are compared.  compared: their config file."""
    folders = yaml.safe_load(compared.read_text(encoding="utf-8"))["compare_studies"]["studies"]
    claims = {
        name: json.loads((ROOT / folder / "results/claims.json").read_text(encoding="utf-8"))
        for name, folder in folders.items()
    }
    records = {name: next(each for each in claims[name] if each["id"] == "heads_above") for name in claims}
    holding = sum(record["verdict"] == HOLDS for record in records.values())
    sizes = resolved("study-sizes.yaml")["measure_errors"]["sizes"]
    studies = f"{len(records)} [studies](docs/studies.md) of texts and models"
    span = f"n from {sizes[0]:,} to {sizes[-1]:,}"
    below = []
    for name, record in records.items():
        if record["verdict"] == FAILS:
            counts, model = record["measured"], record["experiment"].removeprefix("heads of ")
            tilted = counts["below_with_large_tilt"]
            why = f" ({tilted} of them with a constant tilt that these n do not resolve)" if tilted else ""
            below.append(f"{model} in `{name}` {counts['below']} of {counts['fits']}{why}")
    if not below:
        return f"- **No rate is significantly below the paper's bound in {holding} of {studies}**, {span}.\n"
    return (
        f"- **In {len(below)} of {studies}, some rates lie below the paper's bound**: a rate measured at {span} "
        "need not respect a bound for n → ∞. Fits whose 95 % interval is entirely below (2.5 % of them would be by "
        f"chance if every rate were on the bound; the verdict also counts how far below they are): "
        f"{'; '.join(below)}.\n"
    )


def spread(numbers: pd.Series, digits: int = 2) -> str:
    return f"{numbers.min():.{digits}f} and {numbers.max():.{digits}f}"


def details(table: pd.DataFrame, results: Path) -> list[str]:
    """What the other chapters found; a chapter that was left out has no line."""
    mean = heads_of(table, "mean")
    lines = [
        f"Horizons of the heads are between {spread(mean['horizon'])}; "
        f"{int((mean['horizon'] < 1).sum())} of {len(mean)} are below 1."
    ]
    stores = [read(path, "sub_gaussian") for path in sorted((results / "tails").glob("layer_*.zarr.zip"))]
    factors = {(int(store["layer"]), str(head)): f for store in stores for head, f in enumerate(store["sub_gaussian"])}
    if factors:
        factor = pd.Series([float(factors[int(head.layer), head.head]) for head in mean.itertuples()], mean.index)
        groups = {"above": factor[mean["horizon"] > 1], "up to": factor[mean["horizon"] <= 1]}
        largest = [f"{group.max():.2f} in heads with H {word} 1" for word, group in groups.items() if len(group)]
        lines.append(
            "Sub-Gaussian constant of the tokens, relative to their covariance, along the directions that a head tilts "
            f"most; largest value: {', '.join(largest)} (lower estimates)."
        )
    return lines


def intervals(table: pd.DataFrame) -> str:
    """How much wider the bootstrap's intervals are than those of `se`."""
    fits = table[table["source"] == "heads"]
    ratio = ((fits["beta_high"] - fits["beta_low"]) / (2 * NORMAL * fits["se"])).median()
    return f"Here the bootstrap interval is {ratio:.1f} times as wide as from `se` (median over the model's fits).\n"


def claims_table(results: Path) -> str:
    """Each claim that was tested, its verdict, the measured number beside its threshold, and p among all claims."""
    records = json.loads((results / "claims.json").read_text(encoding="utf-8"))
    tested = sorted((record for record in records if record["verdict"]), key=lambda record: record["ours"])
    rows = [
        [
            record["claim"] + (" *(our question)*" if record["ours"] else ""),
            verdict_of(record),
            record["in_short"],
            chance_words(record["p_family"]),
        ]
        for record in tested
    ]
    return markdown(["claim", "verdict", "measured in this run", "chance"], rows)


def markdown(head: list[str], rows: list[list[str]]) -> str:
    """A table; a bar within a cell would end it."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', '∣') for cell in line)} |\n" for line in lines)


def total(jobs: Iterable[Spent]) -> Spent:
    """Processor time of jobs together, memory of the largest."""
    seconds, held = zip(*jobs, strict=True)
    return Spent(sum(seconds), max(held))


def total_of(results: Path) -> Spent:
    return total(job for jobs in spent_by(results).values() for job in jobs)


def time_taken(results: Path) -> str:
    """In processor time as jobs log it; where cores are hyperthreads, other work on the machine makes it longer."""
    by_rule = {rule: jobs for rule, jobs in spent_by(results).items() if rule != "bench_attention"}
    jobs, (spent, held) = sum(map(len, by_rule.values())), total(job for jobs in by_rule.values() for job in jobs)
    return (
        f"The {jobs} jobs of the default run took {spent / 60:.0f} minutes of processor time: about {spent / 120:.0f} "
        f"min on two cores, plus a minute or two for Snakemake itself. Each needs at most {held / 1e9:.1f} GB of "
        "memory.\n"
    )


def resolved(*overlays: str) -> dict:
    return resolve([ROOT / "config.yaml", *(ROOT / "configs" / name for name in overlays)])


def costs_table(results: Path) -> str:
    """Rules whose cost grows with the population: measured in the last run, computed for the published ones."""
    configs = [resolved(*overlays) for overlays in ((), *PAPER)]
    columns = [measured(results)] + [computed(config) for config in configs[1:]]
    sizes = [f"N = {config['tokenize_corpus']['population']:,}" for config in configs]
    head = ["rule", f"{sizes[0]}, default (measured)", *(f"{size}, paper (computed)" for size in sizes[1:])]
    apart = {rule for about in questions_of(exclusive_chapters()) for rule in about.cost(configs[0], ASSUMED)}
    rules = [rule for rule in (*job_bytes(configs[0]), ON_DISK) if any(rule in column for column in columns)]
    rules = [rule for rule in rules if rule not in apart]  # these runs have no such chapter
    rows = [[f"`{rule}`", *(column.get(rule, "–") for column in columns)] for rule in rules]
    return markdown(head, rows)


def measured(results: Path) -> dict[str, str]:
    """From the logs of the last run; a chapter that it does not have has none."""
    counted = job_bytes(resolved()).keys() & job_count(resolved())
    jobs = {rule: jobs for rule, jobs in spent_by(results).items() if rule in counted}
    cells = {rule: cell(len(each), *total(each), None) for rule, each in jobs.items()}
    stored = sum(path.stat().st_size for path in (results / "embeddings").iterdir())
    return cells | {ON_DISK: f"{stored / 1e9:.3g} GB"}


def computed(config: dict) -> dict[str, str]:
    """From what questions say of their rules."""
    spent, jobs, held = seconds(config), job_count(config), job_bytes(config)
    cells = {
        rule: cell(jobs[rule], spent.get(rule), each, spent[rule] if rule in ON_GPU else None)
        for rule, each in held.items()
        if rule in jobs
    }
    return cells | {ON_DISK: f"{disk_bytes(config) / 1e9:.3g} GB"}


def cell(jobs: int, core_seconds: float | None, held: float, on_gpu: float | None) -> str:
    time = "" if core_seconds is None else f", {hours(core_seconds)} of one core"
    gpu = "" if on_gpu is None else f" or {hours(on_gpu / GPU_SPEED)} of a GPU"
    return f"{jobs} jobs{time}{gpu}, {held / 1e9:.1f} GB each"


def hours(spent: float) -> str:
    if spent < 1000:
        return f"{spent:.0f} s"
    return f"{spent / 3600:.1f} h" if spent < 36000 else f"{spent / 3600:,.0f} h"


def bench_table(records: list[dict]) -> str:
    """Our kernel in each case of `make bench` that has a contender."""
    head = [
        "case",
        "speed-up over the published loop",
        "over fused attention",
        "relative error of mean, covariance",
    ]
    rows = [
        [
            record["case"],
            *(ratio(record, f"speedup_over_{name}") for name in ("published", "fused")),
            ", ".join(optional(record[f"error_{name}"], ".0e") for name in ("mean", "cov")),
        ]
        for record in records
        if record["contender"] == "ours" and record["speedup_over_fused"] is not None
    ]
    return markdown(head, rows)


def ratio(record: dict, name: str) -> str:
    """The median over the rounds, and the quartiles."""
    quartiles = record[f"{name}_quartiles"]
    between = f" ({'–'.join(f'{quartile:.1f}' for quartile in quartiles)})" if quartiles else ""
    return optional(record[name], ".1f") + between


def optional(number: float | None, digits: str) -> str:
    return "–" if number is None else f"{number:{digits}}"


if __name__ == "__main__":
    main(*sys.argv[1:])
