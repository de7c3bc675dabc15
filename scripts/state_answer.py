"""What the run found, in a few lines for the terminal and the report."""

from pathlib import Path

from attnlimit.answer import answer
from attnlimit.files import atomic
from attnlimit.journal import open_log
from attnlimit.store import read

open_log(snakemake.log[0])

lines = answer(read(snakemake.input.rates))
with atomic(snakemake.output.answer) as temporary:
    Path(temporary).write_text("\n".join(lines) + "\n")
