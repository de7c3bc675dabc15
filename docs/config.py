"""Write docs/config.md and docs/config.schema.json: every key of the config, from the models in about.py."""

import json
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "scripts"))
from attnlimit.workflow.config import json_schema  # noqa: E402

HEAD = """# Every key of the config

Written by `make docs` from `config.yaml` and the sections in `scripts/attnlimit/**/about.py`: edit those. A file of
your own needs only the keys that differ ([your own model and text](your-own.md)); sections have the names of the rules
that they belong to. A key that is not listed here is refused before any job starts. An editor that knows YAML schemas
completes keys and shows these words: the first line of `config.yaml` names `docs/config.schema.json`. Terms:
[glossary](glossary.md).
"""
SIGNS = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<", "multipleOf": "multiple of"}
ONE_LINE = 10**6  # width at which YAML does not break lines


def main() -> None:
    (ROOT / "docs/config.md").write_text(page(json_schema(), defaults()), encoding="utf-8")
    (ROOT / "docs/config.schema.json").write_text(schema_text(), encoding="utf-8")


def defaults() -> dict:
    return yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))


def schema_text() -> str:
    return json.dumps(json_schema(), indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def page(schema: dict, values: dict) -> str:
    """Keys at the top, then a table for each section, in the order of config.yaml."""
    keys = {
        name: schema["$defs"][key["$ref"].rpartition("/")[2]] if "$ref" in key else key
        for name, key in schema["properties"].items()
    }
    alone = {name: value for name, value in values.items() if "properties" not in keys[name]}
    parts = [HEAD, table(keys, alone)]
    for name in values:
        if name not in alone:
            parts += [f"## {name}", keys[name]["description"], table(keys[name]["properties"], values[name])]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def table(keys: dict, values: dict) -> str:
    lines = ["| key | default | allowed | what it is |", "| --- | --- | --- | --- |"]
    for name, value in values.items():
        lines.append(f"| `{name}` | `{written(value)}` | {allowed(keys[name])} | {keys[name]['description']} |")
    return "\n".join(lines)


def written(value: object) -> str:
    """A value as one would write it in YAML."""
    text = yaml.safe_dump(value, default_flow_style=True, width=ONE_LINE, allow_unicode=True).strip()
    return text.removesuffix("...").strip().replace("''", '""')


def allowed(key: dict) -> str:
    """The values that the schema accepts, in words."""
    if "oneOf" in key:
        return " or ".join(map(allowed, key["oneOf"]))
    if "enum" in key or "const" in key:
        return ", ".join(f"`{value}`" if value else "empty" for value in key.get("enum", [key.get("const")]))
    if "$ref" in key:  # the description names its keys
        return "mapping"
    return KINDS[key["type"]](key)


def text(key: dict) -> str:
    """Text; by a pattern, a number of hexadecimal digits, or only some characters."""
    pattern, most = key.get("pattern", ""), key.get("maxLength")
    if "{" in pattern:
        return f"{pattern.partition('{')[2].partition('}')[0]} hexadecimal digits, or empty"
    letters = " of letters, digits, `_`, `.`, `-`" if pattern else ""
    return f"text{letters}" + (f", at most {most} characters" if most else "")


def truth(key: dict) -> str:
    return "`true`, `false`"


def number(key: dict) -> str:
    bounds = ", ".join(f"{sign} {key[name]}" for name, sign in SIGNS.items() if name in key)
    return " ".join(filter(None, (key["type"], bounds)))


def several(key: dict) -> str:
    """A list, how many items it has, and what they are."""
    least, most = key.get("minItems", 0), key.get("maxItems")
    count = f"at least {least}" if most is None else f"{least}" if least == most else f"{least} to {most}"
    return f"list ({count}) of {allowed(key['items'])}"


def by_name(key: dict) -> str:
    return "text by name"


KINDS = {"object": by_name, "string": text, "boolean": truth, "integer": number, "number": number, "array": several}


if __name__ == "__main__":
    main()
