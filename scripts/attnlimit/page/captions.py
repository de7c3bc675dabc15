"""Captions of figures as HTML: the files of rules/report, which Snakemake's report shows too."""

import re
from html import unescape
from types import SimpleNamespace
from typing import NamedTuple

import jinja2
from docutils.core import publish_parts

# A caption is a text of ours: no file of anybody's enters it, and a mistake in it is an error.
SETTINGS = {"halt_level": 2, "report_level": 2, "file_insertion_enabled": False, "raw_enabled": False}


class Caption(NamedTuple):
    """The first sentence as plain text, which says what a figure shows to those who do not see it; and all of it."""

    first: str
    html: str


def caption(text: str, config: dict) -> Caption:
    """Of a caption in reStructuredText with places for settings."""
    filled = jinja2.Template(text, undefined=jinja2.StrictUndefined).render(snakemake=SimpleNamespace(config=config))
    html = publish_parts(filled, writer="html5", settings_overrides=SETTINGS)["body"].strip()
    plain = unescape(re.sub(r"<[^>]*>", "", html))
    return Caption(first_sentence(" ".join(plain.split())), html)


def first_sentence(text: str) -> str:
    """Up to a full stop or a question mark with a capital after it."""
    return re.split(r"(?<=[.?]) (?=[A-Z])", text, maxsplit=1)[0]
