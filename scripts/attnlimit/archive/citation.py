"""What the software says of itself, in CITATION.cff."""

from pathlib import Path

import yaml

NEEDED = ("title", "version", "date-released", "license", "authors", "preferred-citation")


def read_citation(path: Path) -> dict:
    """The whole of it, with all that an archive and a deposit need."""
    citation = yaml.safe_load(path.read_text(encoding="utf-8"))
    missing = [key for key in NEEDED if not citation.get(key)]
    if missing:
        raise ValueError(f"{path}: no {', '.join(missing)}; an archive and a deposit need it")
    return citation


def name_of(author: dict) -> str:
    """Of a person or a group."""
    return author.get("name") or f"{author.get('given-names', '')} {author['family-names']}".strip()
