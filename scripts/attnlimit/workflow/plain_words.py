"""What a schema refuses, in words for people: the key, why, and what may be meant."""

import re
from difflib import get_close_matches

from jsonschema.exceptions import ValidationError

KINDS = {
    "integer": "a whole number",
    "number": "a number",
    "string": "text in quotes",
    "boolean": "true or false",
    "array": "a list",
    "object": "a section with keys of its own",
}
SHOWN = 100  # letters of a value


def plain_words(error: ValidationError, schema: dict) -> str:
    """One line: `measure_errors: no key 'size'; did you mean 'sizes'?`"""
    place = ".".join(map(str, error.path))
    return f"{place}: {reason(error, schema)}" if place else reason(error, schema)


def reason(error: ValidationError, schema: dict) -> str:
    value, wanted = error.instance, error.validator_value
    shown = f"{value!r:.{SHOWN}}"
    match error.validator:
        case "additionalProperties":
            known = error.schema["properties"]
            return unknown_key(min(map(str, set(value) - set(known))), list(known), schema)
        case "required":
            missing = next(name for name in wanted if name not in value)
            return f"the key {missing!r} is missing; config.yaml has it with its usual value"
        case "type":
            kinds = [KINDS[kind] for kind in ([wanted] if isinstance(wanted, str) else wanted)]
            return f"{shown} is not {' or '.join(kinds)}" + (" that can be stored" if type(value) is int else "")
        case "enum":
            words = list(map(str, wanted))
            return f"{shown} is not one of {', '.join(words)}{meant(str(value), words)}"
        case "pattern" if digits := re.search(r"\{(\d+)\}", wanted):
            return f"{shown} is not {digits[1]} hexadecimal digits in small letters"
        case "minItems":
            return f"{shown} has {len(value)} entries; at least {wanted} are needed"
        case "uniqueItems":
            return f"{shown} has an entry twice"
    return error.message[: 2 * SHOWN]


def unknown_key(name: str, known: list[str], schema: dict) -> str:
    """A key that is not there: one that is spelt alike, or the section that has it, or all that there are."""
    sections = schema["properties"].items()
    elsewhere = [f"{section}.{name}" for section, keys in sections if name in keys.get("properties", {})]
    others = f"; the keys are {', '.join(known)}"
    return f"no key {name!r:.{SHOWN}}{meant(name, known) or meant(name, elsewhere, least=0) or others}"


def meant(name: str, known: list[str], least: float = 0.6) -> str:
    alike = get_close_matches(name, known, 1, least)
    return f"; did you mean {alike[0]!r}?" if alike else ""
