"""Largest distance between attention on n Gaussian tokens and its limit over balls, on a line and in a plane."""

from attnlimit.experiments.uniform import Grid, simulate
from attnlimit.log import open_log
from attnlimit.store import write

open_log(snakemake.log[0])
p, options = snakemake.params, snakemake.params.settings

grid = Grid(options["step"], options["angles"])
how = (options[key] for key in ("sizes", "largest_in_plane", "radii", "replicates", "limit_draws"))
suprema = simulate(*how, grid, p.seed)
facts = {"seed": p.seed, "step": grid.step, "angles": grid.angles}
write(suprema, snakemake.output.suprema, **facts, code=p.code)
