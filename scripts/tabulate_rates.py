"""All fits in one table for people, one row each; the main columns of those of the error as a page."""

from pathlib import Path

from attnlimit.base.files import atomic
from attnlimit.base.job import begin
from attnlimit.base.store import read
from attnlimit.page.html import page, paragraph, table
from attnlimit.stats.table import SHOWN, joined, shown, write_csv

WHAT = "Fits of the error itself; those of its parts, and all other columns, are in rates.csv."

p = begin(snakemake)

fits = joined((read(path) for path in snakemake.input.rates), p.run)
write_csv(fits, snakemake.output.table)
parts = [paragraph(WHAT), *([paragraph(p.left_out)] if p.left_out else []), table(SHOWN, shown(fits))]
with atomic(snakemake.output.page) as temporary:
    Path(temporary).write_text(page("The rates", parts, p.quick_look))
