"""Largest distance between attention on n tokens and its limit over balls, on a line and in a plane."""

from attnlimit.base.job import begin
from attnlimit.base.store import write
from attnlimit.questions.uniform.about import STORES
from attnlimit.questions.uniform.measure import balls_of, simulate

p = begin(snakemake)
options = p.settings

how = (options[key] for key in ("sizes", "largest_in_plane", "replicates", "limit_draws"))
suprema = simulate(balls_of(options), *how, p.seed)
facts = {"seed": p.seed} | {key: options[key] for key in ("step", "compact_step", "angles")}
write(suprema, snakemake.output.suprema, STORES["synthetic/uniform"], **facts, code=p.code)
