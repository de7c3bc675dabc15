"""Rates after every layer, gains from layer to layer, and whether errors of different layers add in quadrature."""

from attnlimit.log import open_log
from attnlimit.rates.power_law import Bootstrap
from attnlimit.rates.propagation import fit_propagation
from attnlimit.seeds import generator
from attnlimit.store import inherited, read, write

open_log(snakemake.log[0])
p, options = snakemake.params, snakemake.params.settings

errors = read(snakemake.input.errors)
bootstrap = Bootstrap(options["bootstrap"], True, generator(p.seed, "fit_propagation"))
fits = fit_propagation(errors, bootstrap, options["misfit"])
facts = inherited(errors) | {"replicates": errors.sizes["replicate"]}
write(fits, snakemake.output.rates, **facts, code=p.code)
