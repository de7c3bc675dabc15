"""The page that a run ends with, results/index.html: what it is made of, put into the template of rules/page."""

import hashlib
import json
import os.path
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from attnlimit.base.log import counted
from attnlimit.page.answer import capital
from attnlimit.page.figures import Figure
from attnlimit.page.formulas import typeset
from attnlimit.sources.corpus.location import text_name
from attnlimit.stats.verdicts import HARDLY, LOOKS, UNDECIDED, VERDICTS, chance_words
from attnlimit.workflow.folders import COMPARISONS

TEMPLATE = "index.html.j2"
WHOSE = {"The paper’s claims": False, "Our own hypotheses": True}
NO_ANSWER: dict = {"conclusion": [], "answers": [], "lines": {}}  # of a run that is not finished
HEADINGS = {  # of runs with this chapter
    "studies": "Do the heads of a model keep their rates and horizons from text to text?",
    "atlas": "How many keys of their context do the heads of models need?",
    "entry": "How many keys of their context do the heads of a model need?",
    "language": "How many keys of its context does a language model need?",
}
TABLES = {"studies": "studies", "atlas": "atlas", "language": "keys", "entry": ""}  # of these chapters; else rates
HEADING = "How many tokens does attention need before it acts as if there were infinitely many?"
POWER = "power.json"  # how often each rule decides, by simulation: `make power`


def claims_on_page(records: list[dict], figures: Mapping[str, Figure]) -> dict[str, Any]:
    """What the page shows of the records of claims.json: those that were tested, with figures that are there."""
    drawn = {name for name, figure in figures.items() if figure.svg}
    tested = [
        record | {"figures": [name for name in record["figures"] if name in drawn]}
        for record in records
        if record["verdict"]
    ]
    judged = [record["p"] for record in tested if record["p"] is not None]
    whose = {title: [record for record in tested if record["ours"] == ours] for title, ours in WHOSE.items()}
    return {
        "claims": tested,
        "verdicts": [overview(title, some) for title, some in whose.items() if some],
        "looks": {verdict: LOOKS[verdict]._asdict() | {"name": verdict.split()[0]} for verdict in VERDICTS},
        "verdict_undecided": UNDECIDED,
        "family": len(judged),
        "not_tested": (left := [record for record in records if record["left_out"]]),
        "not_tested_count": counted(len(left), "more claim"),
    }


def overview(title: str, records: list[dict]) -> dict[str, Any]:
    """Claims under one title: how many have which verdict, and the claims that share a headline together."""
    counts = Counter(record["verdict"] for record in records)
    themes = dict.fromkeys(record["headline"] for record in records)
    return {
        "title": title,
        "counts": {verdict: counts[verdict] for verdict in VERDICTS if verdict in counts},
        "hardly": sum(record["able"] == HARDLY for record in records),
        "themes": [(theme, [record for record in records if record["headline"] == theme]) for theme in themes],
    }


def placed(sections: list[dict], claims: list[dict], figures: Mapping[str, Figure], leading: str) -> dict[str, Any]:
    """By question: the first figure that claims are read from; and the others, which are folded.

    The leading figure of the page stands at its top.
    """
    named = {name for claim in claims for name in claim["figures"]} | {leading}
    shown, folded = {}, {}
    for question in [question for section in sections for question in section["questions"]]:
        own = [name for name in question["figures"] if name in figures]
        first = [name for name in own if name in named][:1]
        shown[question["name"]] = [name for name in first if name != leading]
        folded[question["name"]] = [name for name in own if name not in first]
    return {"shown": shown, "folded": folded}


def limits(
    attrs: dict, sizes: Sequence[int], layers: Sequence[int], of_model: Sequence[int], drawn_again: bool
) -> list:
    """What this run can not tell, from the attrs of the model's rates: sizes n, layers studied and of the model.

    drawn_again: whether samples are drawn with replacement.
    """
    population, span = f"a population of {attrs['population']:,} tokens", f"n from {sizes[0]:,} to {sizes[-1]:,}"
    again = (
        f"Samples are drawn with replacement from {population}, whose limit is exact. It is finite: for n → ∞ the rate "
        f"is 1/2 whatever the head, and a measured β describes {span}, not an asymptote."
    )
    once = (
        f"Samples are drawn without replacement from {population}, {span}: attention over the population is then not "
        "the exact limit of such draws, and slopes steepen towards it."
    )
    others = [layer for layer in of_model if layer not in layers]
    fewer = [f"Of {len(of_model)} layers, {listed(others, 'is', 'are')} not studied."] if others else []
    model, text = attrs["model"]["name"].rpartition("/")[2], text_name(attrs["corpus"])
    return [
        again if drawn_again else once,
        f"One model, {model}, small beside those in use, and one text, {text}: other models and texts are other runs.",
        *fewer,
    ]


