"""Formulas become MathML that is well formed and says the same; the rest of a text stays as it is."""

import re
from html import unescape
from xml.etree import ElementTree

import pytest

from attnlimit.page.assess import claims_of
from attnlimit.page.formulas import FORMULAS, typeset
from attnlimit.workflow.registry import all_chapters, exclusive_chapters, questions_with_claims


def parsed(html: str) -> ElementTree.Element:
    return ElementTree.fromstring(f"<p>{unescape(html.replace('&lt;', '&amp;lt;'))}</p>")  # noqa: S314  # ours


@pytest.mark.parametrize("plain", FORMULAS)
def test_every_formula_is_well_formed_and_keeps_its_letters(plain):
    """In the order in which they are written: signs of fractions, roots and powers are shown by place instead."""
    element = parsed(typeset(plain))
    assert [part.tag for part in element] == ["math"]
    raised = str.maketrans("²⁻ᵝ₀ₙ", "2−β0n")
    letters = re.sub(r"[/()√ \u2061]|exp", "", plain.translate(raised))
    told = re.sub(r"[()\u2061]", "", "".join(element.itertext()))
    assert told.removeprefix("e" if "exp" in plain else "") == letters


def test_the_bound_is_a_fraction():
    (fraction,) = parsed(typeset("at least 1/(2(1+H²)).")).iter("mfrac")
    assert ["".join(part.itertext()) for part in fraction] == ["1", "2(1+H2)"]


CLAIMS = claims_of(questions_with_claims([name for name in all_chapters() if name not in exclusive_chapters()]))


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_every_claim_is_typeset_and_well_formed(claim):
    html = typeset(claim.statement)
    parsed(html)
    outside = re.sub(r"<math>.*?</math>", "", html)
    assert not re.search(r"[√²⁻ᵝΨβ₀]", outside)


def test_letters_within_words_and_markup_are_left_alone():
    assert typeset("an n-gram, tokens' H1 <b>") == "an n-gram, tokens' H1 &lt;b&gt;"
    assert typeset("A & B") == "A &amp; B"


def test_powers_of_ten_are_written_out():
    html = typeset("p = 7.1e-16 and 3e+41")
    assert [unescape("".join(math.itertext())) for math in parsed(html).iter("math")] == ["7.1×10−16", "3×1041"]
