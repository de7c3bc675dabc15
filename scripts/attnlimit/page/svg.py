"""Figures inside a page: an SVG file as an element whose names meet those of no other figure."""

import re
from html import escape

DROPPED = (r"<\?xml.*?\?>", r"<!DOCTYPE.*?>", r"<metadata>.*?</metadata>", r"<!--.*?-->", r"<style.*?</style>")
REFERRED = r'(\bhref="#|url\(#)([^")]+)'
PLACES = r'\b(?:d|x|y)="[^"]*"'  # in points
FONTS = "'DejaVu Sans', Verdana, sans-serif"  # Verdana is as wide where the figures' own font is not installed


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
        raise ValueError("a figure has no viewBox: it is no SVG of page/style.py; run `make reproduce`")
    return found[1]
