"""Attention on n Gaussian tokens at one query, many times, from counts in bins."""

from attnlimit.base.job import begin
from attnlimit.base.store import write
from attnlimit.questions.normality.about import STORES
from attnlimit.questions.normality.measure import simulate

p = begin(snakemake)
options = p.settings

raw = simulate(options["sizes"], options["tilts"], options["replicates"], options["bin_width"], p.seed)
write(raw, snakemake.output.normality, STORES["synthetic/normality"], seed=p.seed, code=p.code)
