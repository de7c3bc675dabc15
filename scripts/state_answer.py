"""What the run found, in a few lines for the terminal and the report."""

from pathlib import Path

from attnlimit.files import atomic
from attnlimit.log import open_log
from attnlimit.rates.answer import answer
from attnlimit.report.html import page, paragraph
from attnlimit.store import read

open_log(snakemake.log[0])

lines = answer(read(snakemake.input.rates))
texts = {"answer": "\n".join(lines) + "\n", "page": page("What this run found", map(paragraph, lines))}
for name, text in texts.items():
    with atomic(snakemake.output[name]) as temporary:
        Path(temporary).write_text(text)
