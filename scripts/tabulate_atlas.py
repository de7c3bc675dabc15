"""The atlas as a table with one row a head, over all models."""

from attnlimit.base.job import begin
from attnlimit.base.store import read
from attnlimit.questions.atlas.report import atlas_table
from attnlimit.stats.table import write_csv

begin(snakemake)

write_csv(atlas_table(read(snakemake.input.rates)), snakemake.output.table)
