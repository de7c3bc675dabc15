"""What a user's own files of text look like, before any job reads them, and what was remarkable about those read.

Standard library only: the host that plans the jobs may have nothing else.
"""

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from attnlimit.sources.corpus.encoding import LONGEST, TOO_LONG, UTF_8, encoding_of
from attnlimit.sources.corpus.location import ONE_TEXT, endings_of, format_of, local_files, skipped_files

NAMED = 10  # files of a remark
HEAD = 1 << 16  # bytes of a table that are looked at
MOST = 1 << 26  # bytes of all files: planning takes no longer for a larger corpus
SKIPPED, EMPTY, WINDOWS = "skipped", "empty", "windows_1252"
REMARKS = {  # by key of a corpus' identity
    SKIPPED: "not read",
    EMPTY: "left out, without text",
    WINDOWS: "not UTF-8, read as Windows-1252",
}
UTF_8_ONLY = ("jsonl", "csv")


class Remarks:
    """Files by what is remarkable about them; the identity of the corpus says so too, and goes into every store."""

    def __init__(self, identity: dict[str, str]) -> None:
        self.identity, self.files = identity, defaultdict[str, list[str]](list)

    def add(self, kind: str, *names: str, why: str = "") -> None:
        files = self.files[kind]
        files += names
        more = [f"{len(files) - NAMED:,} more"] if len(files) > NAMED else []
        named = ", ".join([*(Path(name).name for name in files[:NAMED]), *more])
        self.identity[kind] = f"{len(files):,} file{'s' if len(files) > 1 else ''}{why}: {named}"

    def skip(self, corpus: dict) -> None:
        """The files of a folder that are not of its format."""
        if skipped := skipped_files(corpus):
            self.add(SKIPPED, *skipped, why=f" other than {', '.join(endings_of(corpus))}")


def remarks_on(identity: Mapping[str, str]) -> list[str]:
    """Remarks on a corpus, one a line."""
    return [f"{words}: {identity[kind]}" for kind, words in REMARKS.items() if kind in identity]


def survey(corpus: dict) -> dict[str, str]:
    """Remarks on the files that a corpus of the user's own is read from; raise at one that no job could read.

    Its location is as seen from the current folder. At most MOST bytes are read: the rest is left to the job.
    """
    remarks, looked = Remarks({}), 0
    if corpus["source"] != "text":
        return remarks.identity
    remarks.skip(corpus)
    for name in local_files(corpus):
        form = corpus.get("format") or format_of(name)
        if form in ONE_TEXT + UTF_8_ONLY and not name.endswith(".gz"):  # packed: left to the job that unpacks it
            looked += look_at(name, form, remarks)
        if looked > MOST:
            break
    return remarks.identity


def look_at(name: str, form: str, remarks: Remarks) -> int:
    """Raise if a file cannot be read; returns how many bytes were looked at."""
    size = Path(name).stat().st_size
    if form in ONE_TEXT and size > LONGEST:
        raise ValueError(f"{name}: {TOO_LONG}")
    with Path(name).open("rb") as file:
        content = file.read(LONGEST if form in ONE_TEXT else HEAD)
    try:
        encoding = encoding_of(content, whole=len(content) == size)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error
    if encoding != UTF_8 and form in UTF_8_ONLY:
        raise ValueError(f"{name}: not UTF-8; save it so")
    if encoding != UTF_8:
        remarks.add(WINDOWS, name)
    if form in ONE_TEXT and not content.decode(encoding).strip():
        remarks.add(EMPTY, name)
    return len(content)
