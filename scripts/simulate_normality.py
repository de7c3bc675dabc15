"""Attention on n Gaussian tokens at one query, many times."""

from attnlimit.base.log import open_log
from attnlimit.base.store import write
from attnlimit.questions.normality.measure import simulate

open_log(snakemake.log[0])
p, options = snakemake.params, snakemake.params.settings

raw = simulate(options["sizes"], options["tilts"], options["replicates"], p.seed)
write(raw, snakemake.output.normality, seed=p.seed, code=p.code)
