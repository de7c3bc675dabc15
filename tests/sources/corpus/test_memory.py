"""Running out of memory is told with the file that was read, and is not called damage."""

import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from attnlimit.base import files
from attnlimit.sources.corpus import dump
from attnlimit.sources.corpus.articles import Article, read_articles, write_articles
from attnlimit.sources.corpus.dump import read_dump

SCRIPTS = Path(files.__file__).parents[2]
READ_WITH_LITTLE = """
import resource, sys
from attnlimit.sources.corpus.articles import read_articles
from attnlimit.sources.corpus.own_texts import read_parquet
from attnlimit.base.log import one_line_errors
reader = {"table": read_articles, "own": lambda path: read_parquet(path, "text")}[sys.argv[1]]
for _ in reader(sys.argv[2]):  # all that is imported late, and the threads
    pass
pages = int(open("/proc/self/statm").read().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + 2**24,) * 2)
with one_line_errors():
    for _ in reader(sys.argv[3]):
        pass
"""


@pytest.mark.parametrize("kind", ["table", "own"])
def test_a_text_too_large_for_the_memory_is_not_called_damaged(tmp_path, kind):
    """An article of 64 MiB, a small file, read by a process that may have 16 MiB more."""
    small, large = tmp_path / "small.parquet", tmp_path / "large.parquet"
    for path, text in ((small, "a"), (large, "a" * 2**26)):
        if kind == "table":
            write_articles([Article(1, "A", 0, text)], path, {"source": "text"})
        else:
            parquet.write_table(pa.table({"text": [text]}), path, compression="zstd")
    command = [sys.executable, "-c", READ_WITH_LITTLE, kind, small, large]
    job = subprocess.run(command, env={"PYTHONPATH": str(SCRIPTS)}, capture_output=True, text=True, check=False)
    assert job.returncode == 1
    assert job.stderr.startswith(f"MemoryError: {large}: not enough memory to read it; give the job more")
    assert len(job.stderr.splitlines()) == 1


class Full(ElementTree.ParseError):
    """What expat makes of a full memory: its error number 1."""

    code = 1


@pytest.mark.parametrize("error", [MemoryError(), Full("out of memory: line 1, column 0")])
def test_a_dump_too_large_for_the_memory_is_not_called_damaged(tmp_path, monkeypatch, error):
    def feed(*_):
        raise error

    path = tmp_path / "dump.xml"
    path.write_text("<mediawiki/>")
    monkeypatch.setattr(dump._Pages, "end", feed)
    with pytest.raises(MemoryError, match=r"dump\.xml: not enough memory"):
        list(read_dump(path, 10**6))


def test_an_error_of_the_reader_is_not_the_tables(tmp_path):
    write_articles([Article(1, "A", 0, "text")], tmp_path / "a.parquet", {"source": "text"})

    def consume():
        for _ in read_articles(tmp_path / "a.parquet"):
            raise ValueError("mine")

    with pytest.raises(ValueError, match="^mine$"):
        consume()
