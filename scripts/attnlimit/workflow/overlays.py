"""Config files laid over each other: which one a key comes from, and where one is broken."""

import os
import re
from collections.abc import Iterable
from pathlib import Path

import yaml

from attnlimit.workflow.folders import name_in

ABSENT = object()


def read_overlay(path: Path) -> dict:
    """The keys of a config file; one that cannot be read is refused with line and column."""
    name = os.path.relpath(path)
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"{name}, line {mark.line + 1}, column {mark.column + 1}" if mark else name
        raise ValueError(
            f"{place}: broken YAML ({error.problem or error.context}); fix it at or just before this position"
        ) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ValueError(f"{name}: not YAML ({' '.join(str(error).split())}); fix it") from error
    if not isinstance(content, dict):
        raise ValueError(f"{name}: holds no keys; write, for example, `seed: 1`")
    return content


def resolve(files: Iterable[Path]) -> dict:
    """The settings of several files, later ones over earlier ones, key by key within a section."""
    config: dict = {}
    for path in files:
        merge(config, read_overlay(path))
    return config


def merge(config: dict, overlay: dict) -> None:
    for key, value in overlay.items():
        if isinstance(value, dict) and isinstance(config.get(key), dict):
            merge(config[key], value)
        else:
            config[key] = value


def sort_keys(config: dict) -> None:
    """Put the keys in the order of the alphabet, in place, sections included: which order a file had means nothing."""
    for key in sorted(config, key=str):
        value = config.pop(key)
        if isinstance(value, dict):
            sort_keys(value)
        config[key] = value


def with_origin(message: str, files: Iterable[str | Path], config: dict, root: Path) -> str:
    """A refusal `config: section.key: why` with the file that set the key: the last one that has it so.

    A key of the defaults is to be set in the user's own file, if there is one. A key that no file has so comes from the
    command line, or is missing: then nothing is added.
    """
    found = re.match(r"(?:config: )?(?:([\w.]+): |(?=no key '))(.*)", message)
    if not found:
        return message
    path = found[1].split(".") if found[1] else []
    path += quoted(found[2], config, path)
    base, *own = ordered(files, root)
    for file in reversed([base, *own]):
        value = value_at(read_overlay(file), path)
        if path and (isinstance(value, dict) or (value is not ABSENT and value == value_at(config, path))):
            change = f"; set it in {name_in(root, own[-1])}" if own and file == base else ""
            return f"{message} (in {name_in(root, file)}{change})"
    return message


def quoted(why: str, config: dict, path: list[str]) -> list[str]:
    """The unknown key that a refusal of a whole section quotes, such as ('boot' was unexpected); [] if none."""
    section = value_at(config, path)
    if not isinstance(section, dict):
        return []
    return [name for name in re.findall(r"'([^']+)'", why) if name in section][:1]


def ordered(files: Iterable[str | Path], root: Path) -> list[Path]:
    """The base, config.yaml beside the Snakefile, first; Snakemake lists it last."""
    paths = [Path(file) for file in files]
    base = root / "config.yaml"
    return [base, *(path for path in paths if path.resolve() != base.resolve())]


def value_at(config: object, path: list[str]) -> object:
    """What stands at a path of keys or places in lists; ABSENT if nothing does."""
    for key in path:
        if isinstance(config, dict) and key in config:
            config = config[key]
        elif isinstance(config, list) and key.isdigit() and int(key) < len(config):
            config = config[int(key)]
        else:
            return ABSENT
    return config
