"""Configs that are wrong in one place."""

from copy import deepcopy
from pathlib import Path

import pytest
import yaml

from attnlimit.workflow.config import check

ROOT = Path(__file__).parents[2]
DEFAULT = yaml.safe_load((ROOT / "config.yaml").read_text())
ABSENT = object()


def changed(changes: dict) -> dict:
    """The default config with the values at dotted keys replaced, or taken away where ABSENT."""
    config = deepcopy(DEFAULT)
    for key, value in changes.items():
        *sections, last = key.split(".")
        place = config
        for section in sections:
            place = place[section]
        place[last] = value
        if value is ABSENT:
            del place[last]
    return config


def merged(config: dict, overlay: dict) -> dict:
    """As Snakemake does it for --configfile: sections are merged, values and lists replaced."""
    both = config | overlay
    return both | {
        key: merged(config[key], overlay[key])
        for key in config.keys() & overlay.keys()
        if isinstance(config[key], dict) and isinstance(overlay[key], dict)
    }


def refusal(config) -> str:
    with pytest.raises(ValueError) as error:
        check(config)
    message = str(error.value)
    assert message.startswith("config: ") and "\n" not in message
    return message
