"""Where a corpus lies, on the web or in which local files, and what it is called.

Standard library only: the host that plans the jobs may have nothing else.
"""

import math
import os
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

TEXTS = (".txt", ".md", ".rst")  # endings of files that are one text each
ENDINGS = {  # by fetch_corpus.format: of the files that have it
    "text": TEXTS,
    "jsonl": (".jsonl",),
    "csv": (".csv",),
    "medline": (".xml", ".xml.gz"),
    "python": (".py",),
    "squad": (".json",),
}
ONE_TEXT = ("text", "python")  # formats of files that are one text each
UNPACKED = (*ONE_TEXT, "jsonl", "csv", "squad")  # formats whose files are no smaller than their texts
PART: dict[str, Any] = dict.fromkeys(
    ("location", "file", "revision", "files", "format", "sha256", "title", "licence"), ""
) | {"column": "text", "max_bytes": 300_000_000}  # of a part of a mixture: what it leaves out
LOCAL = ("dump", "text", "local")  # sources that may lie on this machine
PERIOD = 64  # words that `repeat` repeats: six times in a block of 512 tokens of the excerpt
PERTURBED = {  # by fetch_corpus.perturb: what is added to the name of a text
    "words": "shuffled words",
    "sentences": "shuffled sentences",
    "repeat": f"{PERIOD} words repeated",
}
MARKS = 2  # tokens of a block that are not word pieces: one opens it, one closes it


def is_url(location: str) -> bool:
    return "://" in location


def located(section: Mapping, root: Path) -> dict:
    """A section fetch_…, its location as seen from the current folder if that is a file or folder of this machine.

    In the config a relative name counts from the project's folder `root`, the one with the Snakefile, wherever the
    command was started and wherever the run has its folder. What is hashed stays as written: only names of input files
    come from here, and these are relative as well, so that a project that was moved as a whole runs nothing again.
    """
    location = section["location"]
    if section["source"] not in LOCAL or is_url(location) or not location:
        return dict(section)
    path = Path(location).expanduser()
    return {**section, "location": str(path) if path.is_absolute() else os.path.relpath(root.resolve() / path)}


def file_name(url: str) -> str:
    """The last part of a URL, by which its download is kept; "" if that is no name for a file."""
    name = PurePosixPath(unquote(urlsplit(url).path)).name
    return "" if name == ".." else name


def local_files(corpus: dict) -> list[str]:
    """The files of this machine that a corpus is read from: one, or all of its format below a folder, by name."""
    location = Path(corpus["location"])
    if corpus["source"] not in ("dump", "text") or is_url(corpus["location"]):
        return []
    return files_below(location, endings_of(corpus)) if location.is_dir() else [str(location)]


def skipped_files(corpus: dict) -> list[str]:
    """The files below a folder of text that are not read, by name; those whose name begins with a dot do not count."""
    location = Path(corpus["location"])
    if corpus["source"] != "text" or not location.is_dir():
        return []
    read = set(local_files(corpus))
    return [name for name in files_below(location) if name not in read and not Path(name).name.startswith(".")]


def labelled_file(downstream: dict) -> str:
    """The file of this machine that a downstream task is read from; "" where it is made of the corpus."""
    return "" if downstream["task"] == "retrieval" else downstream["location"]


def task_lengths(config: Mapping) -> tuple[int, int]:
    """Tokens of the shortest and of the longest text of a downstream task, marks included."""
    section = config["measure_downstream"]
    longest = section["longest"] or config["tokenize_corpus"]["block"]
    return math.ceil(section["shortest"] * longest), longest


def endings_of(corpus: Mapping) -> tuple[str, ...]:
    """Of the files in a folder that are read: those of fetch_corpus.format, plain text unless it says another."""
    return ENDINGS[corpus.get("format") or "text"]


def format_of(name: str) -> str:
    """The format by a file's ending; "" if it is not known."""
    return next((form for form, endings in ENDINGS.items() if name.endswith(endings)), "")


def files_below(folder: Path, endings: tuple[str, ...] = ("",)) -> list[str]:
    return sorted(str(path) for path in folder.rglob("*") if not path.is_dir() and path.name.endswith(endings))


def most_tokens(corpus: dict, block: int) -> int | None:
    """Upper bound on the tokens of local text in blocks of this size; None where bytes give none, as for packed files.

    A word piece has a byte or more, a block has MARKS besides, and every text begins a new block.
    """
    kept = corpus["source"] == "text" and corpus.get("perturb") != "repeat"  # which may repeat the longest words
    files = local_files(corpus) if kept else []
    forms = {corpus.get("format") or format_of(name) for name in files}
    if not forms or not forms <= {*UNPACKED} or any(name.endswith((".gz", ".parquet")) for name in files):
        return None
    pieces = sum(Path(name).stat().st_size for name in files)
    texts = len(files) if forms <= {*ONE_TEXT} else pieces
    return pieces + MARKS * (pieces // (block - MARKS) + texts)


def text_name(corpus: dict) -> str:
    """The title of a corpus if it has one, else the name of its file, folder or repository; "" without a corpus."""
    return corpus.get("title") or corpus.get("name", "")


def perturbed_name(name: str, how: str) -> str:
    """The name of a text, and what fetch_corpus.perturb made of it."""
    return f"{name}, {PERTURBED[how]}" if how in PERTURBED else name
