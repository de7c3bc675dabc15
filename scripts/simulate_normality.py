"""Attention on n Gaussian tokens at one query, many times."""

from attnlimit.experiments.normality import COORDINATES, simulate
from attnlimit.log import open_log
from attnlimit.store import write

open_log(snakemake.log[0])
p, options = snakemake.params, snakemake.params.settings

raw = simulate(options["sizes"], options["tilts"], options["replicates"], p.seed)
names = [f"|t| = {tilt:g}" for tilt in options["tilts"]]
write(raw, snakemake.output.normality, settings=names, coordinates=list(COORDINATES), seed=p.seed, code=p.code)
