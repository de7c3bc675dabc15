"""Refuse a wrong config before any job starts, in one line that names the key.

The model of the config is composed of what questions and foundations declare in their about.py.
"""

from collections.abc import Callable, Container
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import Field, ValidationError, create_model

from attnlimit.base.about import Known, Section
from attnlimit.base.section_types import DISTINCT, LARGEST, refuse
from attnlimit.sources.corpus.location import is_url, located
from attnlimit.sources.corpus.survey import survey
from attnlimit.sources.model.families import GGUF
from attnlimit.workflow.about import Run
from attnlimit.workflow.costs import costs, shape_at_hand
from attnlimit.workflow.folders import COMPARISONS
from attnlimit.workflow.plain_words import plain_words
from attnlimit.workflow.registry import abouts, all_chapters, chapter_titles, exclusive_chapters, questions_of
from attnlimit.workflow.studies import INPUTS, study_folder

DIALECT = "https://json-schema.org/draft/2020-12/schema"
MOST_JOBS = 100_000  # of one rule: planning takes longer than they do


@cache
def config_model() -> type[Section]:
    """The model of the whole config: keys of the run, the chapters, and every section that is declared."""
    thresholds = tuple(about.thresholds for about in abouts().values() if about.thresholds)
    sections: dict[str, type[Section]] = {
        name: keys for about in abouts().values() for name, keys in about.sections.items()
    }
    sections["assess_claims"] = create_model("AssessClaims", __base__=thresholds, __doc__=thresholds[0].__doc__)
    named = [f"`{name}`: {title}" for name, title in chapter_titles().items()]
    alone = " and ".join(f"`{name}`" for name in sorted(exclusive_chapters()))
    description = (
        f"What runs. {'; '.join(named)}. A chapter left out can be added later; {alone} cannot be combined with others."
    )
    fields: dict[str, Any] = {name: (keys, ...) for name, keys in sections.items()}
    chapters = Annotated[list[Literal[all_chapters()]], Field(min_length=1), DISTINCT]  # type: ignore[misc, valid-type]
    fields["chapters"] = (chapters, Field(description=description))
    return create_model("Config", __base__=Run, **fields)


def json_schema() -> dict:
    """For an editor: every key with its description; none is required, as a file of the user's own holds only some."""
    return {"$schema": DIALECT} | plain_schema(config_model().model_json_schema())


