"""Figures inside the page: an SVG file as an element whose ids are unique in the page, and its caption as HTML."""

import re
from collections.abc import Mapping
from html import escape, unescape
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import jinja2
from docutils.core import publish_parts

from attnlimit.page.answer import capital

DROPPED = (r"<\?xml.*?\?>", r"<!DOCTYPE.*?>", r"<metadata>.*?</metadata>", r"<!--.*?-->", r"<style.*?</style>")
REFERRED = r'(\bhref="#|url\(#)([^")]+)'
PLACES = r'\b(?:d|x|y)="[^"]*"'  # in points
FONTS = "'DejaVu Sans', Verdana, sans-serif"  # Verdana is as wide where the figures' own font is not installed
# A caption is a text of ours: no file of anybody's enters it, and a mistake in it is an error.
SETTINGS = {"halt_level": 2, "report_level": 2, "file_insertion_enabled": False, "raw_enabled": False}


class Figure(NamedTuple):
    """A figure of the run; svg and caption are HTML, and svg is "" if the file is not there."""

    name: str
    title: str
    svg: str
    first: str  # sentence of the caption
    caption: str


def figures_of(titles: Mapping[str, str], drawn: Path, captions: Path, config: dict) -> dict[str, Figure]:
    """By name, in the order of the titles, from files in the folder `drawn`; of one that is not there, its words."""
    found = {}
    for name, title in titles.items():
        words = caption((captions / f"{name}.rst").read_text(encoding="utf-8"), config)
        path = drawn / f"{name}.svg"
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        svg = inline(text, f"figure-{name}", words.first) if text else ""
        found[name] = Figure(name, capital(title), svg, words.first, words.html)
    return found


class Caption(NamedTuple):
    """The first sentence as plain text, which says what a figure shows to those who do not see it; and all of it."""

    first: str
    html: str


def caption(text: str, config: dict) -> Caption:
    """A caption in reStructuredText, with the settings of the run filled in."""
    filled = jinja2.Template(text, undefined=jinja2.StrictUndefined).render(snakemake=SimpleNamespace(config=config))
    html = publish_parts(filled, writer="html5", settings_overrides=SETTINGS)["body"].strip()
    plain = unescape(re.sub(r"<[^>]*>", "", html))
    return Caption(first_sentence(" ".join(plain.split())), html)


def first_sentence(text: str) -> str:
    """Up to a full stop or a question mark with a capital after it."""
    return re.split(r"(?<=[.?]) (?=[A-Z])", text, maxsplit=1)[0]


def inline(text: str, name: str, label: str) -> str:
    """The element of an SVG file, with `label` for those who do not see it.

    Names within it begin with `name`; those that nothing refers to go, as do digits below a hundredth of a point.
    """
    for pattern in DROPPED:
        text = re.sub(pattern, "", text, flags=re.S)
    used = {target for _, target in re.findall(REFERRED, text)}
    text = re.sub(r' id="([^"]*)"', lambda found: f' id="{name}-{found[1]}"' if found[1] in used else "", text)
    text = re.sub(REFERRED, rf"\g<1>{name}-\2", text)
    text = re.sub(PLACES, lambda found: re.sub(r"(\.\d\d)\d+", r"\1", found[0]), text)
    text = text.replace("font-family: 'DejaVu Sans'", f"font-family: {FONTS}").replace("xlink:href=", "href=")
    text = re.sub(r"\s*\n\s*", " ", text).replace("> <", "><").strip()
    opening = f'<svg id="{name}" role="img" aria-label="{escape(label)}" viewBox="{view_box(text)}">'
    return re.sub(r"<svg\b[^>]*>", lambda _: opening, text, count=1)


def view_box(text: str) -> str:
    """Left, top, width and height of an SVG."""
    found = re.search(r'viewBox="([\d. -]+)"', text)
    if found is None:
        raise ValueError("a figure has no viewBox: it is no SVG of drawing/style.py; run `make reproduce`")
    return found[1]
