"""Rates of attention on neighbouring tokens, and how many independent tokens they are worth."""

from functools import partial

from attnlimit.base.job import begin
from attnlimit.base.seeds import generator
from attnlimit.base.store import inherited, read, write
from attnlimit.questions.contexts.about import STORES
from attnlimit.questions.contexts.fit import fit_contexts

p = begin(snakemake)
options = p.settings

errors = read(snakemake.input.errors)


def stream(layer, run, number):
    return generator(p.seed, f"fit_contexts {run}", layer, number + 1)


marks = options["misfit"], options["saturated"], options["saturated_slope"]
fits = fit_contexts(errors, options["bootstrap"], lambda layer: partial(stream, layer), *marks)
facts = inherited(errors) | {"source": "contexts", "replicates": errors.sizes["replicate"]}
write(fits, snakemake.output.rates, STORES["rates/contexts"], **facts, code=p.code)