def plain_schema(schema: Any) -> Any:
    """Without what says nothing to a reader: names of classes, the largest integer of all."""
    if isinstance(schema, list):
        return [plain_schema(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {key: value for key, value in schema.items() if (key, value) != ("maximum", LARGEST)}
    for key in ("title", "required"):
        if isinstance(kept.get(key), str | list):  # a key of the config may have that name
            del kept[key]
    return {key: plain_schema(value) for key, value in kept.items()}


def check(config: dict, absent: Container[str] = (), root: Path = Path()) -> None:
    """Raise ValueError at the first key that the model or the rules between keys refuse.

    Files of the sections in `absent` are not looked for; those of the others, if relative, from the folder `root`.
    """
    try:
        config_model().model_validate(config)
    except ValidationError as error:
        raise ValueError(f"config: {plain_words(error.errors(), config, config_model())}") from None
    for name in sorted(exclusive_chapters() & {*config["chapters"]}):
        if len(config["chapters"]) > 1:
            refuse("chapters", f"{name} cannot be combined with other chapters; leave out the others, or it")
    for chapter, (section, key) in COMPARISONS.items():
        if chapter in config["chapters"]:
            check_compared(config[section][key], f"{section}.{key}", INPUTS[chapter], section in absent, root)
    check_kind_of_model(config)
    known = Known(root, absent, *shape_of(config, root)) if "fetch_model" not in absent else Known(root, absent)
    for about in abouts().values():
        about.check(config, known)
    for cost in costs(config, root).values():
        if cost.cut_by and cost.jobs > MOST_JOBS:
            refuse(cost.cut_by, f"makes {cost.jobs} jobs, at most {MOST_JOBS} can be planned; lower it")


def require_readable(config: dict, root: Path) -> dict[str, str]:
    """What is remarkable about the user's own files of text; one that no job could read is refused."""
    try:
        return survey(located(config["fetch_corpus"], root))
    except (ValueError, OSError) as error:
        raise ValueError(f"config: fetch_corpus.location: {as_written(error, config['fetch_corpus'], root)}") from error


def as_written(error: Exception, section: dict, root: Path) -> str:
    """What is wrong with a file, called as the config calls its place, not as seen from the run's folder."""
    return str(error).replace(located(section, root)["location"] or "//", section["location"])


def shape_of(config: dict, root: Path) -> tuple[int | None, int | None, int | None]:
    """Layers, heads and longest text of the model; one of a kind that is not supported is refused."""
    try:
        shape = shape_at_hand(config, root)
    except ValueError as error:
        raise ValueError(f"config: fetch_model.location: {as_written(error, config['fetch_model'], root)}") from error
    return (shape.layers, shape.heads, shape.longest) if shape else (None, None, None)


def check_kind_of_model(config: dict) -> None:
    """A run has one model: a language model, or an encoder, whose tokens can be drawn in any order."""
    asked, model = questions_of(config["chapters"]), config["fetch_model"]
    language = [about.chapter for about in asked if about.causal]
    encoder = [about.chapter for about in asked if about.uses and about.causal is False]
    if language and encoder:
        why = f"{language[0]} reads a language model, {encoder[0]} an encoder, whose tokens see all others"
        refuse("chapters", f"{why}; leave one out")
    if language and model["source"] == "embedded":
        refuse("fetch_model.source", 'embedded is an encoder; take CONFIG="configs/smollm2.yaml my.yaml", or your own')
    if encoder and model["files"].endswith(GGUF):
        why = "a GGUF is a language model, whose tokens see only those before them"
        refuse("fetch_model.files", f"{why}; take chapter language in place of {encoder[0]}")


def check_compared(folders: dict[str, str], place: str, inputs: Callable, absent: bool, root: Path) -> None:
    """Each run that is compared is finished; folders: by name, from the key `place`;  inputs: finds what is read."""
    if not folders:
        refuse(place, "none; name finished runs, such as code: runs/code")
    for name, folder in folders.items():
        if {"{", "}"} & set(folder):
            refuse(place, f"{folder!r:.200}: Snakemake takes braces for a wildcard; rename it")
        if not absent:
            try:
                inputs(folder, root)
            except ValueError as error:
                refuse(place, f"{name}: {error}")


def missing_sources(config: dict, archived: Path, root: Path = Path()) -> set[str]:
    """Sections whose files an archive did not hold, in a folder restored from it: its settings are in `archived`.

    What was made of those files is here, so nobody needs them until one of these sections changes. Relative names count
    from the folder `root`, as everywhere.
    """
    if not archived.is_file():
        return set()
    before = yaml.safe_load(archived.read_text(encoding="utf-8"))
    same = [name for name in ("fetch_corpus", "fetch_model") if config.get(name) == before.get(name)]
    absent = {
        name for name in same if before[name]["source"] in ("dump", "text", "local") and is_missing(before[name], root)
    }
    task = before.get("measure_downstream")
    if (
        task
        and task == config.get("measure_downstream")
        and task["task"] != "retrieval"
        and is_missing({"source": "text"} | task, root)
    ):
        absent.add("measure_downstream")
    for section, key in COMPARISONS.values():
        compared = before.get(section) or {key: {}}
        gone = [folder for folder in compared[key].values() if not study_folder(folder, root).exists()]
        if gone and compared == config.get(section):
            absent.add(section)
    return absent


def is_missing(section: dict, root: Path) -> bool:
    return not is_url(section["location"]) and not Path(located(section, root)["location"]).exists()
