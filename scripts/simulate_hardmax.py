"""The mean of hardmax attention, drawn many times in one and more dimensions."""

from attnlimit.base.job import begin
from attnlimit.base.store import write
from attnlimit.questions.hardmax.about import STORES
from attnlimit.questions.hardmax.measure import simulate

p = begin(snakemake)
options = p.settings

errors = simulate(options, p.seed)
write(errors, snakemake.output.hardmax, STORES["synthetic/hardmax"], sigma=options["sigma"], seed=p.seed, code=p.code)
