"""A verdict has one word, one symbol and one colour, wherever it is shown."""

from pathlib import Path

from attnlimit.stats.verdicts import LOOKS, VERDICTS

ROOT = Path(__file__).parents[2]


def luminance(colour: str) -> float:
    """Of WCAG 2: 0.2126 R + 0.7152 G + 0.0722 B of the linear channels."""
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return sum(weight * value for weight, value in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_every_verdict_has_a_look_of_its_own_that_is_dark_on_white():
    assert set(LOOKS) == set(VERDICTS)
    assert len({look.symbol for look in LOOKS.values()}) == len({look.colour for look in LOOKS.values()}) == 3
    for look in LOOKS.values():
        assert 1.05 / (luminance(look.colour) + 0.05) >= 4.5  # the contrast that text must have, AA


def test_words_and_looks_are_defined_once():
    """In stats/verdicts.py: neither the figure nor any other module spells them out."""
    home = ROOT / "scripts/attnlimit/stats/verdicts.py"
    own = [f'"{verdict}"' for verdict in VERDICTS] + [look.colour for look in LOOKS.values()] + ["✓", "✗"]
    others = [path for path in (ROOT / "scripts").rglob("*.py") if path != home]
    assert all(word in home.read_text() for word in own)
    assert [(path.name, word) for path in others for word in own if word in path.read_text()] == []
