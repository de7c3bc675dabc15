"""Write docs/config.md: every key of the config, from the descriptions in the schema and the values in config.yaml."""

from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
HEAD = """# Every key of the config

Written by `make docs` from `rules/config.schema.yaml` and `config.yaml`: edit those. A file of your own needs only the
keys that differ ([your own model and text](your-own.md)); sections have the names of the rules that they belong to. A
key that is not listed here is refused before any job starts. Terms: [glossary](glossary.md).
"""
SIGNS = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<", "multipleOf": "multiple of"}
ONE_LINE = 10**6  # width at which YAML does not break lines


def main() -> None:
    (ROOT / "docs/config.md").write_text(page(*sources()), encoding="utf-8")


def sources() -> tuple[dict, dict]:
    """The schema and the default values."""
    names = ("rules/config.schema.yaml", "config.yaml")
    schema, defaults = (yaml.safe_load((ROOT / name).read_text(encoding="utf-8")) for name in names)
    return schema, defaults


def page(schema: dict, defaults: dict) -> str:
    """Keys at the top, then a table for each section in the order of config.yaml."""
    keys, shared = schema["properties"], schema["$defs"]
    alone = {name: keys[name] for name in defaults if "properties" not in keys[name]}
    parts = [HEAD, table(alone, defaults, shared)]
    for name in defaults:
        if name not in alone:
            parts += [f"## {name}", keys[name]["description"], table(keys[name]["properties"], defaults[name], shared)]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def table(keys: dict, defaults: dict, shared: dict) -> str:
    lines = ["| key | default | allowed | what it is |", "| --- | --- | --- | --- |"]
    for name, key in keys.items():
        lines.append(f"| `{name}` | `{shown(defaults[name])}` | {allowed(key, shared)} | {key['description']} |")
    return "\n".join(lines)


def shown(value: object) -> str:
    """A value as one would write it in YAML."""
    text = yaml.safe_dump(value, default_flow_style=True, width=ONE_LINE, allow_unicode=True).strip()
    return text.removesuffix("...").strip().replace("''", '""')


def allowed(key: dict, shared: dict) -> str:
    """The values that the schema accepts, in words."""
    if "$ref" in key:
        key = shared[key["$ref"].rpartition("/")[2]]
    if "enum" in key:
        return ", ".join(f"`{value}`" for value in key["enum"])
    kinds = [key["type"]] if isinstance(key["type"], str) else key["type"]
    return " or ".join(KINDS[kind](key, shared) for kind in kinds)


def text(key: dict, shared: dict) -> str:
    return f"{key['maxLength']} hexadecimal digits, or empty" if "pattern" in key else "text"


def truth(key: dict, shared: dict) -> str:
    return "`true`, `false`"


def number(key: dict, shared: dict) -> str:
    """A number with its bounds; of a key that may be a list too, the bounds are of the number."""
    bounds = ", ".join(f"{sign} {key[name]}" for name, sign in SIGNS.items() if name in key)
    return " ".join(filter(None, ("integer" if "integer" in key["type"] else "number", bounds)))


def several(key: dict, shared: dict) -> str:
    """A list, how many items it has, and what they are."""
    least, most = key.get("minItems", 0), key.get("maxItems")
    count = f"at least {least}" if most is None else f"{least}" if least == most else f"{least} to {most}"
    return f"list ({count}) of {allowed(key['items'], shared)}"


def by_name(key: dict, shared: dict) -> str:
    return f"{allowed(key['additionalProperties'], shared)} by name"


KINDS = {"object": by_name, "string": text, "boolean": truth, "integer": number, "number": number, "array": several}


if __name__ == "__main__":
    main()
