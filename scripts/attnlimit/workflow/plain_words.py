"""What a model of the config refuses, in words for people: the key, why, and what may be meant."""

import re
from collections.abc import Mapping
from difflib import get_close_matches
from math import isfinite
from typing import Any, get_args

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from attnlimit.base.section_types import LARGEST, LETTERS, ConfigError

KINDS = {  # by what pydantic and Python call them
    "int": "a whole number",
    "float": "a number",
    "finite_number": "a number",
    "str": "text in quotes",
    "string": "text in quotes",
    "bool": "true or false",
    "list": "a list",
    "dict": "a section with keys of its own",
    "model": "a section with keys of its own",
}
KEY = "[key]"  # pydantic's place of the name of an entry
WRONG_NAME = ("extra_forbidden", "invalid_key")  # of a key


def plain_words(errors: list[ErrorDetails], config: object, model: type[BaseModel]) -> str:
    """One line on the worst of these errors: `measure_errors: no key 'size'; did you mean 'sizes'?`"""
    error = min(errors, key=lambda error: (error["type"] not in WRONG_NAME, len(error["loc"])))
    path = path_of(error, config)
    known = list(fields_of(model, path)) if error["type"] in WRONG_NAME else []
    why = unknown_key(str(error["loc"][-1]), known, model) if known else reason(error)
    return ": ".join(filter(None, (".".join(path), why)))


def path_of(error: ErrorDetails, config: object) -> list[str]:
    """Keys and places that lead to what is refused; of an unknown or a missing key, to its section.

    Pydantic also names the kind that it took a value for, which is no part of the path.
    """
    path: list[str] = []
    for step in error["loc"] if error["type"] not in WRONG_NAME else error["loc"][:-1]:
        entries = config if isinstance(config, Mapping) else dict(enumerate(config)) if isinstance(config, list) else {}
        if step in entries:
            config = entries[step]
            path.append(str(step))
    if error["loc"][-1:] == (KEY,):
        path.pop()
    wrong = refused_by_us(error)
    return path + ([wrong.key] if wrong and wrong.key else [])


def refused_by_us(error: ErrorDetails) -> ConfigError | None:
    wrong = error.get("ctx", {}).get("error")
    return wrong if isinstance(wrong, ConfigError) else None


def reason(error: ErrorDetails) -> str:
    value, context, name = error["input"], error.get("ctx", {}), error["type"]
    quoted = f"{value!r:.{LETTERS}}"
    kind = name.removesuffix("_type").removesuffix("_unicode").removesuffix("_from_float")
    if wrong := refused_by_us(error):
        return wrong.why
    if value is None:
        return f"it has no value; write {KINDS.get(kind, 'one')}, or leave the key out"
    if kind in KINDS:
        return f"{quoted} is not {KINDS[kind]}{written_plainly(value, kind)}"
    match name:
        case "missing":
            return f"the key {error['loc'][-1]!r} is missing; config.yaml has it with its usual value"
        case "union_tag_invalid":
            kinds = [KINDS[kind] for kind in re.findall(r"'(\w+)'", context["expected_tags"])]
            return f"{quoted} is not {' or '.join(kinds)}"
        case "literal_error":
            words = re.findall(r"'([^']*)'", context["expected"])
            one_of = "one of " if len(words) > 1 else ""
            return f"{quoted} is not {one_of}{', '.join(words)}{meant(str(value), words)}"
        case "string_pattern_mismatch" if digits := re.search(r"\{(\d+)\}", context["pattern"]):
            return f"{quoted} is not {digits[1]} hexadecimal digits in small letters"
        case "string_pattern_mismatch":
            return f"{quoted} contains characters other than {context['pattern'].strip('^$*+')}; rename it"
        case "too_short":
            entries = "1 entry" if len(value) == 1 else f"{len(value) or 'no'} entries"
            return f"{quoted} has {entries}; write {context['min_length']} or more"
        case "greater_than_equal" | "greater_than" | "less_than_equal" | "less_than" if context.get("le") != LARGEST:
            (bound,) = context.values()
            beyond = "small" if name.startswith("greater") else "large"
            least = "at least" if name == "greater_than_equal" else "at most" if name == "less_than_equal" else ""
            limit = least or ("more than" if beyond == "small" else "less than")
            return f"{quoted} is too {beyond}; write {limit} {bound}"
        case "less_than_equal" if context["le"] == LARGEST:
            return f"{quoted} is not a whole number that can be stored"
    return f"{quoted}: {error['msg'][0].lower()}{error['msg'][1:]}"[: 2 * LETTERS]


def written_plainly(value: object, kind: str) -> str:
    """For a number that YAML took for text, as it does with quotes around it, and with 1e5."""
    try:
        number = float(value) if isinstance(value, str) and kind in ("int", "float", "finite_number") else None
    except ValueError:
        return ""
    return "" if number is None or not isfinite(number) else f", but text; write {number:.15g}, without quotes"


def fields_of(model: type[BaseModel], path: list[str]) -> Mapping[str, Any]:
    """The keys of the model at a path of sections, which may lead through a list of them."""
    for name in path:
        if name in model.model_fields:  # else a place in a list
            kind = model.model_fields[name].annotation
            model = next(iter(get_args(kind)), kind)  # type: ignore[assignment]  # of list[Part]: Part
    return model.model_fields


def unknown_key(name: str, known: list[str], model: type[BaseModel]) -> str:
    """A key that is not there: one that is spelt alike, or the section that has it, or all that there are."""
    sections = {section: getattr(field.annotation, "model_fields", {}) for section, field in model.model_fields.items()}
    elsewhere = [f"{section}.{name}" for section, keys in sections.items() if name in keys]
    others = f"; the keys are {', '.join(known)}"
    return f"no key {name!r:.{LETTERS}}{meant(name, known) or meant(name, elsewhere, least=0) or others}"


def meant(name: str, known: list[str], least: float = 0.6) -> str:
    alike = get_close_matches(name, known, 1, least)
    return f"; did you mean {alike[0]!r}?" if alike else ""
