"""The mean of hardmax attention, drawn many times in one and more dimensions."""

from attnlimit.experiments.hardmax import simulate
from attnlimit.log import open_log
from attnlimit.store import write

open_log(snakemake.log[0])
p, options = snakemake.params, snakemake.params.settings

errors = simulate(options, p.seed)
write(errors, snakemake.output.hardmax, sigma=options["sigma"], seed=p.seed, code=p.code)
