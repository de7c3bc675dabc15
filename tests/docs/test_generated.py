"""What `make docs` writes is up to date: every key of the config, and the picture of the workflow."""

import pytest

from support.envs import ROOT
from support.pages import program

config, workflow = program("config"), program("workflow")
SCHEMA, DEFAULTS = config.sources()


def keys(properties: dict, defaults: dict, before: str = "") -> list[tuple[str, dict, bool]]:
    """Of every key: its name, what the schema says of it, whether config.yaml has it."""
    found = []
    for name, key in properties.items():
        found.append((before + name, key, name in defaults))
        if "properties" in key:
            found += keys(key["properties"], defaults.get(name, {}), f"{before}{name}.")
    return found


@pytest.mark.parametrize(("name", "key", "has_default"), keys(SCHEMA["properties"], DEFAULTS), ids=lambda value: None)
def test_every_key_has_a_description_and_a_default(name, key, has_default):
    assert key.get("description", "").strip(), f"{name}: give it a description in rules/config.schema.yaml"
    assert has_default, f"{name}: give it a value in config.yaml"


def test_the_page_of_keys_is_up_to_date():
    assert (ROOT / "docs/config.md").read_text() == config.page(SCHEMA, DEFAULTS), "run `make docs`"


def test_the_page_says_what_is_allowed():
    shared = {"count": {"type": "integer", "minimum": 1}}
    cases = {
        "integer ≥ 1": {"$ref": "#/$defs/count"},
        "`a`, `b`": {"enum": ["a", "b"]},
        "list (at least 3) of integer ≥ 1": {"type": "array", "items": {"$ref": "#/$defs/count"}, "minItems": 3},
        "number > 0, < 1": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
        "40 hexadecimal digits, or empty": {"type": "string", "pattern": "x", "maxLength": 40},
    }
    for words, key in cases.items():
        assert config.allowed(key, shared) == words


def test_the_picture_of_the_workflow_is_up_to_date():
    assert (ROOT / "docs/workflow.svg").read_text() == workflow.picture(), "run `make docs`"
