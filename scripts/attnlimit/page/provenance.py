"""Where a run's numbers come from: stores, settings, data, versions, machine."""

import os
import platform
from collections.abc import Iterable, Mapping
from pathlib import Path

from attnlimit.base.files import sha256_of


def store_rows(stores: Mapping[str, dict]) -> list[tuple[str, str, str, str, str]]:
    """Of each store, from its attrs: path, tokens to draw from, seed, hash of the code; and its sha256."""
    return [
        (path, str(attrs.get("population", "")), str(attrs.get("seed", "")), attrs["code"], sha256_of(path))
        for path, attrs in stores.items()
    ]


def settings(config: dict) -> list[tuple[str, str]]:
    """The config as it was after overlays, one row a key, `section.key`, sections in order of name."""
    rows = []
    for name, value in sorted(config.items()):
        keys = {f"{name}.{key}": inner for key, inner in value.items()} if isinstance(value, dict) else {name: value}
        rows += [(key, str(inner)) for key, inner in keys.items()]
    return rows


def identities(stores: Iterable[dict]) -> list[tuple[str, str]]:
    """What the attrs of stores say of the corpus, the model, the tokenizer and the population, each value once."""
    values_of: dict[str, set[str]] = {}
    for attrs in stores:
        for name in {"corpus", "model", "tokenizer_sha256", "population_asked"} & set(attrs):
            for key, value in leaves(name, attrs[name]):
                values_of.setdefault(key, set()).add(value)
    return [(key, ", ".join(sorted(values))) for key, values in sorted(values_of.items())]


def leaves(name: str, value: object) -> list[tuple[str, str]]:
    """A value by its name; of a mapping, each value by its names, joined with dots."""
    if not isinstance(value, dict):
        return [(name, str(value))]
    return [leaf for key, inner in value.items() for leaf in leaves(f"{name}.{key}", inner)]


def versions(stores: Iterable[dict]) -> list[tuple[str, str]]:
    """Python, and every version of a package that any store was written with, from their attrs."""
    numbers_of = {"python": {platform.python_version()}}
    for attrs in stores:
        for name, version in attrs["versions"].items():
            numbers_of.setdefault(name, set()).add(version)
    return [(name, ", ".join(sorted(numbers))) for name, numbers in sorted(numbers_of.items())]


def machine() -> list[tuple[str, str]]:
    """The machine this runs on; jobs sent to a cluster may have run on others."""
    information = Path("/proc/cpuinfo")
    lines = information.read_text().splitlines() if information.is_file() else []
    names = {line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")}
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return [
        ("system", f"{platform.system()} {platform.release()}, {platform.machine()}"),
        ("processor", ", ".join(sorted(names)) or platform.processor() or "unknown"),
        ("cores", str(os.cpu_count())),
        ("memory", f"{memory:.1f} GiB"),
    ]
