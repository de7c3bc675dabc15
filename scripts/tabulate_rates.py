"""All fits in one table for people, one row each."""

import pandas as pd

from attnlimit.log import open_log
from attnlimit.rates.table import rates_table, write_csv
from attnlimit.store import read

open_log(snakemake.log[0])

write_csv(pd.concat([rates_table(read(path)) for path in snakemake.input.rates]), snakemake.output.table)
