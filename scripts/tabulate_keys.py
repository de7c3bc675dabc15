"""Keys that each head needs, and how it spreads its weights: for a spreadsheet."""

from attnlimit.base.job import begin
from attnlimit.base.store import read
from attnlimit.questions.keys.budgets import keys_table
from attnlimit.stats.table import write_csv

begin(snakemake)

rates = read(snakemake.input.rates)
write_csv(keys_table(rates, rates.attrs["context"]), snakemake.output.table)
