"""Rates of the uniform error in n, and the growth of its constant with the radius."""

from attnlimit.base.job import begin
from attnlimit.base.seeds import generator
from attnlimit.base.store import inherited, read, write
from attnlimit.questions.uniform.about import STORES
from attnlimit.questions.uniform.fit import fit_uniform
from attnlimit.stats.power_law import Bootstrap

p = begin(snakemake)
options = p.settings

suprema = read(snakemake.input.suprema)
streams = [generator(p.seed, "fit_uniform", number) for number in range(3)]
joint = (False, True, True)  # sizes have samples of their own, radii share theirs
bootstraps = [Bootstrap(options["bootstrap"], *pair) for pair in zip(joint, streams, strict=True)]
fits = fit_uniform(suprema, bootstraps, options["misfit"], options["slope_tolerance"], options["carriers"])
facts = inherited(suprema) | {"replicates": suprema.sizes["replicate"]}
write(fits, snakemake.output.rates, STORES["rates/uniform"], **facts, code=p.code)
