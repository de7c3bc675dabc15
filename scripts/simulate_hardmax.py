"""The mean of hardmax attention, drawn many times in one and more dimensions."""

from attnlimit.base.log import open_log
from attnlimit.base.store import write
from attnlimit.questions.hardmax.measure import simulate

open_log(snakemake.log[0])
p, options = snakemake.params, snakemake.params.settings

errors = simulate(options, p.seed)
write(errors, snakemake.output.hardmax, sigma=options["sigma"], seed=p.seed, code=p.code)
