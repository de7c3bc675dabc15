"""Where a corpus lies: on the web, or in which local files.

Standard library only: the host that plans the jobs may have nothing else.
"""

from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit


def is_url(location: str) -> bool:
    return "://" in location


def file_name(url: str) -> str:
    """The last part of a URL, by which its download is kept; "" if that is no name for a file."""
    name = PurePosixPath(unquote(urlsplit(url).path)).name
    return "" if name == ".." else name


def local_files(corpus: dict) -> list[str]:
    """The files of this machine that a corpus is read from: one, or all .txt files below a folder, by name."""
    location = Path(corpus["location"])
    if corpus["source"] not in ("dump", "text") or is_url(corpus["location"]):
        return []
    return sorted(map(str, location.rglob("*.txt"))) if location.is_dir() else [str(location)]
