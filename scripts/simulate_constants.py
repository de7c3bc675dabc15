"""Errors of attention on tokens uniform on an interval and on a sphere, to check their exact constants."""

from attnlimit.base.job import begin
from attnlimit.base.store import write
from attnlimit.questions.sphere.about import STORES
from attnlimit.questions.sphere.measure import simulate_constants

p = begin(snakemake)
options = p.settings

errors = simulate_constants(options, p.seed)
write(errors, snakemake.output.errors, STORES["synthetic/constants"], n=options["size"], seed=p.seed, code=p.code)
