"""Refuse a wrong config before any job starts, in one line that names the key."""

from pathlib import Path

import yaml
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match


def check(config: dict, schema: Path) -> None:
    """Raise ValueError at the first key that the schema or the rules between keys refuse."""
    error = best_match(Draft202012Validator(yaml.safe_load(schema.read_text())).iter_errors(config))
    if error is not None:
        raise ValueError(f"config: {'.'.join(map(str, error.path)) or 'top level'}: {error.message}")
    errors, population = config["measure_errors"], config["tokenize_corpus"]["population"]
    sizes = errors["sizes"]
    if any(larger <= smaller for smaller, larger in zip(sizes, sizes[1:], strict=False)):
        refuse("measure_errors.sizes", "must increase")
    if not errors["replacement"] and sizes[-1] > population:
        refuse(
            "measure_errors.sizes",
            f"{sizes[-1]} exceeds tokenize_corpus.population {population} without replacement",
        )
    if errors["replicates"] % errors["group"]:
        refuse(
            "measure_errors.replicates",
            f"{errors['replicates']} is no multiple of measure_errors.group {errors['group']}",
        )
    if errors["replicates"] < 2 * errors["group"]:
        refuse("measure_errors.replicates", "must make at least two groups of measure_errors.group")


def refuse(key: str, why: str) -> None:
    raise ValueError(f"config: {key}: {why}")
