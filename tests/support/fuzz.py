"""Damage to bytes, nonsense in configs, and what an error must then say."""

from math import inf, nan
from pathlib import Path

from hypothesis import strategies as st

BEYOND_FLOATS = 10**400
NONSENSE = [None, True, -1, 0, 2**40, 1.5, "", "x", [], [1], ["x"], {}, {"name": "x"}]


@st.composite
def damage(draw, content: bytes) -> bytes:
    """The content with some bits flipped, cut short, with bytes put in, taken out, doubled, or with another's begun."""
    place = draw(st.integers(0, len(content) - 1))
    match draw(st.sampled_from(["flip", "flip", "flip", "cut", "insert", "remove", "repeat", "zero", "replace"])):
        case "flip":
            spots = draw(st.lists(st.integers(0, 8 * len(content) - 1), min_size=1, max_size=3))
            changed = bytearray(content)
            for spot in spots:
                changed[spot // 8] ^= 1 << spot % 8
            return bytes(changed)
        case "cut":
            return content[:place]
        case "insert":
            return content[:place] + draw(st.binary(min_size=1, max_size=8)) + content[place:]
        case "remove":
            return content[:place] + content[place + draw(st.integers(1, 200)) :]
        case "repeat":
            return content[:place] + content[max(0, place - 100) :]
        case "zero":
            return content[:place] + bytes(min(50, len(content) - place)) + content[place + 50 :]
    return draw(st.binary(max_size=40))


def told(path: Path, action):
    """What the action returns, or None if it tells in one line what is wrong with the file."""
    try:
        return action()
    except (ValueError, LookupError) as error:
        message = str(error)
        assert message.startswith(f"{path}"), message
        assert len(message.splitlines()) == 1, message
        return None


@st.composite
def other_value(draw, value) -> object:
    """Another value than a key has: of its kind, of another kind, nested, huge, not finite."""
    extremes = st.sampled_from([0, -1, 10**7, 2**63, BEYOND_FLOATS, nan, inf, -inf])
    numbers = st.integers(-2, 100) | st.floats() | extremes
    leaves = st.none() | st.booleans() | numbers | st.text(max_size=8) | st.sampled_from(["ю", "\ud800", "a\nb", "{x}"])
    match value:
        case list() if draw(st.booleans()):
            return draw(st.lists(numbers, max_size=5) | st.permutations(value))
        case int() | float() if draw(st.booleans()):
            return draw(numbers)
    inner = st.lists(leaves, max_size=3) | st.dictionaries(st.text(max_size=5), leaves, max_size=3)
    return draw(leaves | inner | st.lists(inner, max_size=2))


def places(config: dict, above: tuple = ()) -> list[tuple]:
    """Every key of every level, sections and lists too."""
    found = [(*above, key) for key in config]
    for key, value in config.items():
        if isinstance(value, dict):
            found += places(value, (*above, key))
    return found
