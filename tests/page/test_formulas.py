"""Formulas become HTML that is well formed and says the same; the rest of a text stays as it is."""

import re
from html import unescape
from xml.etree import ElementTree

import pytest

from attnlimit.page.assess import claims_of
from attnlimit.page.formulas import typeset
from attnlimit.workflow.registry import all_chapters, questions_with_claims

PLAIN = str.maketrans("²⁻ᵝ₀₁ₙ", "2−β01n")
CLAIMS = claims_of(questions_with_claims(all_chapters()))


def words(html: str) -> str:
    """What is left of HTML without its marks, which must be well formed."""
    ElementTree.fromstring(f"<p>{html}</p>")  # noqa: S314  # ours
    return unescape(re.sub(r"<[^>]*>", "", html))


@pytest.mark.parametrize(
    ("plain", "set_"),
    [
        ("1/(2(1+H²))", "1/(2(1+<i>H</i><sup>2</sup>))"),
        ("n⁻ᵝ", "<i>n</i><sup>−<i>β</i></sup>"),
        ("32Ψ, C′(R)/√n", "32<i>Ψ</i>, <i>C</i>′(<i>R</i>)/√<i>n</i>"),
        ("E|meanₙ| = ln(4) σ", "E|mean<sub><i>n</i></sub>| = ln(4) <i>σ</i>"),
        ("exp(2s₀²)", "exp(2<i>s</i><sub>0</sub><sup>2</sup>)"),
        ("p = 7.1e-16 and 3e+41", "p = 7.1 × 10<sup>−16</sup> and 3 × 10<sup>41</sup>"),
        ("an n-gram, tokens' H1 <b>", "an n-gram, tokens' H1 &lt;b&gt;"),
        ("A & B", "A &amp; B"),
    ],
)
def test_what_is_set_and_what_is_left_alone(plain, set_):
    assert typeset(plain) == set_


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_every_claim_keeps_its_words_and_no_sign_is_left_unset(claim):
    for text in (claim.statement, claim.headline, claim.experiment, claim.test):
        html = typeset(text)
        assert words(html) == text.translate(PLAIN)
        assert not re.search(r"[²⁻ᵝ₀₁ₙ]", html) and not re.search(r"[βΨ]", re.sub(r"<i>.*?</i>", "", html))
