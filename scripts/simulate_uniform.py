"""Largest distance between attention on n tokens and its limit over balls, on a line and in a plane."""

from attnlimit.experiments.uniform import balls_of, simulate
from attnlimit.log import open_log
from attnlimit.store import write

open_log(snakemake.log[0])
p, options = snakemake.params, snakemake.params.settings

how = (options[key] for key in ("sizes", "largest_in_plane", "replicates", "limit_draws"))
suprema = simulate(balls_of(options), *how, p.seed)
facts = {"seed": p.seed} | {key: options[key] for key in ("step", "compact_step", "angles")}
write(suprema, snakemake.output.suprema, **facts, code=p.code)
