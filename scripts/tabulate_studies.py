"""The comparison as a table with one row a head and study."""

from attnlimit.base.job import begin
from attnlimit.base.store import read
from attnlimit.questions.studies.report import heads_table
from attnlimit.stats.table import write_csv

begin(snakemake)

write_csv(heads_table(read(snakemake.input.rates)), snakemake.output.table)
