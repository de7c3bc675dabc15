"""Refuse a wrong config before any job starts, in one line that names the key."""

import math
import re
from collections.abc import Container
from functools import cache
from itertools import pairwise
from pathlib import Path

import yaml
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match
from jsonschema.protocols import Validator
from jsonschema.validators import extend

from attnlimit.corpus.location import TEXTS, file_name, is_url, local_files, most_tokens
from attnlimit.model.families import shape_of_model
from attnlimit.plan.costs import job_count, setting_flops
from attnlimit.plan.folders import located
from attnlimit.plan.plain_words import plain_words

RELATIVE = "here; relative names count from the folder of the Snakefile"
LARGEST = 2**63 - 1  # integer of a store
FEWEST_GROUPS = 4  # of replicates: an interval of bias or fluctuation from fewer says nothing
MOST_JOBS = 100_000  # of one rule: planning takes longer than they do
CUTS = {  # by rule: the key that says into how many jobs its work is cut
    "extract_embeddings": "extract_embeddings.shards",
    "compute_limits": "compute_limits.parts",
    "measure_errors": "measure_errors.replicates",
}
# JSON Schema takes 3.0 for an integer and NaN for a number: here neither is.
TYPES = {
    "integer": lambda _, value: type(value) is int and abs(value) <= LARGEST,
    "number": lambda _, value: type(value) is int or (type(value) is float and math.isfinite(value)),
}
SOURCES = {  # by section and source: the keys it needs, and those it may have
    "fetch_corpus": {
        "excerpt": ([], []),
        "dump": (["location", "sha256"], []),
        "hub": (["location", "revision", "files"], []),
        "text": (["location"], ["sha256"]),
    },
    "fetch_model": {
        "embedded": ([], ["weights_sha256"]),
        "hub": (["location", "revision", "weights_sha256"], []),
        "local": (["location"], ["weights_sha256"]),
    },
}
StrictValidator = extend(Draft202012Validator, type_checker=Draft202012Validator.TYPE_CHECKER.redefine_many(TYPES))


def check(config: dict, schema: Path, away: Container[str] = (), root: Path = Path()) -> None:
    """Raise ValueError at the first key that the schema or the rules between keys refuse.

    Files of the sections in `away` are not looked for; those of the others, if relative, from the folder `root`.
    """
    error = best_match(validator(schema).iter_errors(config))
    if error is not None:
        raise ValueError(f"config: {plain_words(error, validator(schema).schema)}")
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
    for name in ("fetch_corpus", "fetch_model"):
        check_source(name, config[name])
    if config["fetch_corpus"]["source"] in ("dump", "text") and "fetch_corpus" not in away:
        check_location(config["fetch_corpus"], root)
    check_uniform(config["simulate_uniform"])
    if "fetch_model" not in away:
        check_model(config, located(config["fetch_model"], root))
    if "fetch_corpus" not in away:
        check_population(config["tokenize_corpus"], config["fetch_corpus"], root)
    for name, settings in setting_flops(config).items():
        if config[f"simulate_{name}"]["parts"] > len(settings):
            refuse(f"simulate_{name}.parts", f"more than its {len(settings)} settings; lower it")
    check_jobs(config)


def missing_sources(config: dict, archived: Path) -> set[str]:
    """Sections whose files an archive did not hold, in a folder restored from it: its settings are in `archived`.

    What was made of those files is here, so nobody needs them until one of these sections changes.
    """
    if not archived.is_file():
        return set()
    before = yaml.safe_load(archived.read_text(encoding="utf-8"))
    same = [name for name in SOURCES if config.get(name) == before.get(name)]
    return {name for name in same if before[name]["source"] in ("dump", "text", "local") and is_missing(before[name])}


def is_missing(section: dict) -> bool:
    location = section["location"]
    return not is_url(location) and not Path(location).expanduser().exists()


@cache
def validator(schema: Path) -> Validator:
    return StrictValidator(yaml.safe_load(schema.read_text()))


