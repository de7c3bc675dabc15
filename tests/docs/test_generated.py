"""What `make docs` writes is up to date: every key of the config, its schema for editors, the workflow's picture."""

import json

import pytest
import yaml
from jsonschema import Draft202012Validator

from attnlimit.workflow.config import config_model
from support.configs import DEFAULT
from support.envs import ROOT
from support.pages import program

config, workflow = program("config"), program("workflow")
SCHEMA = json.loads((ROOT / "docs/config.schema.json").read_text())
PINS = ("file", "sha256", "weights_sha256", "title", "licence")
CONFIGS = [ROOT / "config.yaml", *sorted(ROOT.glob("configs/**/*.yaml"))]


def test_every_key_has_a_description_and_a_default():
    for name, field in config_model().model_fields.items():
        keys = getattr(field.annotation, "model_fields", None)
        assert field.annotation.__doc__ if keys else field.description, f"{name}: give it a description in about.py"
        assert name in DEFAULT, f"{name}: give it a value in config.yaml"
        for key, each in (keys or {}).items():
            assert each.description, f"{name}.{key}: give it a description in about.py"
            assert key in DEFAULT[name], f"{name}.{key}: give it a value in config.yaml"


def test_the_page_of_keys_and_the_schema_are_up_to_date():
    assert (ROOT / "docs/config.md").read_text() == config.page(config.json_schema(), config.defaults()), "`make docs`"
    assert (ROOT / "docs/config.schema.json").read_text() == config.schema_text(), "run `make docs`"


def test_the_picture_of_the_workflow_is_up_to_date():
    assert (ROOT / "docs/workflow.svg").read_text() == workflow.picture(), "run `make docs`"


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_an_editor_finds_the_schema_and_accepts_the_file(path):
    """The first line names it, as yaml-language-server wants; an overlay need hold only what differs."""
    first = path.read_text().splitlines()[0]
    assert (path.parent / first.removeprefix("# yaml-language-server: $schema=")).resolve().name == "config.schema.json"
    assert (path.parent / first.partition("=")[2]).is_file()
    assert list(Draft202012Validator(SCHEMA).iter_errors(yaml.safe_load(path.read_text()))) == []


def test_a_package_has_the_same_pins_in_every_config():
    """Each file names its own, so that it can be read by itself."""
    seen: dict[str, dict] = {}
    for path in CONFIGS:
        config = yaml.safe_load(path.read_text())
        corpus = config.get("fetch_corpus", {})
        for section in (config.get("fetch_model", {}), corpus, *corpus.get("texts", [])):
            if section.get("source") == "package":
                own = {key: section[key] for key in PINS if key in section}
                assert seen.setdefault(f"{section['location']} {section['files']}", own) == own, path


@pytest.mark.parametrize(
    "wrong",
    [
        {"sed": 1},
        {"fit_rates": {"misfits": 3}},
        {"fit_rates": {"misfit": 1}},
        {"layers": [0, 0]},
        {"fetch_corpus": {"title": 3}},
        {"measure_clouds": {"heads": [[0]]}},
        {"chapters": ["head"]},
    ],
)
def test_an_editor_marks_a_wrong_key_or_value(wrong):
    assert not Draft202012Validator(SCHEMA).is_valid(wrong)


def test_the_page_says_what_is_allowed():
    cases = {
        "`a`, empty": {"enum": ["a", ""]},
        "list (at least 3) of integer ≥ 1": {
            "type": "array",
            "items": {"type": "integer", "minimum": 1},
            "minItems": 3,
        },
        "number > 0, < 1": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
        "40 hexadecimal digits, or empty": {"type": "string", "pattern": "^([0-9a-f]{40})?$"},
        "integer ≤ 9 or `all`": {"oneOf": [{"type": "integer", "maximum": 9}, {"const": "all"}]},
    }
    assert {words: config.allowed(key) for words, key in cases.items()} == {words: words for words in cases}
    assert "hexadecimal" not in config.allowed(SCHEMA["properties"]["run"])
