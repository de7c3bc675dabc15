"""Rates after every layer, gains from layer to layer, and whether errors of different layers add in quadrature."""

from attnlimit.base.job import begin
from attnlimit.base.seeds import generator
from attnlimit.base.store import inherited, read, write
from attnlimit.questions.propagation.about import STORES
from attnlimit.questions.propagation.fit import fit_propagation
from attnlimit.stats.power_law import Bootstrap

p = begin(snakemake)
options = p.settings

errors = read(snakemake.input.errors)
bootstrap = Bootstrap(options["bootstrap"], True, generator(p.seed, "fit_propagation"))
fits = fit_propagation(errors, bootstrap, options["misfit"], options["saturated"])
facts = inherited(errors) | {"replicates": errors.sizes["replicate"]}
write(fits, snakemake.output.rates, STORES["rates/propagation"], **facts, code=p.code)
