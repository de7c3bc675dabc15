"""How many keys are enough for each pattern of sparse attention: for a spreadsheet."""

from attnlimit.base.job import begin
from attnlimit.base.store import read
from attnlimit.questions.patterns.table import budgets_table
from attnlimit.stats.table import write_csv

begin(snakemake)

write_csv(budgets_table(read(snakemake.input.rates)), snakemake.output.table)
