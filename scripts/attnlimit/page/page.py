"""The page that a run ends with, results/index.html: what it is made of, put into the template of rules/page."""

import hashlib
import json
import os.path
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jinja2

from attnlimit.page.captions import caption
from attnlimit.page.formulas import typeset
from attnlimit.page.svg import inline, view_box
from attnlimit.sources.corpus.location import text_name

TEMPLATE = "index.html.j2"


class Figure(NamedTuple):
    """A figure of the run; svg and caption are HTML, and svg is "" if the file is not there."""

    name: str
    title: str
    svg: str
    view_box: str
    first: str  # sentence of the caption
    caption: str


class Section(NamedTuple):
    """A chapter of the page, made of chapters of the run."""

    id: str
    title: str
    about: str
    chapters: tuple[str, ...]


SECTIONS = (
    Section(
        "heads",
        "The heads of a real model",
        "Each head of the model is one attention map, with a limit of its own over the tokens of a real text. How fast "
        "does it get there, and does its horizon H tell?",
        ("heads", "tails", "ablation"),
    ),
    Section(
        "theory",
        "Theory, where the truth is known",
        "Simulated tokens have limits in closed form, so that nothing is left to a reference: here the paper's claims "
        "on n → ∞ can be tested.",
        ("theory",),
    ),
    Section(
        "whole-model",
        "The whole model",
        "Keys drawn in every layer at once: what becomes of the error after each layer, and of the model's answers?",
        ("whole_model",),
    ),
    Section(
        "contexts",
        "Contexts and patterns",
        "Real tokens stand among neighbours, and sparse attention reads some of them: what are they worth?",
        ("contexts",),
    ),
    Section(
        "studies",
        "Other models and texts",
        "Do the findings carry over?",
        ("studies",),
    ),
)


def figures_of(names: Sequence[str], titles: Mapping[str, str], drawn: Path, captions: Path, config: dict) -> dict:
    """Name -> Figure, in the order given, from the files in the folder `drawn`; of one that is not there, its words."""
    found = {}
    for name in names:
        told = caption((captions / f"{name}.rst").read_text(encoding="utf-8"), config)
        path = drawn / f"{name}.svg"
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        svg = inline(text, f"figure-{name}", told.first) if text else ""
        title = titles[name][:1].upper() + titles[name][1:]
        found[name] = Figure(name, title, svg, view_box(text) if text else "", told.first, told.html)
    return found


def sections_of(chapters: Mapping[str, Sequence[str]], figures: Mapping[str, Figure]) -> list[dict[str, Any]]:
    """The chapters of the page with their figures; chapters: those of the run, and the names of their figures.

    A run that compares others has nothing else; any other run also says which of its chapters are left out.
    """
    alone = "studies" in chapters
    shown = [section for section in SECTIONS if not alone or section.id == "studies"]
    return [
        section._asdict()
        | {
            "missing": [name for name in section.chapters if name not in chapters and name != "studies"],
            "figures": [figures[name] for chapter in section.chapters for name in chapters.get(chapter, ())],
        }
        for section in shown
    ]


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
    fewer = [f"Of {len(of_model)} layers, {counted(others, 'is', 'are')} not studied."] if others else []
    model, text = attrs["model"]["name"].rpartition("/")[2], text_name(attrs["corpus"])
    return [
        again if drawn_again else once,
        f"One model, {model}, small beside those in use, and one text, {text}: other models and texts are other runs.",
        *fewer,
    ]


def counted(numbers: Sequence[int], one: str, many: str) -> str:
    """2 is; 2 and 5 are; 2, 3 and 5 are."""
    words = list(map(str, numbers))
    return f"{words[0]} {one}" if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]} {many}"


def computed_on(stores: Iterable[dict]) -> str:
    """Devices and precisions that the attrs of stores name."""
    devices, dtypes = (sorted({str(attrs[key]) for attrs in stores if key in attrs}) for key in ("device", "dtype"))
    gpu = "" if any(name != "cpu" for name in devices) else "; no GPU was used, and none was tried"
    return f"Computed on {' and '.join(devices).upper()}, in {' and '.join(dtypes)}{gpu}." if devices else ""


def settings_of(config: dict) -> dict[str, Any]:
    """What the page says of the run's settings: its name, how to run it, one checksum of all settings."""
    own = config["run"] != "default"
    return {
        "run": config["run"],
        "seed": config["seed"],
        "overlay": f" CONFIG={config['run']}.yaml" if own else "",
        "run_option": f" RUN={config['run']}" if own else "",
        "folder": folder(config),
        "settings_sha256": hashlib.sha256(json.dumps(config, sort_keys=True).encode()).hexdigest(),
        "studies_missing": list(config.get("compare_studies", {}).get("missing", {}).items()),
    }


def studies_of(config: dict) -> list[tuple[str, str]]:
    """Name of each study that the run compares, and its page as seen from this one."""
    named = config.get("compare_studies", {}).get("studies", {})
    return [(name, os.path.relpath(f"{path}/results/index.html", folder(config))) for name, path in named.items()]


def folder(config: dict) -> str:
    """Of the results, as seen from the project's folder."""
    return "results" if config["run"] == "default" else f"runs/{config['run']}/results"


def render(templates: Path, content: dict[str, Any]) -> str:
    """The page, from the template in that folder and what it includes; a name that is not given is an error."""
    options: dict[str, Any] = {"trim_blocks": True, "lstrip_blocks": True, "undefined": jinja2.StrictUndefined}
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(templates), autoescape=True, **options)
    environment.filters["typeset"] = typeset
    return environment.get_template(TEMPLATE).render(content).strip() + "\n"
