"""Where a run's numbers come from: settings, data, versions, machine."""

import os
import platform
from collections.abc import Iterable
from pathlib import Path


def settings(config: dict) -> list[tuple[str, str]]:
    """The config as it was after overlays, one row a key, `section.key`, sections in order of name."""
    rows = []
    for name, value in sorted(config.items()):
        keys = {f"{name}.{key}": inner for key, inner in value.items()} if isinstance(value, dict) else {name: value}
        rows += [(key, str(inner)) for key, inner in keys.items()]
    return rows


def identities(stores: Iterable[dict]) -> list[tuple[str, str]]:
    """What the attrs of stores say of the corpus, the model and the tokenizer they come from, each value once."""
    found: dict[str, set[str]] = {}
    for attrs in stores:
        facts = {f"{name}.{key}": value for name in ("corpus", "model") for key, value in attrs.get(name, {}).items()}
        facts |= {key: attrs[key] for key in ("tokenizer_sha256",) if key in attrs}
        for key, value in facts.items():
            found.setdefault(key, set()).add(str(value))
    return [(key, ", ".join(sorted(values))) for key, values in sorted(found.items())]


def versions(stores: Iterable[dict]) -> list[tuple[str, str]]:
    """Python, and every version of a package that any store was written with, from their attrs."""
    found = {"python": {platform.python_version()}}
    for attrs in stores:
        for name, version in attrs["versions"].items():
            found.setdefault(name, set()).add(version)
    return [(name, ", ".join(sorted(numbers))) for name, numbers in sorted(found.items())]


def machine() -> list[tuple[str, str]]:
    """The machine this runs on; jobs sent to a cluster may have run on others."""
    information = Path("/proc/cpuinfo")
    lines = information.read_text().splitlines() if information.is_file() else []
    names = {line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")}
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return [
        ("system", f"{platform.system()} {platform.release()}, {platform.machine()}"),
        ("processor", ", ".join(sorted(names)) or platform.processor() or "not told by the system"),
        ("cores", str(os.cpu_count())),
        ("memory", f"{memory:.1f} GiB"),
    ]
