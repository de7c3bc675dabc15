"""Formulas of plain text as HTML: variables in italics, what is raised or lowered in its place; any font will do."""

import re
from html import escape

RAISED, LOWERED = str.maketrans("²⁻ᵝ", "2−β"), str.maketrans("₀₁ₙ", "01n")
RAISED_SIGNS, LOWERED_SIGNS = "[²⁻ᵝ]", "[₀₁ₙ]"
ALONE = rf"(?<![^\W\d]|[’'-])[HnR](?=(?:{RAISED_SIGNS}|{LOWERED_SIGNS}|(?![\w’'-])))"  # not within a word
PATTERN = re.compile(
    rf"(?P<variable>[βΨσ]|{ALONE}|[sc](?={LOWERED_SIGNS})|\bC(?=′?\(R\)))"
    rf"|(?P<raised>{RAISED_SIGNS}+)|(?P<lowered>{LOWERED_SIGNS}+)"
    r"|(?<![\w.])(?P<digits>\d(?:\.\d+)?)e(?P<exponent>[+-]\d+)\b"
)


def typeset(text: str) -> str:
    """Text as HTML: variables, powers, indices and numbers like 3e-41 are set, the rest is escaped."""
    parts, end = [], 0
    for found in PATTERN.finditer(text):
        parts += [escape(text[end : found.start()], quote=False), formula(found)]
        end = found.end()
    return "".join([*parts, escape(text[end:], quote=False)])


def formula(found: re.Match) -> str:
    if variable := found["variable"]:
        return f"<i>{variable}</i>"
    if raised := found["raised"]:
        return f"<sup>{raised.translate(RAISED).replace('β', '<i>β</i>')}</sup>"
    if lowered := found["lowered"]:
        return f"<sub>{lowered.translate(LOWERED).replace('n', '<i>n</i>')}</sub>"
    exponent = str(int(found["exponent"])).replace("-", "−")
    return f"{found['digits']} × 10<sup>{exponent}</sup>"
