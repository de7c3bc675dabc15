"""All fits in one table for people, one row each."""

from attnlimit.base.job import begin
from attnlimit.base.store import read
from attnlimit.stats.table import joined, write_csv

p = begin(snakemake)

write_csv(joined((read(path) for path in snakemake.input.rates), p.run), snakemake.output.table)
