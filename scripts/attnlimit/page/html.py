"""Small pages for the report: headings, lines and tables in one HTML file that needs no network."""

from collections.abc import Iterable, Sequence
from html import escape

from attnlimit.base.job import QUICK_LOOK

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2em; color: #222; }
h1 { font-size: 1.4em; } h2 { font-size: 1.1em; margin-top: 2em; }
table { border-collapse: collapse; font-size: 0.8em; }
th, td { padding: 0.2em 1em 0.2em 0; text-align: left; vertical-align: top; border-bottom: 1px solid #ddd; }
td { overflow-wrap: anywhere; } td:first-child { overflow-wrap: normal; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
.small { color: #555; font-size: 0.9em; } pre { font-size: 0.85em; white-space: pre-wrap; overflow-wrap: anywhere; }
"""


def page(title: str, parts: Iterable[str], quick_look: bool = False) -> str:
    """A whole page of the given parts, which are HTML already; a quick look is said to be one in its title."""
    title += f" ({QUICK_LOOK})" if quick_look else ""
    head = f'<meta charset="utf-8"><title>{escape(title)}</title><style>{STYLE}</style>'
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head>\n<body>\n<h1>{escape(title)}</h1>\n' + (
        "\n".join(parts) + "\n</body></html>\n"
    )


def section(title: str, *parts: str) -> str:
    return "\n".join([f"<h2>{escape(title)}</h2>", *parts])


def paragraph(text: str) -> str:
    return f"<p>{escape(text)}</p>"


def table(columns: Sequence[str], rows: Iterable[Sequence]) -> str:
    """Rows of strings and numbers; numbers stand at the right, a float with one decimal place."""
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    body = "\n".join(f"<tr>{''.join(map(cell, row))}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table>"


def cell(value: str | int | float) -> str:
    if isinstance(value, str):
        return f"<td>{escape(value)}</td>"
    return f'<td class="number">{value:,.{0 if isinstance(value, int) else 1}f}</td>'
