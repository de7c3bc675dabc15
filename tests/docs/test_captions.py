"""Captions of the report: they render without a complaint, for the default config, and formulas are typeset."""

import re
from types import SimpleNamespace

import jinja2
import pytest
import yaml
from docutils.core import publish_parts
from docutils.utils import SystemMessage

from support.envs import ROOT

CAPTIONS = sorted((ROOT / "rules/report").glob("*.rst"))
CONFIG = yaml.safe_load((ROOT / "config.yaml").read_text())


def rendered(text: str, config: dict) -> str:
    filled = jinja2.Template(text, undefined=jinja2.StrictUndefined).render(snakemake=SimpleNamespace(config=config))
    settings = {"halt_level": 2, "report_level": 2, "warning_stream": False}
    return publish_parts(filled, writer="html", settings_overrides=settings)["body"]


@pytest.mark.parametrize("path", CAPTIONS, ids=lambda path: path.stem)
def test_a_caption_renders_and_its_formulas_are_typeset(path):
    for config in (CONFIG, CONFIG | {"chapters": ["heads"]}):
        words = re.sub(r"<[^>]*>", "", rendered(path.read_text(), config))
        assert words.strip()
        assert not re.search(r"\w\^|\^\(|sqrt|\b(Psi|Sigma|Gamma)\b|<=|>=|:sup:|`", words)


def test_a_broken_caption_would_be_seen():
    with pytest.raises(SystemMessage, match="substitution"):
        rendered("The norm |x| of a vector.", CONFIG)
