"""Refuse a wrong config before any job starts, in one line that names the key."""

import math
import re
from itertools import pairwise
from pathlib import Path

import yaml
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match
from jsonschema.validators import extend

# JSON Schema takes 3.0 for an integer and NaN for a number: here neither is.
TYPES = {
    "integer": lambda _, value: type(value) is int,
    "number": lambda _, value: type(value) is int or (type(value) is float and math.isfinite(value)),
}
Validator = extend(Draft202012Validator, type_checker=Draft202012Validator.TYPE_CHECKER.redefine_many(TYPES))


def check(config: dict, schema: Path) -> None:
    """Raise ValueError at the first key that the schema or the rules between keys refuse."""
    error = best_match(Validator(yaml.safe_load(schema.read_text())).iter_errors(config))
    if error is not None:
        raise ValueError(f"config: {'.'.join(map(str, error.path)) or 'top level'}: {error.message[:200]}")
    for name, section in config.items():
        if isinstance(section, dict):
            check_section(name, section)
    errors, population = config["measure_errors"], config["tokenize_corpus"]["population"]
    largest = errors["sizes"][-1]
    if not errors["replacement"] and largest > population:
        refuse(
            "measure_errors.sizes",
            f"{largest} exceeds tokenize_corpus.population {population} without replacement",
        )
    if config["compute_limits"]["queries"] > population:
        refuse("compute_limits.queries", f"exceeds tokenize_corpus.population {population}")
    if config["extract_embeddings"]["shards"] > -(-population // config["tokenize_corpus"]["block"]):
        refuse("extract_embeddings.shards", f"more shards than blocks in tokenize_corpus.population {population}")
    check_model(config["fetch_model"])
    check_uniform(config["simulate_uniform"])


def check_section(name: str, section: dict) -> None:
    """Sizes and radii increase, and replicates make at least two whole groups, wherever a section has them."""
    for key in ("sizes", "direct_sizes", "radii"):
        if any(larger <= smaller for smaller, larger in pairwise(section.get(key, []))):
            refuse(f"{name}.{key}", "must increase")
    if "group" in section:
        replicates, group = section["replicates"], section["group"]
        if replicates % group:
            refuse(f"{name}.replicates", f"{replicates} is no multiple of {name}.group {group}")
        if replicates < 2 * group:
            refuse(f"{name}.replicates", f"must make at least two groups of {name}.group")


def check_model(section: dict) -> None:
    """A model of the hub is pinned; a folder has its place; the embedded one is known."""
    source = section["source"]
    needed = {"embedded": [], "local": ["location"], "hub": ["location", "revision", "weights_sha256"]}[source]
    for key in ("location", "revision", "weights_sha256"):
        if key in needed and not section[key]:
            refuse(f"fetch_model.{key}", f"is needed with fetch_model.source {source}")
        if section[key] and key not in [*needed, "weights_sha256"]:
            refuse(f"fetch_model.{key}", f"must be empty with fetch_model.source {source}")
    if source == "hub" and not re.fullmatch(r"[\w.-]+/[\w.-]+", section["location"]):
        refuse("fetch_model.location", f"{section['location']!r} is not of the form owner/name")


def check_uniform(section: dict) -> None:
    """The balls end on circles of both grids, and a plane has enough sizes for a fit."""
    for radius in section["radii"]:
        if abs(math.remainder(radius, 2 * section["step"])) > 1e-9:
            refuse("simulate_uniform.radii", f"{radius} is no multiple of 2 * simulate_uniform.step")
    if sum(size <= section["largest_in_plane"] for size in section["sizes"]) < 3:
        refuse("simulate_uniform.largest_in_plane", "must leave at least three sizes")


def refuse(key: str, why: str) -> None:
    raise ValueError(f"config: {key}: {why}")