def check_model(config: dict, model: dict) -> None:
    """What the model does not have, and kinds that are not supported; one on the hub is known only when it is here."""
    try:
        shape = shape_of_model(model)
    except ValueError as error:
        raise ValueError(f"config: fetch_model.location: {error}") from error
    if shape is None:
        return
    layers, heads, longest = shape
    if layers is not None and max(config["layers"]) >= layers:
        refuse("layers", f"no {max(config['layers'])}; the model has layers 0 to {layers - 1}")
    block = config["tokenize_corpus"]["block"]
    if longest is not None and block > longest:
        refuse("tokenize_corpus.block", f"{block} tokens, but the model reads at most {longest}; take that or fewer")
    chosen = config["measure_ablation"]["heads"]
    for layer, head in chosen if isinstance(chosen, list) else []:
        if layers is not None and layer >= layers:
            refuse("measure_ablation.heads", f"no layer {layer}; the model has layers 0 to {layers - 1}")
        if heads is not None and head >= heads:
            refuse("measure_ablation.heads", f"no head {head}; a layer of the model has heads 0 to {heads - 1}")


def check_population(tokens: dict, corpus: dict, root: Path) -> None:
    """More tokens than local text can give."""
    population, most = tokens["population"], most_tokens(located(corpus, root), tokens["block"])
    if most is not None and population > most:
        where = f"{corpus['location']!r:.200} holds"
        refuse("tokenize_corpus.population", f"{population}, but {where} at most {most} tokens; lower it or add text")


def check_jobs(config: dict) -> None:
    for rule, key in CUTS.items():
        if job_count(config)[rule] > MOST_JOBS:
            refuse(key, f"makes {job_count(config)[rule]} jobs, at most {MOST_JOBS} can be planned; cut into fewer")


def check_section(name: str, section: dict) -> None:
    """Sizes and radii increase, and replicates make at least two whole groups, wherever a section has them."""
    for key in ("sizes", "direct_sizes", "radii", "compact_radii"):
        if any(larger <= smaller for smaller, larger in pairwise(section.get(key, []))):
            refuse(f"{name}.{key}", "must increase")
    if "group" in section:
        replicates, group = section["replicates"], section["group"]
        if replicates % group:
            refuse(f"{name}.replicates", f"{replicates} is no multiple of {name}.group {group}")
        if replicates < FEWEST_GROUPS * group:
            refuse(
                f"{name}.replicates",
                f"{replicates} make fewer than {FEWEST_GROUPS} groups of {name}.group {group}; lower that",
            )


def check_source(name: str, section: dict) -> None:
    """A source has the keys it needs and none that it would ignore."""
    source = section["source"]
    needed, optional = SOURCES[name][source]
    for key in ("location", "revision", "files", "sha256", "weights_sha256"):
        if not section.get(key) and key in needed:
            refuse(f"{name}.{key}", f"source {source} needs it")
        if section.get(key) and key not in needed + optional:
            refuse(f"{name}.{key}", f'source {source} takes none; leave it ""')
    if source == "hub" and not re.fullmatch(r"[\w.-]+/[\w.-]+", section["location"]):
        refuse(f"{name}.location", f"{section['location']!r:.100} is not of the form owner/name")


def check_location(section: dict, root: Path) -> None:
    location, text = section["location"], section["source"] == "text"
    path, files = Path(located(section, root)["location"]), local_files(located(section, root))
    if is_url(location):
        if text or not re.match("https?://[^/]", location) or not file_name(location):
            refuse("fetch_corpus.location", f"{location!r:.100}: only a dump can be a URL, http(s)://host/path/file")
    elif not (path.is_file() or (text and path.is_dir())):
        refuse("fetch_corpus.location", f"no {'file or folder' if text else 'file'} {location!r:.200} {RELATIVE}")
    elif not files:
        refuse("fetch_corpus.location", f"folder {location!r:.200} holds no {', '.join(TEXTS)} files")
    elif path.is_dir() and section["sha256"]:
        refuse("fetch_corpus.sha256", 'a folder has none; leave it ""')
    elif braced := [name for name in files if {"{", "}"} & set(name)]:
        refuse("fetch_corpus.location", f"{braced[0]!r:.200}: Snakemake takes braces for a wildcard; rename the file")


def check_uniform(section: dict) -> None:
    """The balls end on circles of both grids, and a plane has enough sizes for a fit."""
    for before in ("", "compact_"):
        radii, step = f"{before}radii", f"{before}step"
        for radius in section[radii]:
            if abs(math.remainder(radius, 2 * section[step])) > 1e-9:
                refuse(f"simulate_uniform.{radii}", f"{radius} is no multiple of 2 * simulate_uniform.{step}")
    if sum(size <= section["largest_in_plane"] for size in section["sizes"]) < 3:
        refuse("simulate_uniform.largest_in_plane", "must leave at least three sizes")


def refuse(key: str, why: str) -> None:
    raise ValueError(f"config: {key}: {why}")
