"""Rates of the uniform error in n, and the growth of its constant with the radius."""

from attnlimit.growth import fit_uniform
from attnlimit.journal import open_log
from attnlimit.rates import Bootstrap
from attnlimit.sampling import generator
from attnlimit.store import read, write

open_log(snakemake.log[0])
p = snakemake.params

suprema = read(snakemake.input.suprema)
over_n = Bootstrap(p.bootstrap, False, generator(p.seed, "fit_uniform", 0))
over_radius = Bootstrap(p.bootstrap, True, generator(p.seed, "fit_uniform", 1))
fits = fit_uniform(suprema, (over_n, over_radius), p.misfit, p.slope_tolerance, p.carriers)
facts = {name: value for name, value in suprema.attrs.items() if name not in ("code", "versions")}
write(fits, snakemake.output.rates, **facts, replicates=suprema.sizes["replicate"], code=p.code)