def limits_of_keys(attrs: dict) -> list[str]:
    """The same of a run on keys of a context, from the attrs of its fits."""
    model, text = attrs["model"]["name"].rpartition("/")[2], text_name(attrs["corpus"])
    windows = f"{counted(attrs['windows'], 'window')} of {attrs['context']:,} tokens"
    lines = [
        f"One model, {model}, and {windows} of one text, {text}. Intervals are over these few windows: they speak "
        "of other windows of this text, for these heads."
    ]
    if rounded := attrs["model"].get("quantised"):
        lines += [f"Its weights are rounded to few bits ({rounded}): heads of the model as trained may differ."]
    return lines


def listed(numbers: Sequence[int], one: str, many: str) -> str:
    """2 is; 2 and 5 are; 2, 3 and 5 are."""
    words = list(map(str, numbers))
    return f"{words[0]} {one}" if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]} {many}"


def computed_on(stores: Iterable[dict]) -> str:
    """Devices and precisions that the attrs of stores name."""
    devices, dtypes = (sorted({str(attrs[key]) for attrs in stores if key in attrs}) for key in ("device", "dtype"))
    gpu = "" if any(name != "cpu" for name in devices) else "; no GPU was used, and none was tried"
    return f"Computed on {' and '.join(devices).upper()}, in {' and '.join(dtypes)}{gpu}." if devices else ""


def settings_of(config: dict, command: str) -> dict[str, Any]:
    """What the page says of the run's settings: its name, the command that makes it, one checksum of all settings."""
    own = config["run"] != "default"
    return {
        "run": config["run"],
        "heading": next((words for name, words in HEADINGS.items() if name in config["chapters"]), HEADING),
        "table_file": next((table for name, table in TABLES.items() if name in config["chapters"]), "rates"),
        "of_keys": not {"language", "entry"}.isdisjoint(config["chapters"]),
        "seed": config["seed"],
        "doubt": f"{100 * (1 - config['assess_claims']['level']):.3g} %",
        "command": command,
        "run_option": f" RUN={config['run']}" if own else "",
        "folder": folder(config),
        "settings_sha256": hashlib.sha256(json.dumps(config, sort_keys=True).encode()).hexdigest(),
        "missing": {
            chapter: list(config.get(section, {}).get("missing", {}).items())
            for chapter, (section, _) in COMPARISONS.items()
        },
    }


def studies_of(
    config: dict, facts: Mapping[str, str], section: str = "compare_studies", key: str = "studies"
) -> list[tuple[str, str, str]]:
    """Name of each run that is compared, its page as seen from this one, and what is known of it."""
    named = config.get(section, {}).get(key, {})
    pages = {name: os.path.relpath(f"{path}/results/index.html", folder(config)) for name, path in named.items()}
    return [(name, page, facts.get(name, "")) for name, page in pages.items()]


def folder(config: dict) -> str:
    """Of the results, as seen from the project's folder."""
    return "results" if config["run"] == "default" else f"runs/{config['run']}/results"


def render(templates: Path, content: dict[str, Any]) -> str:
    """The page, from the template in that folder and what it includes; a name that is not given is an error."""
    options: dict[str, Any] = {"trim_blocks": True, "lstrip_blocks": True, "undefined": jinja2.StrictUndefined}
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(templates), autoescape=True, **options)
    environment.filters["typeset"] = lambda text: Markup(typeset(text))  # noqa: S704  # it escapes what it does not set
    environment.filters["capital"] = capital
    environment.filters["chance"] = chance_words
    environment.filters["numbers"] = lambda numbers: json.dumps(numbers, indent=1, ensure_ascii=False)
    power = {row["id"]: row for row in json.loads((templates / POWER).read_text(encoding="utf-8"))}
    return environment.get_template(TEMPLATE).render(content | {"power": power}).strip() + "\n"
